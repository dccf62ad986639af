/** The pure parts of the view of language models: texts and candidates. */
import { describe, expect, test } from "vitest";
import {
  bestOf,
  kindOf,
  measuresOf,
  repeated,
  uniformMeasures,
} from "../../web/src/rooms/models/language/kinds";
import {
  initialOf,
  ourModel,
  read,
  type State,
  write,
  yourModel,
} from "../../web/src/rooms/models/language/state";
import { candidatesOf } from "../../web/src/shared/candidates";
import { label, pieceOf, piecesIn, visible } from "../../web/src/shared/pieces";
import { testLink } from "./links";

const all = { temperature: 1, topK: 0, topP: 1 };

describe("Candidates", () => {
  /** Probabilities 0.5, 0.25, 0.125 and 0.125 of the tokens 7, 3, 0 and 9. */
  const sorted = {
    values: Float32Array.from([4, 2, 1, 1], Math.log),
    ids: Int32Array.of(7, 3, 0, 9),
  };
  const drawn = (sampling: Partial<typeof all>) => {
    const { drawn, choices } = candidatesOf(sorted, { ...all, ...sampling }, null);
    return { drawn: Array.from(drawn, (share) => Number(share.toFixed(4))), choices };
  };

  test("have the model's probabilities, and the token that follows has its rank", () => {
    const { model, ids, taken, choices } = candidatesOf(sorted, all, 0);
    expect([...ids]).toEqual([7, 3, 0, 9]);
    for (const [i, share] of [0.5, 0.25, 0.125, 0.125].entries())
      expect(model[i]).toBeCloseTo(share, 6);
    expect(taken?.rank).toBe(2);
    expect(taken?.drawn).toBeCloseTo(0.125, 6);
    expect(choices).toBe(4);
    expect(candidatesOf(sorted, all, null).taken).toBeNull();
  });

  test("are drawn after temperature, then the k most likely, then those that make up p", () => {
    expect(drawn({ temperature: 0 })).toEqual({ drawn: [1, 0, 0, 0], choices: 1 });
    expect(drawn({ temperature: 0.5 }).drawn).toEqual([0.7273, 0.1818, 0.0455, 0.0455]);
    expect(drawn({ topK: 2 })).toEqual({ drawn: [0.6667, 0.3333, 0, 0], choices: 2 });
    expect(drawn({ topP: 0.5 })).toEqual({ drawn: [1, 0, 0, 0], choices: 1 });
    expect(drawn({ topP: 0.7 }).choices).toBe(2);
    // Of the two that top-k leaves, the first has two thirds.
    expect(drawn({ topK: 2, topP: 0.6 }).choices).toBe(1);
    expect(drawn({ topK: 9 }).choices).toBe(4);
  });
});

describe("Tokens", () => {
  const bytes = (...all: number[]) => Uint8Array.from(all);

  test("that are parts of a character show it at the last one", () => {
    expect(piecesIn([bytes(0x61), bytes(0xe9, 0xaf), bytes(0xa8), bytes(0x20, 0x62)])).toEqual([
      ...["a", "·", "鯨", " b"],
    ]);
  });

  test("alone show their bytes, or their white space", () => {
    expect(pieceOf(bytes(0xe9, 0xaf))).toBe("⟨e9 af⟩");
    expect(pieceOf(bytes(0x20, 0x61))).toBe(" a");
    expect([" a", "\n\n", " "].map(visible)).toEqual(["␣a", "↵↵", "␣"]);
    expect([" a", "\n", " "].map(label)).toEqual(["a", "↵", "␣"]);
  });
});

describe("A head is measured", () => {
  const rows = 2 * repeated + 1;
  const attendingTo = (columnOf: (row: number) => number) => {
    const weights = new Float32Array(rows * rows);
    for (let row = 0; row < rows; ++row) weights[row * rows + columnOf(row)] = 1;
    return measuresOf({ weights, rows });
  };

  test("by the token before, the first one, and the one after the former occurrence", () => {
    const previous = attendingTo((row) => Math.max(0, row - 1));
    expect(previous).toEqual({ previous: 1, first: 0, induction: 0 });
    const first = attendingTo(() => 0);
    expect(first).toEqual({ previous: 0, first: 1, induction: 0 });
    const induction = attendingTo((row) => (row > repeated ? row - repeated + 1 : 0));
    expect(induction.induction).toBe(1);
    expect([previous, first, induction].map(kindOf)).toEqual(["previous", "first", "induction"]);
    const named = [previous, first].map((measures, i) => ({ key: `1.${i + 1}`, ...measures }));
    expect(bestOf(named, "first").key).toBe("1.2");
  });

  test("beside uniform attention, which is called nothing", () => {
    const uniform = uniformMeasures(rows);
    expect(uniform.previous).toBeCloseTo(uniform.first, 9);
    expect(uniform.induction).toBeCloseTo(
      Array.from({ length: repeated }, (_, i) => 1 / (repeated + 2 + i)).reduce((a, b) => a + b) /
        repeated,
      9,
    );
    expect(kindOf(uniform)).toBeNull();
  });
});

describe("A link", () => {
  testLink<State>({
    ...{ read, write, initial: initialOf(ourModel) },
    opposite: {
      ...{ text: "Ein Wal & ein Boot", temperature: 0, topK: 5, topP: 0.5, seed: 3, length: 12 },
      ...{ kept: [4, 19, 300], place: 7, ablated: ["1.2", "6.6"], ablation: "mean", head: "2.3" },
      ...{ cell: { row: 6, col: 2 }, layer: 3, range: "row", curve: "log", other: "a" },
      ...{
        model: "a/b",
        dtype: "int4",
        from: "eng_Latn",
        to: "__fr__",
        measure: "first",
        order: "measure",
        mass: 60,
      },
      number: { part: "feed-forward", of: "unit", row: 0, col: 5 },
    },
    refused: [
      "head=0.1",
      "kept=a",
      "place=0",
      "topp=0",
      "ablate=1",
      "ablation=half",
      "temperature=3",
      "cell=1.2.3",
      "layer=x",
      "number=unit.6",
    ],
  });

  test("refuses a model and a type of weights by name", () => {
    const { state, notices } = read(new URLSearchParams("model=a+model&dtype=int2"));
    expect(state).toEqual(initialOf(yourModel));
    expect(notices).toHaveLength(2);
    expect(notices[0]).toContain("an address, or owner/name of the hub");
  });
});
