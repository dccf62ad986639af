/** Tests the pure functions of the view of task models. */
import { taskOf } from "heed/models";
import { describe, expect, test } from "vitest";
import { closerOf, placesOf } from "../../web/src/rooms/models/tasks/input";
import { measuresOf } from "../../web/src/rooms/models/tasks/measures";
import { initialState, read, write } from "../../web/src/rooms/models/tasks/state";
import { attentionAt, formulaOf, type Shares } from "../../web/src/shared/attended";
import { headKey, headPlaceOf } from "../../web/src/shared/layerHeads";
import { type Input, mostTokens, readInput } from "../../web/src/shared/typed";

const uneven = {
  weights: Float32Array.of(1, 0, 0, 0.5, 0.5, 0, 0, 0.25, 0.75),
  rows: 3,
  columns: 3,
};

describe("A head is measured", () => {
  test("by its entropy, its largest weights and their positions", () => {
    const places = [[], [0, 1], [2]];
    expect(measuresOf(uneven, { places, isSelf: true })).toEqual({
      places: (1 + 0.75) / 2,
      entropy: expect.closeTo((0 + 1 + 0.8113) / 3, 4),
      largest: (1 + 0.5 + 0.75) / 3,
      previous: (0.5 + 0.25) / 2,
      first: (0.5 + 0) / 2,
      diagonal: (1 + 0.5 + 0.75) / 3,
    });
  });

  test("only by measures that apply to it", () => {
    const { places, previous } = measuresOf(uneven, { places: null, isSelf: false });
    expect([places, previous]).toEqual([null, null]);
  });
});

describe("The link", () => {
  const roundTrip = (link: string) => write(read(new URLSearchParams(link)).state).toString();

  test.each([
    "model=pronouns",
    "model=dates&example=7&ablate=cross.1.2%2Cdecoder.2.4&ablation=mean&head=cross.2.1&compare=cross.1.1&row=3&cell=3.4",
    "model=pronouns&text=Bob+wrote+a+poem.&measure=entropy&order=measure&range=row&curve=log&mass=60",
    "model=pronouns&example=1",
    "model=sort&text=",
  ])("says what it has read: %s", (link) => {
    expect(roundTrip(link)).toBe(link);
  });

  test("is read in any order", () => {
    expect(roundTrip("row=3&text=cab&model=sort")).toBe("model=sort&text=cab&row=3");
  });

  test("leaves out invalid parameters and names them", () => {
    const { state, notices } = read(
      new URLSearchParams(`head=tail&example=0&model=cats&zoom=2&text=${"a".repeat(2000)}`),
    );
    expect(state).toEqual(initialState);
    expect(notices).toHaveLength(5);
  });
});

describe("A head's name", () => {
  test.each([
    ["encoder.layers.0.self_attn", "encoder.1.3"],
    ["decoder.layers.1.self_attn", "decoder.2.3"],
    ["decoder.layers.1.multihead_attn", "cross.2.3"],
  ])("stands for a head of %s", (path, key) => {
    const found = attentionAt(path);
    if (!found) throw new Error(path);
    expect(headKey({ ...found, head: 2 })).toBe(key);
    expect(headPlaceOf(key)).toEqual({ ...found, head: 2 });
  });
});

describe("The formula of a weight", () => {
  const between = { heads: 2, rows: ["a", "b"], columns: ["x", "y", "z"] };
  const scores = [0, 0, 0, 0, 0, 0, 1, 2, Number.NEGATIVE_INFINITY, 0, 0, 0];
  const weights = [...Array(6).fill(0), 0.2689, 0.7311, 0, 0, 0, 0];
  const shares: Shares = {
    scores: Float32Array.from(scores),
    weights: Float32Array.from(weights),
    queries: Float32Array.of(0, 0, 0, 0, 1, -2, 0, 0),
    keys: Float32Array.of(0, 0, 0, 0, 0, 0, 0, 0, 2, -0.4142, 0, 0),
  };

  test("has the two vectors, the scale, and all keys that the row may attend to", () => {
    const formula = formulaOf(between, shares, 1, { row: 0, col: 1 });
    expect(
      formula
        .map(({ text }) => text)
        .join("")
        .replaceAll("\u00a0", " ")
        .split("\n"),
    ).toEqual([
      "q · k = 1.000 × 2.000 + (−2.000) × (−0.414) = 2.828",
      "score = 2.828 ÷ √2 = 2.000",
      "weight = e^2.000 ÷ (e^1.000 + e^2.000) = 7.389 ÷ 10.107 = 0.731",
    ]);
  });
});

describe("An input", () => {
  const pronouns = taskOf("pronouns");

  /** The pieces that the model does not know, and the offered text. The pieces joined must be the text. */
  const refused = (task: string, text: string) => {
    const input = readInput(taskOf(task), text);
    if (!("why" in input)) throw new Error(`${text} is read`);
    const { why, pieces, nearest } = input;
    const unknown = pieces.filter(({ isKnown }) => !isKnown).map(({ text }) => text);
    return { why, unknown, nearest, whole: pieces.map(({ text }) => text).join("") };
  };

  test("with unknown words is refused, with these words marked and a similar sentence offered", () => {
    const text = "Zoe fed the cat, because she was kind 😀.";
    const { why, unknown, nearest, whole } = refused("pronouns", text);
    expect(why).toBe("The model does not know the marked words.");
    expect(unknown).toEqual(["Zoe", "fed", "cat", "😀"]);
    expect(whole).toBe(text);
    const words = nearest?.split(" ") ?? [];
    expect(pronouns.vocabulary.target).toContain(words[0]);
    expect(pronouns.vocabulary.target).toContain(words[3]?.replace(",", ""));
    expect(words.slice(4).join(" ")).toBe("because she was kind.");
    expect(readInput(pronouns, nearest ?? "")).toMatchObject({ kind: "tagging" });
  });

  test("of letters is read in lower case, and offered without unknown characters", () => {
    expect(readInput(taskOf("sort"), " HeadS ")).toMatchObject({ source: [..."heads"] });
    // A known word in place of this one would make nonsense.
    const tired = "Maria helped Clara because she was exhausted.";
    expect(refused("pronouns", tired)).toMatchObject({
      ...{ unknown: ["exhausted"], nearest: null },
    });
    expect(refused("pronouns", "Anna helped Clara because she was kimd.").nearest).toBe(
      "Anna helped Clara because she was kind.",
    );
    expect(refused("sort", "a1B你好")).toMatchObject({ unknown: ["1", "你好"], nearest: "ab" });
    expect(refused("reverse", "你好")).toMatchObject({ unknown: ["你好"], nearest: null });
  });

  test("is refused if it is empty or too long", () => {
    expect(refused("pronouns", "  ")).toMatchObject({ why: "Nothing is typed.", nearest: null });
    const { why, unknown, nearest } = refused("sort", "a".repeat(mostTokens + 1));
    expect(why).toBe(`These are ${mostTokens + 1} tokens; the model reads up to ${mostTokens}.`);
    expect(unknown).toEqual([]);
    expect(readInput(taskOf("sort"), nearest ?? "")).toMatchObject({ kind: "translation" });
    expect(refused("sort", "a".repeat(5000)).why).toBe(
      `The text has 5,000 characters; the model reads up to ${mostTokens} tokens.`,
    );
  });

  test("has its right answer and places if the task can solve it", () => {
    const solved = (task: string, text: string) => readInput(taskOf(task), text);
    expect(solved("sort", "bab")).toMatchObject({
      target: [..."abb"],
      alignment: [[1], [0, 2], [0, 2]],
    });
    expect(solved("dates", "3 May 2021")).toMatchObject({ target: [..."2021-05-03"] });
    expect(solved("dates", "3 May")).toMatchObject({ target: [] });
    expect(placesOf(solved("dates", "3 May") as Input)).toBeNull();
  });

  test("of brackets has its answer positions at the opening brackets", () => {
    const tokens = [..."([])("];
    const input = readInput(taskOf("brackets"), tokens.join("")) as Input;
    expect(placesOf(input)).toEqual([[], [], [1], [0], [], [4]]);
    expect([closerOf(tokens), closerOf([..."{}"])]).toEqual([")", null]);
  });
});
