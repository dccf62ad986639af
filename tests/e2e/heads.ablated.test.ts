/** Ablates heads of the models of tasks on the page. */
import { withoutHeads } from "heed/models";
import { beforeAll, describe, expect, test } from "vitest";
import { Heads, Reference } from "./heads";
import { visits } from "./visits";

const first = "Alice helped Clara because she was kind.";
/** The position of the pronoun. */
const she = 4;
const ablated = [{ path: "encoder.layers.0.self_attn", head: 0 }];

/** The precision of comparisons, in decimals: displayed numbers have three. */
const decimals = 2.7;

const numbersIn = (text: string) => (text.match(/\d\.\d+/g) ?? []).map(Number);

describe("In chrome, the heads", () => {
  const { reenter } = visits(Heads, "chrome", { start: "#room=models&model=pronouns" });
  let reference: Reference;
  beforeAll(async () => {
    reference = await Reference.of("pronouns-encoder");
  });

  test("change the answer when one is ablated, and restore it", async () => {
    const room = await reenter();
    const alices = await reference.probability(first, she, "Alice");
    const claras = await reference.probability(first, she, "Clara", ablated);
    expect(await room.text(".answer-more")).toBe("Ablate layer 1, head 1 changes the answer.");
    await room.click("Ablate layer 1, head 1");
    await expect.poll(() => room.text(".saying")).toMatch(/^“she” means Alice .* → Clara /);
    const [former = 0, now = 0] = numbersIn(await room.text(".saying"));
    expect(former).toBeCloseTo(alices, decimals);
    expect(now).toBeCloseTo(claras, decimals);
    const more = await room.text(".answer-more");
    expect(more).toContain("with all heads → without layer 1, head 1.");
    const [alice, clara] = await room.candidates();
    expect([alice?.token, clara?.token]).toEqual(["Alice", "Clara"]);
    expect(alice?.model).toBeCloseTo(alices, decimals);
    expect(clara?.instead).toBeCloseTo(claras, decimals);
    for (const each of [alice, clara])
      expect(each?.change).toBeCloseTo((each?.instead ?? 0) - (each?.model ?? 0), 6);
    expect(await room.text(".all-answers thead")).toContain("without layer 1, head 1");
    await expect.poll(() => room.link()).toContain("ablate=encoder.1.1");
    await room.click("Restore all heads");
    await expect.poll(async () => (await room.candidates())[0]?.instead).toBeNull();
  });

  test("show what they attend to now, with zeros or means in place of an ablated head's output", async () => {
    const room = await reenter("&head=encoder.3.4");
    const rowOf = async () =>
      (await room.saved("[data-matrix=weights]", "CSV")).text
        .split("\r\n")
        [she + 1]?.split(",")
        .slice(1)
        .map(Number) as number[];
    const [whole = []] = [reference.weights(first)[2]?.[3]?.[she]];
    const rows: number[][] = [whole];
    await room.click("Ablate layer 1, head 1");
    for (const way of ["zero", "mean"]) {
      if (way === "mean") await room.page.select(".ablate select", way);
      const words = way === "zero" ? "head 1." : "head 1 (mean).";
      await expect.poll(() => room.text(".answer-more")).toContain(words);
      expect(await room.text(".ablation-help")).toContain(
        way === "zero" ? "is zero at every position" : "32 unseen examples of this task",
      );
      rows.push(await rowOf());
    }
    const wanted = await withoutHeads(reference.model, ablated, () => reference.weights(first));
    for (const [j, weight] of (rows[1] ?? []).entries())
      expect(weight).toBeCloseTo(wanted[2]?.[3]?.[she]?.[j] as number, decimals);
    for (const [i, other] of [
      [0, 1],
      [1, 2],
    ] as const)
      expect(rows[i]?.some((each, j) => Math.abs(each - (rows[other]?.[j] ?? 0)) > 0.01)).toBe(
        true,
      );
    await expect.poll(() => room.link()).toContain("ablate=encoder.1.1&ablation=mean");
  });

  test("show the same probability in the sentence and in the table if the answer stays", async () => {
    const room = await reenter("&ablate=encoder.1.3");
    const rest = [{ path: "encoder.layers.0.self_attn", head: 2 }];
    const alices = await reference.probability(first, she, "Alice", rest);
    expect(await room.text(".saying")).toMatch(/means Alice .* → Alice /);
    expect(numbersIn(await room.text(".saying"))[1]).toBeCloseTo(alices, decimals);
    expect((await room.candidates())[0]?.instead).toBeCloseTo(alices, decimals);
  });

  test("of a generating model show each token's probability, and the text with a head ablated", async () => {
    const room = await reenter("#room=models&model=dates&ablate=decoder.1.1");
    expect(await room.page.$$(".thumbnail")).toHaveLength(24);
    expect(await room.text(".saying")).toBe("The model writes 2075-12-14 → 2075-1-141");
    await room.page.click(`${room.head("cross.2.1")} button`);
    const { text } = await room.saved("[data-matrix=weights]", "CSV");
    const written = text
      .trim()
      .split("\r\n")
      .slice(1)
      .map((row) => row.replace('"', "").split(" ")[0]);
    expect(written).toEqual([..."2075-1-141", "end"]);
    // One row for each character, with the change of its probability, and the character in place of it.
    const rows = await room.answers();
    expect(rows.map(([head]) => head?.split(" ")[1])).toEqual([..."2075-12-14", "end"]);
    expect(rows[6]?.[0]).toBe("7 2 → -");
    expect(rows[6]?.slice(1)).toEqual([
      expect.stringMatching(/%$/),
      expect.any(String),
      expect.stringMatching(/^−\d/),
    ]);
    await room.click("Another example");
    await expect.poll(() => room.link()).toContain("example=4");
    await expect.poll(() => room.text(".saying")).not.toContain("2075-12-14");
  });
});
