import {
  type DType,
  HeedError,
  load,
  type NestedArray,
  type Tensor,
  type TensorSource,
} from "heed";
import { describe, expect, test } from "vitest";
import { engine, refusal } from "../engine.js";
import { expectWorks } from "../values.js";

/** Passes values that the types reject, as JavaScript code can. */
const any = <T>(value: unknown): T => value as T;

describe("tensor", () => {
  const heed = engine({ threads: 1 });

  describe("is made from", () => {
    const accepted: {
      from: string;
      data: TensorSource;
      shape?: number[];
      dtype?: DType;
      expected: { shape: number[]; dtype: DType; values: unknown };
    }[] = [
      {
        from: "a Float32Array, a list by default",
        data: Float32Array.of(1.5, -2),
        expected: { shape: [2], dtype: "float32", values: [1.5, -2] },
      },
      {
        from: "a Float32Array and a shape",
        data: Float32Array.of(1, 2, 3, 4, 5, 6),
        shape: [3, 1, 2],
        expected: { shape: [3, 1, 2], dtype: "float32", values: [[[1, 2]], [[3, 4]], [[5, 6]]] },
      },
      {
        from: "an Int32Array",
        data: Int32Array.of(-(2 ** 31), 2 ** 31 - 1),
        expected: { shape: [2], dtype: "int32", values: [-(2 ** 31), 2 ** 31 - 1] },
      },
      {
        from: "a Uint8Array, as bools",
        data: Uint8Array.of(1, 0),
        dtype: "bool",
        expected: { shape: [2], dtype: "bool", values: [true, false] },
      },
      {
        from: "a Uint8Array, as numbers",
        data: Uint8Array.of(0, 255),
        dtype: "float32",
        expected: { shape: [2], dtype: "float32", values: [0, 255] },
      },
      {
        from: "part of a larger buffer",
        data: new Float32Array(Float32Array.of(1, 2, 3, 4).buffer, 4, 2),
        expected: { shape: [2], dtype: "float32", values: [2, 3] },
      },
      {
        from: "numbers in arrays in arrays",
        data: [
          [1, 2, 3],
          [4, 5, 6],
        ],
        expected: {
          shape: [2, 3],
          dtype: "float32",
          values: [
            [1, 2, 3],
            [4, 5, 6],
          ],
        },
      },
      {
        from: "numbers in arrays, under another shape",
        data: [[1, 2, 3, 4]],
        shape: [2, 2],
        expected: {
          shape: [2, 2],
          dtype: "float32",
          values: [
            [1, 2],
            [3, 4],
          ],
        },
      },
      {
        from: "booleans in arrays",
        data: [[true], [false]],
        expected: { shape: [2, 1], dtype: "bool", values: [[true], [false]] },
      },
      {
        from: "a number, as a scalar",
        data: 7,
        expected: { shape: [], dtype: "float32", values: 7 },
      },
      {
        from: "a boolean, as a scalar",
        data: true,
        expected: { shape: [], dtype: "bool", values: true },
      },
      {
        from: "nothing, as an empty list",
        data: [],
        expected: { shape: [0], dtype: "float32", values: [] },
      },
      {
        from: "empty lists",
        data: [[], []],
        expected: { shape: [2, 0], dtype: "float32", values: [[], []] },
      },
      {
        from: "nothing, under a shape with a size of 0",
        data: new Float32Array(),
        shape: [3, 0, 2],
        expected: { shape: [3, 0, 2], dtype: "float32", values: [[], [], []] },
      },
      {
        from: "numbers, as int32",
        data: [1, -2],
        dtype: "int32",
        expected: { shape: [2], dtype: "int32", values: [1, -2] },
      },
      {
        from: "zeros and ones, as bools",
        data: [0, 1],
        dtype: "bool",
        expected: { shape: [2], dtype: "bool", values: [false, true] },
      },
      {
        from: "an Int32Array, as float32",
        data: Int32Array.of(3, -4),
        dtype: "float32",
        expected: { shape: [2], dtype: "float32", values: [3, -4] },
      },
      {
        from: "a Float32Array of whole numbers, as int32",
        data: Float32Array.of(5, -6),
        dtype: "int32",
        expected: { shape: [2], dtype: "int32", values: [5, -6] },
      },
      {
        from: "NaN and infinities",
        data: [Number.NaN, Infinity, -Infinity],
        expected: { shape: [3], dtype: "float32", values: [Number.NaN, Infinity, -Infinity] },
      },
      {
        from: "numbers, as float16, which rounds them",
        data: [0.1, 65504, 2 ** -24, -0, Infinity],
        dtype: "float16",
        expected: {
          shape: [5],
          dtype: "float16",
          values: [0.0999755859375, 65504, 2 ** -24, -0, Infinity],
        },
      },
      {
        from: "a Float32Array, as bfloat16",
        data: Float32Array.of(1, 3.140625, Number.NaN),
        dtype: "bfloat16",
        expected: { shape: [3], dtype: "bfloat16", values: [1, 3.140625, Number.NaN] },
      },
      {
        from: "a Uint16Array, as the bits of float16",
        data: Uint16Array.of(0x3c00, 0xc000, 0x7c00, 0x0001),
        dtype: "float16",
        expected: { shape: [4], dtype: "float16", values: [1, -2, Infinity, 2 ** -24] },
      },
      {
        from: "a Uint16Array, as the bits of bfloat16",
        data: Uint16Array.of(0x3f80, 0xff80),
        shape: [2, 1],
        dtype: "bfloat16",
        expected: { shape: [2, 1], dtype: "bfloat16", values: [[1], [-Infinity]] },
      },
      {
        from: "a number that float32 rounds",
        data: [0.1],
        expected: { shape: [1], dtype: "float32", values: [Math.fround(0.1)] },
      },
    ];

    for (const { from, data, shape, dtype, expected } of accepted) {
      test(from, () => {
        using tensor = heed().tensor(data as Float32Array, shape, dtype);
        expect(tensor.shape).toEqual(expected.shape);
        expect(tensor.dtype).toBe(expected.dtype);
        expect(tensor.toArray()).toEqual(expected.values);
        expect(tensor.size).toBe(expected.shape.reduce((product, size) => product * size, 1));
      });
    }
  });

  test("copies its source, which may change", () => {
    const source = Float32Array.of(1, 2);
    using tensor = heed().tensor(source);
    source[0] = 9;
    expect(tensor.toArray()).toEqual([1, 2]);
  });

  test("has a read-only shape", () => {
    using tensor = heed().tensor([1, 2]);
    expect(() => any<number[]>(tensor.shape).push(3)).toThrow(TypeError);
  });

  test("returns its elements in the array type of its dtype", () => {
    heed().scope(() => {
      expect(heed().tensor([1]).data).toBeInstanceOf(Float32Array);
      expect(heed().tensor([1], [1], "int32").data).toBeInstanceOf(Int32Array);
      expect(heed().tensor([true]).data).toBeInstanceOf(Uint8Array);
      expect(heed().tensor([1], [1], "float16").data).toBeInstanceOf(Uint16Array);
      expect(heed().tensor([1], [1], "bfloat16").data).toBeInstanceOf(Uint16Array);
    });
  });

  test("returns its elements as a view, through which they can be written", () => {
    using tensor = heed().tensor([1, 2]);
    tensor.data[1] = 5;
    expect(tensor.toArray()).toEqual([1, 5]);
  });

  test("returns a new view after the memory has grown", async () => {
    const small = await load({ threads: 1 });
    const first = small.tensor([1, 2, 3]);
    for (let i = 0; i < 4; ++i) small.tensor(new Float32Array(4 * 2 ** 20));
    expect(first.toArray()).toEqual([1, 2, 3]);
    expect([...first.data]).toEqual([1, 2, 3]);
    small.dispose();
  });

  test("returns nested arrays that are copies", () => {
    using tensor = heed().tensor([[1, 2]]);
    const copy = tensor.toArray();
    tensor.data.fill(0);
    expect(copy).toEqual([[1, 2]]);
  });

  test("can be disposed of twice", () => {
    const tensor = heed().tensor([1]);
    expect(tensor.isDisposed).toBe(false);
    tensor.dispose();
    tensor.dispose();
    expect(tensor.isDisposed).toBe(true);
    expect(tensor.shape).toEqual([1]);
  });

  test("frees its memory when it is disposed of", async () => {
    const small = await load({ threads: 1, maxMemory: 64 * 2 ** 20 });
    // Ten times the memory limit.
    for (let i = 0; i < 40; ++i) small.tensor(new Float32Array(4 * 2 ** 20)).dispose();
    expectWorks(small);
    small.dispose();
  });

  describe("item", () => {
    test("is the value of the only element, of any rank and type", () => {
      heed().scope(() => {
        const made = (["float32", "int32", "bool", "float16", "bfloat16"] as const).map((dtype) =>
          heed()
            .tensor([[1]], [1, 1], dtype)
            .item(),
        );
        expect(made).toEqual([1, 1, true, 1, 1]);
        expect(heed().tensor(2.5).item()).toBe(2.5);
      });
    });

    test("is refused for more or fewer elements", () => {
      heed().scope(() => {
        for (const shape of [[2], [0], [2, 2]]) {
          const error = refusal(() => heed().zeros(shape).item());
          expect(error.code).toBe("shape");
          expect(error.message).toBe(`tensor: expected one element, got [${shape.join(", ")}]`);
        }
      });
    });
  });

  test("converts to JSON with its type, shape and elements, without its engine", () => {
    heed().scope(() => {
      const json = (tensor: Tensor) => JSON.parse(JSON.stringify({ tensor })).tensor;
      const x = heed().tensor([
        [1, 2],
        [3, Number.NaN],
      ]);
      expect(json(x)).toEqual({
        ...{ dtype: "float32", shape: [2, 2] },
        data: [
          [1, 2],
          [3, null],
        ],
      });
      expect(json(heed().tensor([0.5], [1], "float16")).data).toEqual([0.5]);
      expect(json(heed().tensor([0.5], [1], "bfloat16")).data).toEqual([0.5]);
      expect(json(heed().tensor([true])).data).toEqual([true]);
      x.dispose();
      expect(json(x)).toEqual({ dtype: "float32", shape: [2, 2], data: null });
    });
  });

  test("converts to a string of its type, shape and elements", () => {
    const made: [
      data: number | NestedArray<number> | NestedArray<boolean>,
      text: string,
      dtype?: DType,
    ][] = [
      [5, "Tensor(float32, []) 5"],
      [[], "Tensor(float32, [0]) []"],
      [[0.1, 1e-7, 3.4e38, 1 / 3], "Tensor(float32, [4]) [     0.1,     1e-7,  3.4e+38, 0.333333]"],
      [[-0, Number.NaN, Infinity], "Tensor(float32, [3]) [      -0,      NaN, Infinity]"],
      [[16777217, -5], "Tensor(int32, [2]) [16777217,       -5]", "int32"],
      [[true, false], "Tensor(bool, [2]) [ true, false]"],
      [[0.1], "Tensor(float16, [1]) [0.0999756]", "float16"],
      [[0.1], "Tensor(bfloat16, [1]) [0.100098]", "bfloat16"],
      [
        [
          [1, 20],
          [3, 4],
        ],
        "Tensor(float32, [2, 2])\n[[ 1, 20],\n [ 3,  4]]",
      ],
    ];
    for (const [data, text, dtype] of made) {
      using tensor = heed().tensor(data, undefined, dtype);
      expect(`${tensor}`).toBe(text);
    }
    const gone = heed().tensor([1]);
    gone.dispose();
    expect(`${gone}`).toBe("Tensor(float32, [1], disposed)");
    expect(Object.prototype.toString.call(gone)).toBe("[object Tensor]");
  });

  test("converts to a shortened string if it has many elements", () => {
    heed().scope(() => {
      const list = heed().tensor(Float32Array.from({ length: 1000 }, (_, i) => i));
      expect(String(list)).toBe("Tensor(float32, [1000]) [  0,   1,   2, ..., 997, 998, 999]");
      const cut = "[1, 1, 1, ..., 1, 1, 1]";
      const rows = [cut, cut, cut, "...", cut, cut, cut].join(",\n ");
      expect(String(heed().ones([1000, 1000]))).toBe(`Tensor(float32, [1000, 1000])\n[${rows}]`);
      expect(String(heed().zeros([100_000, 0])).length).toBeLessThan(100);
      expect(String(heed().zeros([4, 4, 4, 4, 4, 4, 4, 4])).length).toBeLessThan(6000);
    });
  });

  test("has no engine among its keys", () => {
    using tensor = heed().tensor([1]);
    expect(Object.keys(tensor)).toEqual(["dtype"]);
    expect(Object.keys(heed()).filter((key) => key !== "info")).toEqual([]);
  });

  test("is refused after dispose", () => {
    const tensor = heed().tensor([1]);
    tensor.dispose();
    for (const use of [() => tensor.data, () => tensor.toArray()]) {
      const error = refusal(use);
      expect(error.code).toBe("disposed");
      expect(error.message).toBe("tensor: expected a live tensor, got a disposed one");
    }
    expect(refusal(() => heed().softmax(tensor)).message).toBe(
      "x: expected a live tensor, got a disposed one",
    );
  });

  test("is disposed of at the end of a block by `using`", () => {
    let kept: Tensor;
    {
      using tensor = heed().tensor([1]);
      kept = tensor;
      expect(kept.isDisposed).toBe(false);
    }
    expect(kept.isDisposed).toBe(true);
  });

  test("is refused by other engines", async () => {
    const other = await load({ threads: 1 });
    const foreign = other.tensor([1]);
    const error = refusal(() => heed().softmax(foreign));
    expect(error.code).toBe("option");
    expect(error.message).toBe("x: expected a tensor of this engine, got one of another");
    expect(other.softmax(foreign).toArray()).toEqual([1]);
    other.dispose();
  });
});

test("a HeedError is an Error with a name and a code", () => {
  const error = new HeedError("shape", "q: expected rank 4, got [2]");
  expect(error).toBeInstanceOf(Error);
  expect(String(error)).toBe("HeedError: q: expected rank 4, got [2]");
  expect(error.code).toBe("shape");
});
