/** The room "Beyond words" in a browser. Its results are compared with the engine in Node. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Heed, load } from "heed";
import { loadModel, type Series, tasks } from "heed/models";
import { nn } from "heed/nn";
import { beforeAll, describe, expect, test } from "vitest";
import { psnrOf } from "../../web/src/rooms/beyond/picture/denoise";
import { initialState } from "../../web/src/rooms/beyond/state";
import { Beyond, denoised } from "./beyond";
import { visits } from "./visits";

const model = (name: string) =>
  fileURLToPath(new URL(`../../web/public/models/series-encoder/${name}`, import.meta.url));

const subjects = ["picture", "points", "series", "melody"] as const;

let heed: Heed;
beforeAll(async () => {
  heed = await load({ threads: 1 });
});

describe.each(["chrome", "firefox"] as const)("In %s, “Beyond words”", (name) => {
  const { enter, reenter, it } = visits(Beyond, name, { start: "#room=beyond" });

  test("opens on a picture with the correct signal-to-noise ratio of each mean, and denoises again after a change", async () => {
    const room = await enter();
    const { pixels, values } = denoised(heed);
    for (const [version, result] of Object.entries(values))
      expect(await room.psnr(version)).toBeCloseTo(psnrOf(result, pixels), 1);
    expect(await room.psnr("bilateral")).toBeGreaterThan(await room.psnr("noisy"));

    const before = await room.psnr("nonLocal");
    await room.slide("Noise", 0.2);
    await room.slide("Patch", 3);
    await expect.poll(() => room.psnr("nonLocal")).not.toBe(before);
    const again = denoised(heed, { ...initialState, noise: 0.2, patch: 3 }).values.nonLocal;
    await expect.poll(() => room.psnr("nonLocal")).toBeCloseTo(psnrOf(again, pixels), 1);
    await expect.poll(() => room.link()).toBe("#room=beyond&noise=0.2&patch=3");
  });

  test("shows how the mean of a clicked pixel is computed", async () => {
    const room = await reenter();
    const picture = "[data-picture=nonLocal] .grey-picture";
    const { x, y } = await room.middleOf(picture);
    await room.page.mouse.click(x, y);
    await expect.poll(() => room.link()).toMatch(/pixel=6[45]\.6[45]/);
    const [, row, col] = /pixel=(\d+)\.(\d+)/.exec(await room.link())?.map(Number) ?? [];
    const { values, width } = denoised(heed);
    const place = ((row as number) - 1) * width + (col as number) - 1;
    await expect
      .poll(() => room.figure("Σ weight × value"))
      .toBeCloseTo(values.nonLocal[place] as number, 2);
    expect(await room.figure("with noise")).toBeCloseTo(values.noisy[place] as number, 2);
    await room.click("local mean");
    await expect
      .poll(() => room.figure("Σ weight × value"))
      .toBeCloseTo(values.local[place] as number, 2);
    expect(await room.figure("as good as the mean of")).toBeCloseTo(25, 1);
  });

  test("shows the pixels of the window beside their weights, and marks the same cell in both", async () => {
    const room = await enter();
    const colourAt = (name: string, row: number, col: number) =>
      room.cell(name, row, col, 17, 17).then(({ x, y }) =>
        room.page.evaluate(
          (x, y) => {
            const canvas = document.elementFromPoint(x, y) as HTMLCanvasElement;
            const { left, top, width } = canvas.getBoundingClientRect();
            const scale = canvas.width / width;
            // A copy of one pixel, because the browser warns of repeated reads of the canvas itself.
            const copy = new OffscreenCanvas(1, 1).getContext("2d");
            copy?.drawImage(
              canvas,
              -Math.floor((x - left) * scale),
              -Math.floor((y - top) * scale),
            );
            return copy?.getImageData(0, 0, 1, 1).data[0];
          },
          x,
          y,
        ),
      );
    const { values, width } = denoised(heed);
    const { pixel, window } = initialState;
    for (const [down, right] of [
      [-8, -8],
      [0, 3],
      [5, -2],
    ] as const) {
      const value = values.noisy[(pixel.row + down) * width + pixel.col + right] as number;
      const grey = 255 * Math.max(0, Math.min(1, value));
      const shown = await colourAt("values", window + down, window + right);
      expect(Math.abs((shown ?? Number.NaN) - grey)).toBeLessThan(3);
    }
    const { x, y } = await room.cell("values", 8, 9, 17, 17);
    await room.page.mouse.move(x, y);
    await expect.poll(() => room.text(".window-map .reading")).toContain("0 down, 1 right: e^");
    const { text } = await room.saved("[data-matrix=window]", "CSV");
    expect(text).toMatch(/^"","-8","-7",.*,"-1","0","1",.*,"8"\r\n"-8",/);
  });

  it("names query, keys, values and score in one strip", async () => {
    for (const [subject, query, score] of [
      ["picture", "the patch around the selected pixel", "difference of two patches"],
      ["points", "a place on the axis", "½ (query − key)²"],
      ["series", "a vector of the hidden value", "query · key ÷ √D"],
      ["melody", "minus the mean frame", "the cosine of query and key"],
    ] as const) {
      const room = await reenter(`&show=${subject}`);
      const strip = await room.page.$$eval(".roles > div", (parts) =>
        parts.map((part) => [
          part.querySelector("dt")?.textContent,
          part.querySelector("dd")?.textContent,
        ]),
      );
      expect(
        strip.map(([name]) => name),
        subject,
      ).toEqual(["query", "keys", "values", "score"]);
      expect(strip[0]?.[1]).toContain(query);
      expect(strip[3]?.[1]).toContain(score);
    }
  });

  it("moves the pixel by keyboard, up to the corner", async () => {
    const room = await reenter("&pixel=2.1");
    await room.focus("[data-picture=noisy] [tabindex]");
    await room.page.keyboard.press("ArrowRight");
    await expect.poll(() => room.link()).toContain("pixel=2.2");
    for (const key of ["ArrowLeft", "ArrowLeft", "ArrowUp", "ArrowUp"] as const)
      await room.page.keyboard.press(key);
    await expect.poll(() => room.link()).toContain("pixel=1.1");
    await expect.poll(() => room.text(".window-map .legend")).toContain("hidden");
  });

  test("reads the person's own picture and leaves it out of the link", async () => {
    const room = await reenter();
    const before = await room.psnr("noisy");
    const upload = async (path: string) => {
      const input = await room.page.$("input[type=file]");
      await (input as unknown as { uploadFile(path: string): Promise<void> }).uploadFile(
        fileURLToPath(new URL(path, import.meta.url)),
      );
    };
    const message = () => room.text(".file-message");
    await upload("./vitest.config.ts");
    await expect
      .poll(message)
      .toBe(
        "“vitest.config.ts”: this browser cannot read it. Expected a picture, such as PNG, JPEG or WebP.",
      );
    expect(await room.psnr("noisy")).toBe(before);
    await upload("../../web/playground.png");
    const sizes = () =>
      room.page.$eval("[data-picture=noisy] canvas", ({ width, height }) => [width, height]);
    await expect.poll(async () => Math.max(...(await sizes()))).toBe(256);
    await expect.poll(() => room.psnr("noisy")).not.toBe(before);
    expect(await room.psnr("noisy")).toBeCloseTo(20, 0);
    expect(await room.link()).toBe("#room=beyond");
    expect(await message()).toMatch(/^“playground.png”: shown in grey, 256 × \d+ pixels\.$/);
    await room.click("Back to our drawing");
    expect(await message()).toContain("Stays in this page");
    await expect.poll(sizes).toEqual([128, 128]);
  });

  it("weights points by their distance from the query, and sums their values", async () => {
    const room = await reenter("&show=points");
    const { points, query, bandwidth } = initialState;
    const scores = points.map(({ x }) => Math.exp(-((x - query) ** 2) / (2 * bandwidth ** 2)));
    const total = scores.reduce((sum, score) => sum + score, 0);
    const weights = await room.column("weight");
    for (const [i, score] of scores.entries()) expect(weights[i]).toBeCloseTo(score / total, 2);
    const estimate = points.reduce((sum, { y }, i) => sum + ((scores[i] as number) / total) * y, 0);
    expect(await room.figure("estimate")).toBeCloseTo(estimate, 2);
    const mean = points.reduce((sum, { y }) => sum + y, 0) / points.length;
    expect(await room.figure("average")).toBeCloseTo(mean, 2);
    // The plot includes the peak of the kernel, which no bar exceeds: the curve is not clipped.
    const kernel = () =>
      room.page.$eval(".plot path.kernel", (path) =>
        [...(path.getAttribute("d") ?? "").matchAll(/[ML][\d.]+ ([-\d.]+)/g)].map(([, y]) =>
          Number(y),
        ),
      );
    const heights = await kernel();
    const top = Math.min(...heights);
    expect(heights.filter((y) => y < top + 0.05).length).toBeLessThan(4);
    expect(await room.drawnWords(".plot-word")).toMatch(
      /^weights up to 0\.42; kernel rises to 0\.\d+$/,
    );
    await room.slide("Bandwidth", 20);
    await expect.poll(() => room.figure("estimate")).toBeCloseTo(mean, 1);
    // Far from all points the kernel is higher than any weight, and leaves the plot instead of hiding the weights.
    const far = await reenter("&show=points&bandwidth=0.1&query=5.2");
    expect(await far.drawnWords(".plot-word")).toMatch(/^weights up to 1; kernel goes on to /);
  });

  test("moves points and the query with the pointer and the keyboard", async () => {
    const room = await reenter("&show=points");
    const before = await room.figure("estimate");
    await room.drag(".point:nth-of-type(5) .dot", 0, 80);
    await expect.poll(() => room.figure("estimate")).toBeLessThan(before - 0.1);
    await expect.poll(() => room.link()).toContain("points=");
    await room.focus("[aria-label='Query x']");
    await room.page.keyboard.press("ArrowRight");
    await expect.poll(() => room.figure("query x")).toBe(3);
    await room.drag(".query-handle path", 200, 0);
    await expect.poll(() => room.figure("query x")).toBeGreaterThan(4);
    await room.focus(".point");
    await room.page.keyboard.press("Delete");
    await expect.poll(async () => (await room.keys()).length).toBe(initialState.points.length - 1);
    await room.click("Add a point");
    await expect.poll(async () => (await room.keys()).length).toBe(initialState.points.length);
    await room.click("Draw softmax(X Xᵀ) X");
    await room.page.waitForSelector(".similar circle");
    expect(await room.text(".similar-words")).not.toContain("resemble");
  });

  it("keeps points and fields fixed under a lock, but moves the query and changes the demonstration", async () => {
    const room = await reenter("&show=points&lock=on");
    expect(
      await room.page.$$eval(".point[tabindex], .point[role=button]", (all) => all.length),
    ).toBe(0);
    await room.drag(".point:nth-of-type(5) .dot", 0, 80);
    await expect.poll(() => room.link()).toContain("query=");
    expect(await room.link()).not.toContain("points=");
    await room.drag(".query-handle path", 200, 0);
    await expect.poll(() => room.figure("query x")).toBeGreaterThan(4);
    // Another demonstration can be chosen, but its fields are locked, and look so.
    for (const demonstration of ["pixels", "values of a series", "frames of a melody"]) {
      await room.click(demonstration, ".subject");
      await room.page.waitForSelector(".settings input[type=file]");
      expect(await room.page.$$(".settings fieldset.lockable :enabled")).toEqual([]);
      const look = await room.page.$eval(".settings input[type=file]", (field) => {
        const button = getComputedStyle(field, "::file-selector-button");
        return { isLocked: field.matches(":disabled"), opacity: Number(button.opacity) };
      });
      expect(look).toEqual({ isLocked: true, opacity: 0.6 });
    }
  });

  it("explains a weight of a pixel, a point, a value and a frame", async () => {
    const pixel = await reenter();
    // The sign before a bracket stays on its line, also on the narrowest one.
    const lines = await pixel.page.$eval(".roles div:last-child dd", (score) => {
      (score as HTMLElement).style.width = "1px";
      const word = score.firstChild as Text;
      return [word.data.indexOf("−"), word.data.indexOf("(")].map((at) => {
        const range = document.createRange();
        range.setStart(word, at);
        range.setEnd(word, at + 1);
        return range.getBoundingClientRect().top;
      });
    });
    expect(lines[0]).toBe(lines[1]);
    const over = async (room: Beyond, name: string, side: number, row: number, col: number) => {
      const { x, y } = await room.cell(name, row, col, side, side);
      await room.page.mouse.move(x, y);
    };
    await over(pixel, "window", 17, 8, 9);
    await expect
      .poll(() => pixel.text(".window-map .reading"))
      .toMatch(/^0 down, 1 right: e\^.* ÷ .* = 0\.\d+; × value 0\.\d+ = 0\.\d+ of the mean$/);
    const melody = await reenter("&show=melody");
    await over(melody, "attention", 128, 4, 20);
    const words = () => melody.text(".maps .reading");
    await expect.poll(words).toContain("0.4 s attends to 2.0 s: e^(cosine ");
    const [, cosine = "", temperature = "", logSum = "", weight = ""] =
      /cosine ([\d.]+) ÷ ([\d.]+) − ([\d.]+)\) = ([\d.]+)/.exec(await words()) ?? [];
    const made = Math.exp(Number(cosine) / Number(temperature) - Number(logSum));
    expect(made / Number(weight)).toBeGreaterThan(0.9);
    expect(made / Number(weight)).toBeLessThan(1.1);
    const points = await reenter("&show=points");
    await points.page.hover(".point:nth-of-type(5) .dot");
    await expect
      .poll(() => points.text(".reading"))
      .toMatch(/^Point 5: e\^\(−\(2\.90 − 2\.60\)² ÷ \(2 · 0\.5²\)\) ÷ .* = .*; × y 1\.30 = /);
  });

  it("fills the gap of a series as the trained model does", async () => {
    const room = await reenter("&show=series&series=3");
    const trained = loadModel(heed, {
      config: readFileSync(model("config.json"), "utf8"),
      weights: readFileSync(model("model.safetensors")),
    });
    const example = tasks.series().generate(new nn.Generator(3), "test") as Series;
    const [answer] = await trained.answer([example]);
    if (answer?.kind !== "numbers") throw new Error("no numbers");
    const hidden = [...example.isHidden.keys()].filter((t) => example.isHidden[t]);
    const squares = hidden.map(
      (t) => ((answer.values[t] as number) - (example.values[t] as number)) ** 2,
    );
    const error = Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / hidden.length);
    expect(await room.figure("model’s error (root mean square)")).toBeCloseTo(error, 2);

    await room.focus("[aria-label='Hidden value that attends']");
    for (const _ of hidden) await room.page.keyboard.press("ArrowLeft");
    const [first = 0] = hidden;
    await expect
      .poll(() => room.figure(`filled at ${first + 1}`))
      .toBeCloseTo(answer.values[first] as number, 2);

    await room.page.select("#series-head", "2.1");
    const [attentions = []] = trained.weights([example]);
    const { columns, weights } = attentions[1] as { columns: number; weights: Float32Array };
    const row = weights.subarray(first * columns, (first + 1) * columns);
    await expect
      .poll(async () => (await room.column("weight"))[0])
      .toBeCloseTo(Math.max(...row), 2);
    expect((await room.keys())[0]).toBe(row.indexOf(Math.max(...row)) + 1);
    trained.dispose();

    await room.click("Another series");
    await expect.poll(() => room.link()).toContain("series=4");
  });

  it("fills the gap of the person's own series, pasted or from a file", async () => {
    const room = await reenter("&show=series");
    // A wave of ten values around 100, of which six are missing.
    const wave = Array.from({ length: 48 }, (_, t) => 100 + 8 * Math.sin((2 * Math.PI * t) / 10));
    const pasted = wave.map((value, t) => (t >= 20 && t < 26 ? "?" : value.toFixed(2)));
    const words = () => room.text(".settings");
    await room.paste(".own-series", "1 2 3");
    await expect.poll(words).toContain("12 to 48 numbers are needed, and there are 3.");
    await room.paste(".own-series", pasted.join(" "));
    await expect.poll(words).toContain("Shown: 48 values. 21 to 26 are missing.");
    await expect.poll(() => room.text(".plot-legend")).toContain("10 values, estimated");
    // The middle of the gap is selected first. The model was trained on waves, so its error is smaller than the
    // straight line's.
    await expect.poll(() => room.figure("filled at 24")).toBeGreaterThan(85);
    expect(await room.figure("filled at 24")).toBeLessThan(115);
    expect((await room.figures())["hidden value"]).toBe("not known");
    expect(await room.page.$(".plot .truth")).toBeNull();
    expect(await room.link()).toBe("#room=beyond&show=series");

    await room.page.evaluate(
      (lines) => {
        const files = new DataTransfer();
        files.items.add(new File([lines], "waves.csv", { type: "text/csv" }));
        const input = document.querySelector("input[type=file]") as HTMLInputElement;
        input.files = files.files;
        input.dispatchEvent(new Event("change", { bubbles: true }));
      },
      ["day,height", ...wave.map((value, t) => `${t + 1},${value}`)].join("\n"),
    );
    await expect
      .poll(() => room.text(".file-message"))
      .toBe(
        "“waves.csv”: Shown: 48 values, from the last of 2 columns. None is missing, so 21 to 28 are hidden.",
      );
    await expect.poll(() => room.figure("hidden value")).toBeCloseTo(wave[24] as number, 2);
    const [error, line] = [
      await room.figure("model’s error (root mean square)"),
      await room.figure("line’s error"),
    ];
    expect(error).toBeLessThan(line);
    await room.click("Back to our series");
    await expect.poll(() => room.text(".plot-legend")).not.toContain("estimated");
    expect(await room.text(".file-message")).toBe("Its last column is read.");

    // The message about the person's series disappears together with the series.
    await room.paste(".own-series", pasted.join(" "));
    await expect.poll(words).toContain("Shown: 48 values.");
    await room.click("Another series");
    await expect.poll(words).not.toContain("Shown:");
    const typed = () =>
      room.page.$eval(".own-series", (field) => (field as HTMLTextAreaElement).value);
    expect(await typed()).toBe("");
    await expect.poll(() => room.text(".plot-legend")).not.toContain("estimated");
  });

  it("shows no hidden value before it is computed", async () => {
    const room = await enter("&show=points");
    await room.page.evaluate(() => {
      const look = () => {
        if (document.querySelector(".figures")?.textContent?.includes("not known"))
          document.body.dataset.told = "not known";
      };
      new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
    });
    await room.click("values of a series");
    await expect.poll(() => room.figure("hidden value")).not.toBeNaN();
    expect(await room.page.$eval("body", ({ dataset }) => dataset.told)).toBeUndefined();
  });

  test("finds the repeats of a melody, and plays it", async () => {
    const room = await reenter("&show=melody&frame=20");
    // The round repeats every bar, and a bar is 1.6 seconds long, which is 16 frames.
    await expect.poll(async () => (await room.keys()).length).toBe(10);
    const keys = await room.keys();
    const weights = await room.column("weight");
    expect(keys).toContain(20);
    expect(keys).toContain(4);
    expect(weights[keys.indexOf(4)]).toBeCloseTo(weights[keys.indexOf(20)] as number, 2);

    const frame = async () =>
      Number(/Frame (\d+) of 128/.exec(await room.text(".transport"))?.[1] ?? 0);
    const { x, y } = await room.cell("attention", 63, 5, 128, 128);
    await room.page.mouse.click(x, y);
    await expect.poll(frame).toBe(64);
    await room.click("Next →");
    await expect.poll(frame).toBe(65);
    await room.click("Play");
    await expect.poll(frame).toBeGreaterThan(68);
    await room.click("Pause");
    const stopped = await frame();
    await expect.poll(() => room.link()).toContain(`frame=${stopped}`);
    expect(await frame()).toBe(stopped);
  });

  test("reads the person's own sound", async () => {
    const room = await reenter("&show=melody");
    await room.page.evaluate(() => {
      // Three seconds of one tone, twice, as a WAVE file.
      const [rate, length] = [8000, 24_000];
      const bytes = new DataView(new ArrayBuffer(44 + 2 * length));
      const word = (at: number, text: string) => {
        for (let i = 0; i < text.length; ++i) bytes.setUint8(at + i, text.charCodeAt(i));
      };
      word(0, "RIFF");
      bytes.setUint32(4, 36 + 2 * length, true);
      word(8, "WAVEfmt ");
      bytes.setUint32(16, 16, true);
      bytes.setUint16(20, 1, true);
      bytes.setUint16(22, 1, true);
      bytes.setUint32(24, rate, true);
      bytes.setUint32(28, 2 * rate, true);
      bytes.setUint16(32, 2, true);
      bytes.setUint16(34, 16, true);
      word(36, "data");
      bytes.setUint32(40, 2 * length, true);
      for (let i = 0; i < length; ++i)
        bytes.setInt16(44 + 2 * i, 9000 * Math.sin((2 * Math.PI * 440 * i) / rate), true);
      const files = new DataTransfer();
      files.items.add(new File([bytes], "tone.wav", { type: "audio/wav" }));
      const input = document.querySelector("input[type=file]") as HTMLInputElement;
      input.files = files.files;
      input.dispatchEvent(new Event("change", { bubbles: true }));
    });
    await expect.poll(() => room.text(".transport")).toContain("of 30");
    await room.click("Back to our melodies");
    await expect.poll(() => room.text(".transport")).toContain("of 128");
  });

  test.each(subjects)("is accessible and fits a narrow window: %s", async (subject) => {
    const room = await reenter(`&show=${subject}`, { width: 360 });
    expect(await room.sidewaysOverflow()).toBeLessThanOrEqual(0);
    const cut = await room.page.$$eval(".plot-word", (words) =>
      words
        .filter((word) => {
          const { right = 0 } = word.closest("svg")?.getBoundingClientRect() ?? {};
          return word.getBoundingClientRect().right > right;
        })
        .map(({ textContent }) => textContent),
    );
    expect(cut).toEqual([]);
    expect(await room.saveButtonsOutside()).toEqual([]);
    expect(await room.violations("minor")).toEqual([]);
  });
});
