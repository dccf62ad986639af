// The numbers, words and masks that elements accept, and the errors for others.

import { describe, expect, test } from "vitest";
import {
  findingsIn,
  hidesOf,
  matricesOf,
  notesAbout,
  readNumbers,
  wordsOf,
} from "../../../dist/view/elements/input.js";
import { LargeMatrix } from "../../../dist/view/elements/large.js";
import { finished } from "../../../dist/view/picture/job.js";
import { at, rangeOf, viewOn } from "../../../dist/view/picture/view.js";
import { engine } from "../engine.js";

const numbers = [1, 2, 3, 4, 5, 6];

/** All numbers, layer by layer and head by head. */
function valuesOf(value: unknown, shape: readonly number[] | null = null) {
  const { layers, heads, rows, cols, view } = matricesOf("data", readNumbers("data", value), shape);
  const values = Array.from({ length: layers }, (_, layer) =>
    Array.from({ length: heads }, (_, head) =>
      Array.from({ length: rows * cols }, (_, i) =>
        at(view(layer, head), Math.floor(i / cols), i % cols),
      ),
    ),
  );
  return { shape: [layers, heads, rows, cols], values: values.flat(2) };
}

const heed = engine({ threads: 1 });

describe("Numbers", () => {
  const flat: [string, unknown, number[] | null][] = [
    ["a Float32Array with a shape", new Float32Array(numbers), [2, 3]],
    ["a Float64Array with a shape", new Float64Array(numbers), [2, 3]],
    ["an Int32Array with a shape", new Int32Array(numbers), [2, 3]],
    [
      "lists",
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      null,
    ],
    ["an object like a tensor", { shape: [2, 3], data: new Float32Array(numbers) }, null],
    [
      "an object that has only lists",
      {
        shape: [2, 3],
        toArray: () => [
          [1, 2, 3],
          [4, 5, 6],
        ],
      },
      null,
    ],
    [
      "a tensor of float16",
      {
        shape: [2, 3],
        dtype: "float16",
        data: new Uint16Array(6),
        toArray: () => [
          [1, 2, 3],
          [4, 5, 6],
        ],
      },
      null,
    ],
  ];
  test.for(flat)("may be %s", ([, value, shape]) => {
    expect(valuesOf(value, shape)).toEqual({ shape: [1, 1, 2, 3], values: numbers });
  });

  test.for([
    [
      [2, 3],
      [1, 1, 2, 3],
    ],
    [
      [3, 2, 1],
      [1, 3, 2, 1],
    ],
    [
      [2, 1, 1, 3],
      [2, 1, 1, 3],
    ],
    [
      [1, 1, 1, 6],
      [1, 1, 1, 6],
    ],
  ])("of %j are layers, heads, queries and keys: %j", ([shape, whole]) => {
    const expected = { shape: whole, values: numbers };
    expect(valuesOf(new Float32Array(numbers), shape)).toEqual(expected);
  });

  test("may be one tensor for each layer, as transformers return them", () => {
    const layer = (first: number, shape: number[]) => ({
      shape,
      data: Float32Array.of(first, first + 1),
    });
    const expected = { shape: [3, 1, 1, 2], values: numbers };
    expect(valuesOf([layer(1, [1, 1, 2]), layer(3, [1, 1, 2]), layer(5, [1, 1, 2])])).toEqual(
      expected,
    );
    const ofBatch = [layer(1, [1, 1, 1, 2]), layer(3, [1, 1, 1, 2]), layer(5, [1, 1, 1, 2])];
    expect(valuesOf(ofBatch)).toEqual(expected);
  });

  test("that are set again are new ones, whose range is found anew", () => {
    const data = Float32Array.of(0, 1);
    const range = () => {
      const { view } = matricesOf("data", readNumbers("data", data), [1, 2]);
      return rangeOf(view(0, 0));
    };
    expect(range()).toEqual([0, 1]);
    data[1] = 7;
    expect(range()).toEqual([0, 7]);
  });

  test("are not copied, but from a tensor of Heed, whose memory moves", () => {
    const data = new Float32Array(numbers);
    for (const given of [data, { shape: [2, 3], data }]) {
      const taken = readNumbers("data", given)[0]?.data;
      expect([taken?.buffer === data.buffer, taken?.length]).toEqual([true, 6]);
    }
    const tensor = heed().tensor(data, [2, 3]);
    expect(readNumbers("data", tensor)[0]?.data.buffer).not.toBe(tensor.data.buffer);
  });

  test("may be missing: null is NaN", () => {
    expect(valuesOf([[1, null]]).values).toEqual([1, Number.NaN]);
  });

  test("of a tensor are read before the engine's memory moves", () => {
    const tensor = heed().tensor([
      [
        [0.5, 0.5],
        [0.25, 0.75],
      ],
    ]);
    const read = readNumbers("data", tensor);
    tensor.dispose();
    expect(matricesOf("data", read).view(0, 0).data).toEqual(Float32Array.of(0.5, 0.5, 0.25, 0.75));
    const refusal = expect.objectContaining({ name: "HeedError", code: "disposed" });
    expect(() => readNumbers("data", tensor)).toThrow(refusal);
    const half = heed().cast(heed().tensor([[0.5, 0.25]]), "float16");
    expect([...(readNumbers("data", half)[0]?.data ?? [])]).toEqual([0.5, 0.25]);
  });

  const refused: [unknown, number[] | null, string, string][] = [
    [
      "text",
      null,
      "dtype",
      'data: expected a typed array, lists of numbers or a tensor, got "text"',
    ],
    [[], null, "dtype", "data: expected a typed array, lists of numbers or a tensor, got []"],
    [[[1, "2"]], null, "dtype", 'data[0][1]: expected a number, got "2"'],
    [[[1, 2], [3]], null, "shape", "data[1]: expected 2 entries, as in the first list, got 1"],
    [[[1, 2], 3], null, "shape", "data[1]: expected 2 entries, as in the first list, got 3"],
    [
      new BigInt64Array(4),
      [2, 2],
      "dtype",
      "data: expected a typed array, lists of numbers or a tensor, got a BigInt64Array",
    ],
    [
      { shape: [2] },
      null,
      "dtype",
      "data: expected an object with data or toArray(), got an Object",
    ],
    [{ shape: "2", data: [] }, null, "shape", 'data.shape: expected a list of sizes, got "2"'],
    [{ shape: [2, 2], data: [1] }, null, "shape", "data: expected 4 numbers for [2, 2], got 1"],
    [
      new Float32Array(4),
      null,
      "shape",
      "shape: expected the sizes of data, [L, S], [heads, L, S] or [layers, heads, L, S], got none",
    ],
    [new Float32Array(4), [2, 3], "shape", "data: expected 6 numbers for [2, 3], got 4"],
    [new Float32Array(4), [2, -2], "shape", "shape: expected a list of sizes, got [2, -2]"],
    [new Float32Array(0), [0, 4], "shape", "data: expected sizes of 1 or more, got [0, 4]"],
    [
      [[[[[1]]]]],
      null,
      "shape",
      "data: expected [L, S], [heads, L, S] or [layers, heads, L, S], got [1, 1, 1, 1, 1]",
    ],
    [
      [
        { shape: [1, 1, 2], data: [1, 2] },
        { shape: [1, 1, 1], data: [1] },
      ],
      null,
      "shape",
      "data[1]: expected [1, 1, 2], got [1, 1, 1, 1]",
    ],
    [
      [{ shape: [1, 1], data: [1] }, 2],
      null,
      "dtype",
      "data[1]: expected a tensor, as the others are, got 2",
    ],
    [
      {
        shape: [1, 1],
        get data() {
          throw new Error("gone");
        },
      },
      null,
      "internal",
      "data: gone",
    ],
  ];
  test.for(refused.map((each) => [each[3], each] as const))(
    "are refused: %s",
    ([message, [value, shape, code]]) => {
      const read = () => matricesOf("data", readNumbers("data", value), shape);
      expect(read).toThrow(expect.objectContaining({ name: "HeedError", code, message }));
    },
  );
});

describe("Words and masks", () => {
  test("are one for each place", () => {
    expect(wordsOf("tokens", ["a", "b"], 2)).toEqual(["a", "b"]);
    const message = "tokens: expected 3 texts, got 2";
    expect(() => wordsOf("tokens", ["a", "b"], 3)).toThrow(expect.objectContaining({ message }));
    const noTexts = "tokens: expected a list of texts, got [1]";
    expect(() => wordsOf("tokens", [1])).toThrow(expect.objectContaining({ message: noTexts }));
  });

  test("hide where the mask is false, or after the query's own place", () => {
    const [mask] = readNumbers("mask", [
      [true, false],
      [true, true],
    ]);
    const hides = hidesOf(mask ?? null, 2, 2);
    expect([hides?.(0, 0), hides?.(0, 1), hides?.(1, 1)]).toEqual([false, true, false]);
    const causal = hidesOf("causal", 2, 3);
    expect([causal?.(0, 0), causal?.(0, 1), causal?.(1, 1), causal?.(1, 2)]).toEqual([
      false,
      true,
      false,
      true,
    ]);
    expect(hidesOf(null, 2, 2)).toBeUndefined();
    const message = "mask: expected [3, 2], got [2, 2]";
    expect(() => hidesOf(mask ?? null, 3, 2)).toThrow(expect.objectContaining({ message }));
  });
});

describe("A large matrix", () => {
  const size = 1024;
  const future = (row: number, col: number) => col > row;
  const made = (kind: "weights" | "scores", change: (data: Float32Array) => void) => {
    const data = new Float32Array(size * size);
    change(data);
    const large = new LargeMatrix({ ...viewOn(data, size, size), hides: future }, kind);
    finished(large.read(true, () => {}));
    return large;
  };

  test("shows no hidden number", () => {
    const large = made("scores", (data) => {
      data.fill(-3e38, 1, 2);
      data.fill(2, size, size + 1);
    });
    expect(at(large.small, 0, 0)).toBe(2);
    expect(large.cell({ row: 0, col: 0 })).toEqual({ row: 1, col: 0 });
    expect(large.small.hides?.(0, 1)).toBe(true);
  });

  test("finds the number that is missing, or infinite, of those that a cell stands for", () => {
    const large = made("scores", (data) => {
      [data[6 * size], data[6 * size + 1]] = [5, Number.NaN];
      [data[8 * size], data[8 * size + 1]] = [5, Number.POSITIVE_INFINITY];
    });
    expect(at(large.small, 3, 0)).toBeNaN();
    expect(large.cell({ row: 3, col: 0 })).toEqual({ row: 6, col: 1 });
    expect(large.cell({ row: 4, col: 0 })).toEqual({ row: 8, col: 1 });
  });

  test("has a first row for each one that is drawn", () => {
    const large = made("weights", (data) => data.fill(1, 7 * size, 8 * size));
    expect(large.cell({ row: 3, col: 0 })).toEqual({ row: 7, col: 0 });
    expect(large.firstRow(3)).toBe(6);
  });
});

describe("The notes of a matrix", () => {
  const view = (values: number[], cols: number) =>
    viewOn(Float32Array.from(values), values.length / cols, cols);

  test("count holes, and rows of visible weights that do not add up to 1", () => {
    const found = findingsIn(view([0.5, 0.5, 0.2, 0.7, Number.NaN, 1, 2, 2], 2));
    expect(found).toMatchObject({ holes: 1, rows: 2, sum: 4 });
    expect(notesAbout(found, true)).toEqual([
      "1 number missing (NaN): left empty.",
      "2 rows not adding up to 1: one adds up to 4.",
    ]);
    expect(notesAbout(found, false)).toHaveLength(1);
  });

  test("say nothing of weights rounded to 16 bits, of hidden ones and of rows without a visible key", () => {
    const hides = (row: number, col: number) => row === 1 || col > 1;
    expect(findingsIn({ ...view([0.4995, 0.498, 7, Number.NaN, 5, 5], 3), hides })).toMatchObject({
      holes: 0,
      rows: 0,
      sum: 1,
    });
  });

  test("come with the range of the finite numbers that can be seen", () => {
    const scores = view([-3, 9, Number.NEGATIVE_INFINITY, 0.5, Number.NaN, 7], 2);
    expect(findingsIn({ ...scores, hides: (_, col) => col === 1 }).range).toEqual([-3, -3]);
    expect(findingsIn(scores).range).toEqual([-3, 9]);
    expect(findingsIn({ ...scores, hides: () => true }).range).toBeNull();
  });
});
