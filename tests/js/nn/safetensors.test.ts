// safetensors: written files are read back, files of other writers are read, and errors name the fault in a
// file.

import type { HeedError } from "heed";
import { safetensors } from "heed/nn";
import { describe, expect, test } from "vitest";
import { engine, isNode, refusal } from "../engine.js";
import { Random } from "../values.js";

/** Creates a file with any header and data. */
function file(header: unknown, data: ArrayLike<number> = [], padding = ""): Uint8Array {
  const text = (typeof header === "string" ? header : JSON.stringify(header)) + padding;
  const json = new TextEncoder().encode(text);
  const bytes = new Uint8Array(8 + json.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
  bytes.set(json, 8);
  bytes.set(data, 8 + json.length);
  return bytes;
}

const entry = (dtype: string, shape: number[], begin: number, end: number) => ({
  dtype,
  shape,
  data_offsets: [begin, end],
});

describe("written files are read back:", () => {
  const everything = {
    doubles: { dtype: "float64", shape: [2], data: Float64Array.of(1 / 3, -Infinity) },
    floats: { dtype: "float32", shape: [2, 3], data: Float32Array.of(1, -2, 3.5, NaN, 0, -0) },
    halves: { dtype: "float16", shape: [3], data: Uint16Array.of(0x3c00, 0xfc00, 1) },
    brains: { dtype: "bfloat16", shape: [1, 1], data: Uint16Array.of(0x3f80) },
    longs: { dtype: "int64", shape: [2], data: BigInt64Array.of(-(2n ** 63n), 7n) },
    unsignedLongs: { dtype: "uint64", shape: [1], data: BigUint64Array.of(2n ** 64n - 1n) },
    ints: { dtype: "int32", shape: [2], data: Int32Array.of(-(2 ** 31), 5) },
    unsigned: { dtype: "uint32", shape: [1], data: Uint32Array.of(2 ** 32 - 1) },
    shorts: { dtype: "int16", shape: [1], data: Int16Array.of(-3) },
    words: { dtype: "uint16", shape: [1], data: Uint16Array.of(65535) },
    chars: { dtype: "int8", shape: [3], data: Int8Array.of(-128, 0, 127) },
    bytes: { dtype: "uint8", shape: [1], data: Uint8Array.of(255) },
    bools: { dtype: "bool", shape: [5], data: Uint8Array.of(1, 0, 0, 1, 1) },
    scalar: { dtype: "float32", shape: [], data: Float32Array.of(4) },
    empty: { dtype: "float32", shape: [0, 8], data: new Float32Array(0) },
    "naïve.名前": { dtype: "int8", shape: [1], data: Int8Array.of(2) },
  } as const;
  const metadata = { format: "pt", "said by": "naïve" };

  test("every type, any name, and the metadata", () => {
    const odd = [["__proto__", everything.chars]] as const;
    const all = Object.fromEntries([...Object.entries(everything), ...odd]);
    const read = safetensors.read(safetensors.write(all, metadata));
    expect(read.metadata).toEqual(metadata);
    expect(Object.keys(read.tensors).sort()).toEqual(Object.keys(all).sort());
    for (const [name, tensor] of Object.entries(all))
      expect(read.tensors[name]).toEqual({ ...tensor, shape: [...tensor.shape] });
  });

  test("arrays are views of the file, and the same tensors give the same bytes", () => {
    const bytes = safetensors.write(everything, metadata);
    for (const { data } of Object.values(safetensors.read(bytes).tensors))
      expect(data.buffer).toBe(bytes.buffer);
    const turned = Object.fromEntries(Object.entries(everything).reverse());
    expect(safetensors.write(turned, metadata)).toEqual(bytes);
    expect(safetensors.read(safetensors.write({})).tensors).toEqual({});
  });

  test("from the ArrayBuffer that a fetch gives", async () => {
    const bytes = await new Response(safetensors.write(everything, metadata)).arrayBuffer();
    const { tensors } = safetensors.read(bytes);
    expect(tensors.floats).toEqual({ ...everything.floats, shape: [2, 3] });
    expect(tensors.floats?.data.buffer).toBe(bytes);
    structuredClone(bytes, { transfer: [bytes] });
    expect(refusal(() => safetensors.read(bytes)).message).toBe(
      "bytes: expected a buffer, got one that is detached",
    );
    expect(refusal(() => safetensors.read([] as never)).message).toBe(
      "bytes: expected a Uint8Array or an ArrayBuffer, got []",
    );
  });

  test("from an address that is not aligned, by a copy", () => {
    const written = safetensors.write(everything, metadata);
    const moved = new Uint8Array(written.length + 3);
    moved.set(written, 3);
    const { tensors } = safetensors.read(moved.subarray(3));
    expect(tensors.floats).toEqual({ ...everything.floats, shape: [2, 3] });
    expect(tensors.longs?.data).toEqual(everything.longs.data);
  });

  test("random names and numbers", () => {
    const random = new Random(701);
    for (let i = 0; i < 20; ++i) {
      const tensors = Object.fromEntries(
        Array.from({ length: random.whole(0, 6) }, (_, t) => {
          const shape = Array.from({ length: random.whole(0, 3) }, () => random.whole(0, 4));
          const { data } = random.pick(true, false) ? random.array(shape) : random.bools(shape);
          const dtype = data instanceof Float32Array ? "float32" : "bool";
          return [`t${t}`, { dtype, shape, data } as const];
        }),
      );
      expect(safetensors.read(safetensors.write(tensors)).tensors).toEqual(tensors);
    }
  });
});

describe("tensors of an engine", () => {
  const heed = engine({ threads: 1 });

  test("are written with their types", () => {
    heed().scope(() => {
      const tensors = {
        floats: heed().tensor([[1, 2]]),
        halves: heed().tensor([1, 2], [2], "bfloat16"),
        seen: heed().tensor([true, false]),
        ids: heed().tensor(Int32Array.of(3)),
      };
      const { tensors: read } = safetensors.read(safetensors.write(tensors));
      for (const [name, tensor] of Object.entries(tensors)) {
        const { dtype, shape } = tensor;
        expect(read[name]).toEqual({ dtype, shape: [...shape], data: tensor.data.slice() });
      }
    });
  });
});

describe("a file of another writer", () => {
  test("may have its data in any order, spaces after the header, and no alignment", () => {
    const header = {
      b: entry("F32", [1], 3, 7),
      __metadata__: { format: "pt" },
      a: entry("U8", [3], 0, 3),
      none: entry("F32", [0], 7, 7),
    };
    const { tensors, metadata } = safetensors.read(file(header, [1, 2, 3, 0, 0, 128, 63], "   "));
    expect(metadata).toEqual({ format: "pt" });
    expect(tensors.a?.data).toEqual(Uint8Array.of(1, 2, 3));
    expect(tensors.b?.data).toEqual(Float32Array.of(1));
    expect(tensors.none).toEqual({ dtype: "float32", shape: [0], data: new Float32Array(0) });
  });
});

test.runIf(isNode)("a file may come as a Buffer of Node, without alignment too", () => {
  for (const padding of ["", " ", "  ", "   "]) {
    const bytes = Buffer.from(file({ a: entry("F32", [1], 0, 4) }, [0, 0, 128, 63], padding));
    expect(safetensors.read(bytes).tensors.a?.data).toEqual(Float32Array.of(1));
  }
});

describe("a file is refused", () => {
  const good = { a: entry("F32", [2], 0, 8), b: entry("U8", [1], 8, 9) };
  const eight = [0, 0, 0, 0, 0, 0, 0, 0];
  const nine = [...eight, 0];
  const truncated = file(good, nine).subarray(0, 30);
  const long = file(good, nine);
  new DataView(long.buffer).setBigUint64(0, 2n ** 63n, true);

  test.each(
    Object.entries<[bytes: Uint8Array, message: string]>({
      "of nothing": [new Uint8Array(0), "file: expected a header's length in 8 bytes, got 0 bytes"],
      "of part of a length": [
        new Uint8Array(7),
        "file: expected a header's length in 8 bytes, got 7 bytes",
      ],
      "cut in its header": [truncated, "header: expected at most 22 bytes, got 106 bytes"],
      "with an immense header": [
        long,
        "header: expected at most 115 bytes, got 9223372036854775808 bytes",
      ],
      "whose header is nested deeply": [
        file(`{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`),
        "a: expected { dtype, shape, data_offsets }, got [[[[[...]]]]]",
      ],
      "whose header is nested deeply in metadata": [
        file(`{"__metadata__":{"a":${'{"b":'.repeat(200_000)}1${"}".repeat(200_000)}}}`),
        "__metadata__: a: expected text, got an Object",
      ],
      "whose header is a list": [file([]), "header: expected an object in JSON, got []"],
      "whose header is null": [file("null"), "header: expected an object in JSON, got null"],
      "whose header begins with a space": [
        file(" {}"),
        "header: expected an object in JSON, got an Object",
      ],
      "whose tensor is a number": [
        file({ a: 1 }),
        "a: expected { dtype, shape, data_offsets }, got 1",
      ],
      "with a type that is not known": [
        file({ a: entry("F8_E4M3", [1], 0, 1) }, [0]),
        'a: dtype: expected F64, F32, F16, BF16, I64, U64, I32, U32, I16, U16, I8, U8, BOOL, got "F8_E4M3"',
      ],
      "with no type": [
        file({ a: { shape: [], data_offsets: [0, 0] } }),
        "a: dtype: expected F64, F32, F16, BF16, I64, U64, I32, U32, I16, U16, I8, U8, BOOL, got undefined",
      ],
      "with a negative size": [
        file({ a: entry("U8", [-1], 0, 0) }),
        "a: shape: expected a list of whole numbers of 0 or more, got [-1]",
      ],
      "with a fraction for a size": [
        file({ a: entry("U8", [1.5], 0, 1) }, [0]),
        "a: shape: expected a list of whole numbers of 0 or more, got [1.5]",
      ],
      "with text for a shape": [
        file({ a: { ...entry("U8", [], 0, 1), shape: "1" } }, [0]),
        'a: shape: expected a list of whole numbers of 0 or more, got "1"',
      ],
      "with sizes beyond all numbers": [
        file({ a: entry("U8", [2 ** 40, 2 ** 40], 0, 0) }),
        "a: data_offsets: expected 1.2089258196146292e+24 bytes for uint8 [1099511627776, 1099511627776], got 0",
      ],
      "cut in its data": [
        file(good, eight),
        "b: data_offsets: expected [begin, end] within the 8 bytes of data, got [8, 9]",
      ],
      "with a place that ends before it begins": [
        file({ a: entry("U8", [1], 1, 0) }, [0]),
        "a: data_offsets: expected [begin, end] within the 1 bytes of data, got [1, 0]",
      ],
      "with a negative place": [
        file({ a: entry("U8", [1], -1, 0) }, [0]),
        "a: data_offsets: expected [begin, end] within the 1 bytes of data, got [-1, 0]",
      ],
      "with three ends": [
        file({ a: { ...entry("U8", [1], 0, 1), data_offsets: [0, 1, 1] } }, [0]),
        "a: data_offsets: expected [begin, end] within the 1 bytes of data, got [0, 1, 1]",
      ],
      "with a place of another size": [
        file({ a: entry("F32", [2], 0, 4) }, [0, 0, 0, 0]),
        "a: data_offsets: expected 8 bytes for float32 [2], got 4",
      ],
      "whose places overlap": [
        file({ a: entry("U8", [2], 0, 2), b: entry("U8", [2], 1, 3) }, [0, 0, 0]),
        "b: data_offsets: expected to begin at 2, got 1, an overlap",
      ],
      "with two tensors in one place": [
        file({ a: entry("U8", [1], 0, 1), b: entry("U8", [1], 0, 1) }, [0]),
        "b: data_offsets: expected to begin at 1, got 0, an overlap",
      ],
      "whose places leave a gap": [
        file({ a: entry("U8", [1], 0, 1), b: entry("U8", [1], 2, 3) }, [0, 0, 0]),
        "b: data_offsets: expected to begin at 1, got 2, a gap",
      ],
      "with data that belongs to nothing": [
        file(good, [...nine, 1]),
        "file: expected 9 bytes of data, got 10",
      ],
      "with a name twice": [
        file(
          '{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"\\u0061":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}',
        ),
        'header: expected each name once, got "\\u0061" twice',
      ],
      "with a type twice": [
        file('{"a":{"dtype":"U8","dtype":"I8","shape":[0],"data_offsets":[0,0]}}'),
        'header: expected each name once, got "dtype" twice',
      ],
      "with a bool that is neither": [
        file({ a: entry("BOOL", [2], 0, 2) }, [1, 2]),
        "a: data: expected bools, bytes of 0 or 1, got 2",
      ],
      "whose metadata is text": [
        file({ __metadata__: "x" }),
        '__metadata__: expected an object of texts, got "x"',
      ],
      "whose metadata has a number": [
        file({ __metadata__: { x: 1 } }),
        "__metadata__: x: expected text, got 1",
      ],
    }),
  )("%s", (_, [bytes, message]) => {
    const error = refusal(() => safetensors.read(bytes));
    expect(error.message).toBe(message);
    expect(error.code).toBe("format");
  });

  test.each([
    ["that is not JSON", file('{"a":')],
    ["that is not UTF-8", file("{}").map((byte, i) => (i === 9 ? 0xff : byte))],
  ])("with a header %s", (_, bytes) => {
    const error: HeedError = refusal(() => safetensors.read(bytes));
    expect(error.code).toBe("format");
    expect(error.message).toMatch(/^header: expected an object in JSON, got .+/);
  });

  test("or read, whichever byte of it is changed or missing", () => {
    const bytes = safetensors.write({
      a: { dtype: "float32", shape: [2, 2], data: Float32Array.of(1, 2, 3, 4) },
      b: { dtype: "bool", shape: [2], data: Uint8Array.of(0, 1) },
    });
    const read = (changed: Uint8Array) => {
      try {
        safetensors.read(changed);
        return true;
      } catch (error) {
        expect((error as HeedError).code).toBe("format");
        return false;
      }
    };
    const random = new Random(702);
    for (let at = 0; at < bytes.length; ++at) {
      expect(read(bytes.subarray(0, at))).toBe(false);
      read(bytes.map((byte, i) => (i === at ? random.whole(0, 255) : byte)));
    }
    expect(read(bytes)).toBe(true);
  });
});

describe("tensors that cannot be written are refused", () => {
  const write = safetensors.write as (tensors: unknown, metadata?: unknown) => Uint8Array;
  const data = Float32Array.of(1);
  test.each(
    Object.entries<[tensors: unknown, message: string, metadata?: unknown]>({
      "a type that is not known": [
        { a: { dtype: "float8", shape: [1], data } },
        'a: dtype: expected float64, float32, float16, bfloat16, int64, uint64, int32, uint32, int16, uint16, int8, uint8, bool, got "float8"',
      ],
      "numbers of another type": [
        { a: { dtype: "int32", shape: [1], data } },
        "a: data: expected an Int32Array for int32, got a Float32Array",
      ],
      "too few numbers": [
        { a: { dtype: "float32", shape: [2], data } },
        "a: data: expected 2 elements for [2], got 1",
      ],
      "no shape": [
        { a: { dtype: "float32", data } },
        "a: shape: expected a list of whole numbers of 0 or more, got undefined",
      ],
      "no tensor": [{ a: null }, "a: expected { dtype, shape, data }, got null"],
      "the metadata's name": [
        { __metadata__: { dtype: "float32", shape: [1], data } },
        'name: expected another than the metadata\'s, got "__metadata__"',
      ],
      "metadata that is no text": [{}, "__metadata__: epoch: expected text, got 3", { epoch: 3 }],
      "a bool that is neither": [
        { a: { dtype: "bool", shape: [1], data: Uint8Array.of(2) } },
        "a: data: expected bools, bytes of 0 or 1, got 2",
      ],
    }),
  )("%s", (_, [tensors, message, metadata]) => {
    const error = refusal(() => write(tensors, metadata));
    expect(error.message).toBe(message);
    expect(error.code).toBe("format");
  });
});
