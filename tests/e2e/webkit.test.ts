/**
 * Safari's engine: the rooms compute correct numbers and react to a person's input, and so do the elements of
 * heed/view. As in Safari, an isolated page has threads. WebKitGTK has no SharedArrayBuffer at all by default. All
 * rooms are tested with shared memory and isolation, and without both. In the two mixed cases only the rooms that start
 * their own threads are tested.
 */
import { type Heed, load } from "heed";
import type { HeedHeads, HeedMatrix } from "heed/view";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { psnrOf } from "../../web/src/rooms/beyond/picture/denoise";
import { initialState as firstPicture } from "../../web/src/rooms/beyond/state";
import { initialState as firstLesson, setupsOf } from "../../web/src/rooms/learn/state";
import { Training } from "../../web/src/rooms/learn/training";
import { Beyond, denoised } from "./beyond";
import { ElementsPage, elements, type Tag } from "./elementsPage";
import { Heads, Reference } from "./heads";
import { exampleOf, greedyAfter, likeliestAfter, Recurrent, shown } from "./recurrent";
import { Room } from "./room";
import { Speed } from "./speed";
import { Steps } from "./steps";
import { visits } from "./visits";
import { LanguageReference, Write } from "./write";

let heed: Heed;
let reference: Reference;
let language: LanguageReference;
beforeAll(async () => {
  heed = await load({ threads: 1 });
  reference = new Reference(heed, "pronouns-encoder");
  language = new LanguageReference(heed);
});

type As<R extends Room> = new (page: Room["page"]) => R;

/** The test of each room: a number that must equal the engine's in Node, and an input by the person. */
const tries: Record<string, (room: Room) => Promise<void>> = {
  async steps(page) {
    const room = seenAs(Steps, page);
    expect((await room.table()).weight).toEqual([0.098, 0.133, 0.182, 0.248, 0.339]);
    await room.type("#text", "a man is a man");
    const { value, total } = await room.untilTable({
      keys: ["start", "a", "man", "is", "a", "man"],
      total: 1,
    });
    expect(value[2]).toEqual(value[5]);
    expect(value[2]).not.toEqual(value[3]);
    expect(total).toBe(1);
  },

  async heads(page) {
    const room = seenAs(Heads, page);
    const answer = async () => (await room.candidates())[0]?.token;
    const probability = async () => (await room.candidates())[0]?.model;
    const first = "Alice helped Clara because she was kind.";
    expect(await answer()).toBe("Alice");
    expect(await probability()).toBeCloseTo(await reference.probability(first, 4, "Alice"), 2.7);
    const own = "Alice wrote a note and gave it to Bob.";
    await room.type("#heads-text", own);
    await expect.poll(answer).toBe("note");
    expect(await probability()).toBeCloseTo(await reference.probability(own, 6, "note"), 2.7);
  },

  async models(page) {
    const room = seenAs(Write, page);
    // The field is as high as its text, which WebKit does not do without help.
    const heights = () =>
      room.page.$eval("#language-text", ({ scrollHeight, clientHeight }) => [
        clientHeight,
        scrollHeight - clientHeight,
      ]);
    const own = "鯨 The whale";
    await room.paste("#language-text", own);
    const [line = 0] = await heights();
    await room.paste("#language-text", `${own} and the ship. `.repeat(6));
    await expect.poll(async () => ((await heights())[0] ?? 0) > 1.5 * line).toBe(true);
    expect((await heights())[1]).toBeLessThanOrEqual(1);
    await room.paste("#language-text", own);
    const ids = language.ids(own);
    await expect.poll(async () => (await room.place()).count).toBe(ids.length + 40);
    const probabilities = language.next(ids);
    await room.page.focus(".written-text");
    // A manual step ends playing.
    await room.page.keyboard.press("ArrowRight");
    await expect.poll(() => room.text(".transport .play")).toBe("Play");
    // A last step of the playing may come after the button says “Play”, and the page may show a press late.
    const step = async () => {
      const { token } = await room.place();
      const key = token > ids.length ? "ArrowLeft" : "ArrowRight";
      if (token !== ids.length) await room.page.keyboard.press(key);
      return token;
    };
    await expect.poll(step, { interval: 200 }).toBe(ids.length);
    // The candidates follow in a later frame.
    const largestError = async () => {
      const candidates = await room.candidates();
      const errors = candidates.map(({ id, model }) => Math.abs(model - (probabilities[id] ?? 2)));
      return Math.max(...errors);
    };
    await expect.poll(largestError).toBeLessThan(5e-4);
    expect(await room.candidates()).toHaveLength(10);
  },

  async learn(page) {
    const stepIn = (element: Element) => Number((element as HTMLElement).dataset.step);
    const shownStep = async () =>
      Number(/step (\d+) of/.exec(await page.text(".transport-place"))?.[1]);
    await expect.poll(() => page.page.$eval("[data-step]", stepIn)).toBe(0);
    await expect.poll(shownStep).toBe(0);
    await page.click("One step");
    await expect.poll(shownStep).toBe(1);
    const [setup] = setupsOf({ ...firstLesson, seed: 3 });
    if (!setup) throw new Error("there is one training");
    const training = new Training(heed, setup);
    training.step();
    const { heldLoss } = await training.snapshot();
    const heldLossShown = () =>
      page.page.$$eval(".curve table", ([table]) =>
        Number(table?.querySelector("tbody tr:last-child td:last-child")?.textContent),
      );
    await expect.poll(async () => Math.abs((await heldLossShown()) - heldLoss)).toBeLessThan(0.011);
    await page.type(".learn-example input", "abca");
    await page.page.waitForSelector("[data-example=abca]");
  },

  async recurrent(page) {
    const room = seenAs(Recurrent, page);
    const text = "12/25/1999";
    await room.type("#date", text);
    for (const model of shown) {
      const said = likeliestAfter(model, text, greedyAfter(model, text, []));
      await expect.poll(() => room.written(model)).toBe(said.map(({ token }) => token).join(""));
      for (const [place, { sign, probability }] of (await room.answer(model)).entries()) {
        const right = exampleOf(text).target[place] ?? "end";
        expect(sign).toBe(said[place]?.token === right ? "✓" : "✗");
        expect(Math.abs(probability - (said[place]?.probability ?? 2))).toBeLessThan(0.006);
      }
    }
  },

  async beyond(page) {
    const room = seenAs(Beyond, page);
    const isTrue = async (state: typeof firstPicture) => {
      const { pixels, values } = denoised(heed, state);
      await expect
        .poll(() => room.psnr("nonLocal"))
        .toBeCloseTo(psnrOf(values.nonLocal, pixels), 1);
    };
    await isTrue(firstPicture);
    await room.slide("Noise", 0.2);
    await isTrue({ ...firstPicture, noise: 0.2 });
  },

  async speed(page) {
    const room = seenAs(Speed, page);
    await room.rested(50_000);
    const check = async (operations: number) => {
      const lines = await room.lines();
      expect(lines[0]?.operations).toBe(operations);
      expect(lines.length).toBeGreaterThan(4);
      for (const { contender, cells } of lines)
        if (contender !== "javascript" && !cells.reason)
          expect(Number(cells.difference)).toBeLessThan(1e-4);
    };
    // 2 heads of 16 numbers, 64 tokens: one product with every key and one with every value.
    await check(2 * 2 * 2 * 16 * 64 * 64);
    await room.click("Causal mask");
    await expect
      .poll(async () => (await room.lines())[0]?.operations)
      .toBe(2 * 2 * 2 * 16 * ((64 * 65) / 2));
    await room.rested(50_000);
    await check(2 * 2 * 2 * 16 * ((64 * 65) / 2));
  },
};

const starts: Readonly<Record<string, string>> = {
  steps: "",
  heads: "#room=models&model=pronouns",
  learn: "#room=learn&seed=3&train=off",
  speed: "#room=speed&heads=2&size=16",
};

/** The same page as a room of another class. */
function seenAs<R extends Room>(Kind: As<R>, { page }: Room): R {
  return new Kind(page);
}

describe.each([
  { sharedMemory: true, isolated: true, rooms: Object.keys(tries) },
  { sharedMemory: true, isolated: false, rooms: ["learn"] },
  { sharedMemory: false, isolated: true, rooms: ["steps", "speed"] },
  { sharedMemory: false, isolated: false, rooms: Object.keys(tries) },
])(
  "In WebKit, with shared memory: $sharedMemory, isolated: $isolated",
  ({ sharedMemory, isolated, rooms }) => {
    const { open } = visits(Room, "webkit", { sharedMemory });

    test.each(rooms)(
      "the view “%s” computes correct numbers and accepts an input",
      async (name) => {
        const room = await open(starts[name] ?? `#room=${name}`, { isolated });
        await room.page.waitForSelector(name === "speed" ? "main table" : "[data-footnote]");
        await expect.poll(() => room.text("footer")).toContain("simd WebAssembly");
        expect(await room.page.evaluate(() => crossOriginIsolated)).toBe(isolated);
        const cores = await room.page.evaluate(() => navigator.hardwareConcurrency);
        const several = sharedMemory && isolated && cores > 1;
        if (several) expect(await room.text("footer")).toMatch(/WebAssembly, [2-9]\d* threads/);
        if (!sharedMemory)
          expect(await room.text("footer")).toContain(
            isolated
              ? "1 thread, because this browser has no SharedArrayBuffer"
              : "1 thread, because the page is not cross-origin isolated",
          );
        await tries[name]?.(room);
      },
      120_000,
    );
  },
);

describe("In WebKit, the element of heed/view", () => {
  let room: ElementsPage;
  beforeAll(async () => {
    room = await ElementsPage.open("webkit");
  });
  afterAll(async () => {
    const { complaints } = room;
    await room.close();
    expect(complaints).toEqual([]);
  });

  /** The focused element, the keys, and the expected announcement of the element. */
  const keys: Readonly<Record<Tag, readonly [focus: string, keys: string[], says: RegExp]>> = {
    "heed-matrix": ["canvas", ["ArrowDown"], /^query 2 “cat”, key 1 “the”: weight 0\.750/],
    "heed-lines": [".token-lines", ["ArrowDown"], /^query 1 “the” attends most to “the” 1/],
    "heed-tokens": ["[part=keys]", ["Home"], /^query 1 “the” attends most to “the” 1/],
    "heed-heads": [".thumbnail button", ["ArrowRight", "Enter"], /^Layer 1, head 2$/],
    "heed-steps": [".transport button:enabled", ["End"], /^Output, complete\./],
  };

  test.each(Object.keys(elements) as Tag[])(
    "<%s> draws, reacts to pointer and keyboard, and saves files",
    async (tag) => {
      const { properties, told, toldAgain } = elements[tag];
      await room.show(tag, properties);
      const { x, y } = await room.target(tag);
      for (const expected of [told, toldAgain]) {
        await room.page.mouse.click(x, y);
        await expect.poll(() => room.events()).toContainEqual(expected);
      }
      const [focus, pressed, says] = keys[tag];
      await room.show(tag, properties);
      await room.page.evaluate((selector) => {
        const root = document.body.firstElementChild?.shadowRoot;
        root?.querySelector<HTMLElement>(selector)?.focus();
      }, focus);
      for (const key of pressed) await room.page.keyboard.press(key as "End");
      const said = () =>
        room.page.evaluate(() => {
          const root = document.body.firstElementChild?.shadowRoot;
          return (root?.querySelector("h3") ?? root?.querySelector("[aria-live]"))?.textContent;
        });
      await expect.poll(said).toMatch(says);
      const made = await room.page.evaluate(async () => {
        const element = document.body.firstElementChild as HeedMatrix;
        const svg = new DOMParser().parseFromString(element.svg(), "image/svg+xml");
        const { type, size } = await element.png();
        return {
          broken: svg.querySelector("parsererror") !== null,
          words: [...svg.querySelectorAll("text")].map(({ textContent }) => textContent),
          type,
          isEmpty: size < 1000,
          npy: element.npy().length,
        };
      });
      expect(made).toMatchObject({ broken: false, type: "image/png", isEmpty: false });
      expect(made.npy).toBe(128 + 4 * 9);
      expect(made.words).toEqual(expect.arrayContaining(["the", "cat", "sat"]));
    },
  );

  test("the picture of all heads contains each of them", async () => {
    await room.show("heed-heads", elements["heed-heads"].properties);
    const colours = await room.page.evaluate(async () => {
      const element = document.body.firstElementChild as HeedHeads;
      const svg = new DOMParser().parseFromString(await element.svgOfAll(), "image/svg+xml");
      const places = [...svg.querySelectorAll("image")].map((image) =>
        ["x", "y"].map((name) => 2 * Number(image.getAttribute(name)) + 8),
      );
      const picture = await createImageBitmap(await element.pngOfAll());
      const context = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
      context?.drawImage(picture, 0, 0);
      return places.map(([x = 0, y = 0]) => [...(context?.getImageData(x, y, 1, 1).data ?? [])]);
    });
    // The first weight of each picture: 1, and a third.
    expect(colours[0]).toEqual([0, 34, 78, 255]);
    expect(colours).toHaveLength(2);
    for (const [red = 0] of colours) expect(red).toBeLessThan(200);
  });
});
