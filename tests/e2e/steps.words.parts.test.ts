/** The descriptions of masks in "Step by step" must be true of the cells that they hide. */
import { describe, expect, test } from "vitest";
import { exampleKeyText } from "../../web/src/rooms/steps/example";
import { type Sharp, sharpnessWords } from "../../web/src/rooms/steps/Sharpness";
import { initialState, type MaskKind, type State } from "../../web/src/rooms/steps/settings";
import { stageWords } from "../../web/src/rooms/steps/stages";
import { hidesAny, isVisible, sentenceAttentionOf } from "../../web/src/rooms/steps/state";
import { momentWords, unfoldingOf } from "../../web/src/rooms/steps/unfolding";

const all = Array.from({ length: 5 }, (_, row) => [0, 1, 2, 3, 4].map((col) => `${row},${col}`));
const rowHidden = (...rows: number[]) => new Set(rows.flatMap((row) => all[row] as string[]));

/** The text without the marks of its words. */
const plainWords = (text: string) => text.replace(/\[([^\]]+)\]\(\w+\)/g, "$1");

function descriptionsOf(change: Partial<State>): Record<string, string> {
  const state = { ...initialState, ...change };
  const attention = sentenceAttentionOf(state);
  return Object.fromEntries(
    Object.entries(stageWords).map(([stage, explain]) => [
      stage,
      plainWords(explain(state, attention)),
    ]),
  );
}

describe("The descriptions of the stages", () => {
  test("tell for every mask whether it hides anything", () => {
    const kinds: readonly MaskKind[] = ["none", "causal", "padding", "window", "painted"];
    const changes: readonly Partial<State>[] = [
      ...[
        {},
        { text: "one", vectors: "random" as const },
        { padFrom: 5 },
        { padFrom: 0 },
        { window: 4 },
      ],
      ...[{ window: 3 }, { keyText: "a b c d e f g", window: 5 }, { keyText: "a b", window: 4 }],
      ...[{ hidden: rowHidden(0) }, { hidden: new Set(["7,7"]) }, { text: "" }],
    ];
    for (const mask of kinds)
      for (const change of changes) {
        const state = { ...initialState, ...change, mask };
        const attention = sentenceAttentionOf(state);
        const [rows, cols] = [attention.queries.tokens, attention.keys.tokens];
        const hides = rows.some((_, i) => cols.some((_, j) => !isVisible(state, attention, i, j)));
        expect(hidesAny(state, attention), JSON.stringify({ mask, ...change })).toBe(hides);
      }
  });

  test("say that every word attends to every word only if nothing is hidden", () => {
    const everything = "Each attends to all, itself too.";
    expect(descriptionsOf({}).tokens).toContain(everything);
    expect(descriptionsOf({ mask: "padding", padFrom: 5 }).tokens).toContain(everything);
    expect(descriptionsOf({ mask: "causal" }).tokens).toContain("itself and to those before it");
    for (const mask of ["padding", "window"] as const)
      expect(descriptionsOf({ mask }).tokens).toContain("to those that the mask lets it see");
    expect(descriptionsOf({ keyText: "a b c d e", mask: "padding" }).tokens).toContain(
      "those of the second, as far as the mask lets them.",
    );
    expect(descriptionsOf({}).joined).toContain("something of all words.");
    expect(descriptionsOf({ mask: "causal" }).joined).toContain(
      "something of every word that it may see.",
    );
  });

  test("describe the keys that the mask hides, or say that it hides none", () => {
    expect(descriptionsOf({}).masked).toContain("every query may see every key");
    expect(descriptionsOf({ mask: "padding", padFrom: 5 }).masked).toContain("No key is padding");
    expect(descriptionsOf({ mask: "window", window: 9 }).masked).toContain("reaches every key");
    expect(descriptionsOf({ mask: "window" }).masked).toContain("hides keys far");
  });

  test("have zeros, and no sum of 1, for queries without a visible key", () => {
    const one = descriptionsOf({ mask: "painted", hidden: rowHidden(1) });
    expect(one.weights).toMatch(/so its row is zeros\. Every other row adds up to 1\.$/);
    expect(one.output).toContain("so its row is zeros");
    expect(one.joined).toContain("so its row is zeros");
    const none = descriptionsOf({ mask: "painted", hidden: rowHidden(0, 1, 2, 3, 4) });
    expect(none.weights).toMatch(/the sum of the row\. No query .* every row is zeros\.$/);
    expect(none.weights).not.toContain("adds up to 1");
    expect(descriptionsOf({}).weights).toMatch(/sum of the row\. Each row adds up to 1\.$/);
  });

  test("begin with one short line, shown above the picture of a telephone", () => {
    const changes: readonly Partial<State>[] = [
      ...[{}, { vectors: "random" as const, heads: 3 }, { scaled: false }, { temperature: 2 }],
      ...[{ mask: "causal" as const }, { mask: "padding" as const }, { mask: "painted" as const }],
      { keyText: exampleKeyText, mask: "window" },
    ];
    for (const change of changes)
      for (const text of Object.values(descriptionsOf(change)))
        expect(text).toMatch(/^[^:.]{5,70}[:.]( |$)/);
  });

  test.each([
    [{}, "scaled", "Each score is divided by √d:"],
    [{ temperature: 2 }, "scaled", "Each score is divided by √d and the temperature:"],
    [{ scaled: false, temperature: 2 }, "scaled", "Each score is divided by the temperature, not"],
    [{ scaled: false }, "scaled", "Scores are not divided by √d:"],
    [{ mask: "painted", hidden: rowHidden(0) }, "masked", "The mask hides keys: drag"],
    [{ mask: "painted", hidden: new Set<string>() }, "masked", "No key is hidden: drag"],
  ] as const)("say at %o in this line what the stage %s does", (change, stage, line) => {
    expect(descriptionsOf(change)[stage]?.startsWith(line)).toBe(true);
  });
});

test("The word with the highest score is that of the sentence that is attended to", () => {
  expect(descriptionsOf({}).scores).toContain("“jumps” has the largest numbers");
  expect(descriptionsOf({ keyText: exampleKeyText }).scores).toContain("“sleeps” has the largest");
});

describe("The text below the largest weight", () => {
  const sharp: Sharp = { largest: 0.4, key: 1, entropy: 2, visible: 5 };
  const scaled = { scaled: true, headSize: 2 };

  test.each([
    ["grows", sharp, scaled, "Undivided, or at a lower temperature, the largest weight grows."],
    ["is not divided by √1", sharp, { ...scaled, headSize: 1 }, "At a lower temperature, the"],
    ["is not divided", sharp, { ...scaled, scaled: false }, "The division by √d is off"],
    ["is saturated", { ...sharp, largest: 0.99, entropy: 0.1 }, scaled, "is saturated"],
    [
      ...(["has one key to see", { ...sharp, largest: 1, entropy: 0, visible: 1 }] as const),
      ...([scaled, "only one key"] as const),
    ],
    [
      ...(["sees nothing", { ...sharp, largest: 0, key: -1, entropy: 0, visible: 0 }] as const),
      ...([scaled, "no weights"] as const),
    ],
    [
      "is even",
      { ...sharp, largest: 0.2, entropy: Math.log2(5) - 1e-6 },
      scaled,
      "at any temperature",
    ],
  ] as const)("are true where it %s", (_, sharp, how, words) => {
    expect(sharpnessWords(sharp, how)).toContain(words);
  });
});

test("The text names the row that is computed first, which is the selected query's", () => {
  const wordsAt = (stage: State["stage"], time: number, row: number) => {
    const state = { ...initialState, stage, time, row };
    const attention = sentenceAttentionOf(state);
    const unfolding = unfoldingOf(state, attention, null);
    return unfolding && momentWords(unfolding, attention);
  };
  expect(wordsAt("weights", 0, 3)).toBe("the sum of “fox”");
  expect(wordsAt("scores", 3, 3)).toBe("the row of “fox”");
  expect(wordsAt("scores", 0, 3)).toBe("the first number");
  expect(wordsAt("scores", 7, 3)).toBe("row by row");
});
