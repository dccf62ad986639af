// Attention weights read from files: every format and type, every layout of layers, and files with false headers.

import * as fc from "fast-check";
import { HeedError } from "heed";
import { safetensors } from "heed/nn";
import { type AttentionInput, readAttention } from "heed/view";
import { describe, expect, test } from "vitest";
import { refusalOf } from "../engine.js";
import { joined, npy, npyText, npz, zip } from "../zipped.js";

const read = (...files: AttentionInput[]) => readAttention(files);
const file = (name: string, data: Uint8Array): AttentionInput => ({ name, data });
const json = (value: unknown) =>
  file("tokens.json", new TextEncoder().encode(JSON.stringify(value)));

/** Different numbers that 16 bits represent exactly. */
const numbers = (count: number, from = 0) =>
  Float32Array.from({ length: count }, (_, i) => ((i + from) % 120) / 8);

const one = async (...files: AttentionInput[]) => {
  const { attentions } = await read(...files);
  expect(attentions).toHaveLength(1);
  return attentions[0] as NonNullable<(typeof attentions)[0]>;
};

/** The code and the message of the error that refuses files. */
async function refusal(...files: AttentionInput[]): Promise<string> {
  const { code, message } = await refusalOf(read(...files));
  return `${code} | ${message}`;
}

test.each([undefined, null, 7, { name: "a.npy", data: new Uint8Array(4) }])(
  "%j, which is no list of files, is refused",
  async (files) => {
    const { code, message } = await refusalOf(readAttention(files as never));
    expect([code, message]).toEqual(["option", expect.stringMatching(/^files: expected a list/)]);
  },
);

describe("an array of NumPy", () => {
  const shape = [2, 3, 4, 5];
  const expected = numbers(120);
  const kinds = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"];

  test.each(kinds.flatMap((kind) => [`<${kind}`, `>${kind}`]))(
    "of %s in both orders",
    async (descr) => {
      const isWhole = !descr.includes("f");
      const values = isWhole ? expected.map((value) => value * 8) : expected;
      for (const fortran of [false, true])
        for (const version of [1, 2, 3]) {
          const bytes = npy(shape, values, { descr, fortran, version });
          const found = await one(file("attentions.npy", bytes));
          expect(found).toEqual({
            ...{ name: "attentions", shape, data: values, queries: null, keys: null },
          });
        }
    },
  );

  test("of booleans, as 0 and 1", async () => {
    const header = "{'descr': '|b1', 'fortran_order': False, 'shape': (2, 2), }";
    const { data } = await one(file("a.npy", npyText(header, Uint8Array.of(1, 0, 1, 1))));
    expect([...data]).toEqual([1, 0, 1, 1]);
    const wide = npyText(header.replace("b1", "b2"), new Uint8Array(8));
    expect(await refusal(file("a.npy", wide))).toMatch(/^dtype \| a.*: descr: .* got \|b2$/);
  });

  test("with halves of every kind: zero, subnormal, infinite, none", async () => {
    const values = [0, -0, 2 ** -24, -(2 ** -14), 65504, 1 / 1024];
    const { data } = await one(file("a.npy", npy([1, 6], values, { descr: "<f2" })));
    expect([...data]).toEqual(values);
    const odd = new Uint8Array(Uint16Array.of(0x7c00, 0xfc00, 0x7e00, 0x3555).buffer);
    const header = "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 2), }";
    expect([...(await one(file("a.npy", npyText(header, odd)))).data]).toEqual([
      ...[Infinity, -Infinity, NaN, 0.333251953125],
    ]);
  });

  test("from memory, an ArrayBuffer, a part of one, a Blob and a File", async () => {
    const bytes = npy(shape, expected);
    const moved = joined(new Uint8Array(3), bytes);
    const forms = [bytes, bytes.buffer, moved.subarray(3), new Blob([bytes])];
    for (const data of forms) expect((await one({ name: "a.npy", data })).data).toEqual(expected);
    const { attentions } = await readAttention([new File([bytes], "attentions.npy")]);
    expect(attentions[0]?.data).toEqual(expected);
  });

  test("that is larger than a piece, with numbers across pieces", async () => {
    const large = numbers(64 * 300 * 80, 5);
    const bytes = npy([64, 300, 80], large, { descr: ">f8" });
    const isSame = (found: Float32Array) => large.every((value, i) => value === found[i]);
    expect(isSame((await one(file("a.npy", bytes))).data)).toBe(true);
    const packed = npz({ a: npy([64, 300, 80], large) }, { deflate: true });
    expect(isSame((await one(file("a.npz", packed))).data)).toBe(true);
  });

  const body = new Uint8Array(16);
  test.each(
    Object.entries<[header: string, why: RegExp]>({
      "a type that has no numbers": [
        "{'descr': '|O', 'fortran_order': False, 'shape': (4,), }",
        /^dtype \| a: descr: .* Python objects$/,
      ],
      texts: ["{'descr': '<U4', 'fortran_order': False, 'shape': (1,), }", /^dtype \| a: descr/],
      "a structure": [
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,), }",
        /^dtype \| a: descr/,
      ],
      "a size that no float has": [
        "{'descr': '<f1', 'fortran_order': False, 'shape': (4,), }",
        /^dtype \| a: descr/,
      ],
      "more numbers than are there": [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
        /^format \| a: data: expected 24 bytes for \[2, 3\], got 16$/,
      ],
      fewer: [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }",
        /^format \| a: data: expected 12 bytes/,
      ],
      "sizes that nobody can count": [
        `{'descr': '<f4', 'fortran_order': False, 'shape': (${2 ** 50}, ${2 ** 50}), }`,
        /^shape \| a: shape: expected sizes that can be counted/,
      ],
      "sizes that cancel": [
        `{'descr': '<f4', 'fortran_order': False, 'shape': (${10 ** 20}, 0), }`,
        /^shape \| a: shape/,
      ],
      "a negative size": [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, -2), }",
        /^format \| a: header/,
      ],
      "an entry twice": [
        "{'descr': '<f4', 'descr': '<f8', 'shape': (4,), }",
        /^format \| a: header/,
      ],
      "an entry too many": [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), 'x': 'y'}",
        /^format \| a: header/,
      ],
      "no entry": ["{}", /^format \| a: header/],
      "a call": [
        "{'descr': '<f4', 'fortran_order': False, 'shape': exit(), }",
        /^format \| a: header/,
      ],
    }),
  )("refuses a header with %s", async (_, [header, why]) => {
    expect(await refusal(file("a", npyText(header, body)))).toMatch(why);
  });

  test("refuses what is cut off anywhere, and other versions", async () => {
    const bytes = npy([2, 2], [1, 2, 3, 4]);
    for (let end = 0; end < bytes.length; ++end)
      expect(await refusal(file("a", bytes.subarray(0, end)))).toMatch(/^format \| a/);
    expect(await refusal(file("a", joined(bytes, bytes)))).toMatch(/^format \| a: data/);
    const later = bytes.slice();
    later[6] = 4;
    expect(await refusal(file("a", later))).toBe("format | a: version: expected 1, 2 or 3, got 4");
    expect(await refusal(file("a", npyText(" ".repeat(70_000), new Uint8Array(0), 2)))).toMatch(
      /^format \| a: header: expected at most 65536 bytes, got 7\d{4}$/,
    );
  });

  test.each([
    ["spaces", `{${" ".repeat(65_000)}x`],
    ["spaces in its shape", `{'descr': '<f4', 'shape': (4${" ".repeat(65_000)}x)}`],
    ["spaces before an end that is none", `{'descr': '<f4',${" }".repeat(30_000)}]`],
    ["sizes", `{'descr': '<f4', 'fortran_order': False, 'shape': (${"1, ".repeat(20_000)}x)}`],
  ])("refuses a header with thousands of %s soon", async (_, header) => {
    const start = performance.now();
    expect(await refusal(file("a", npyText(header, body, 2)))).toMatch(/^format \| a: header/);
    expect(performance.now() - start).toBeLessThan(500);
  });

  test.each(["(4 4)", "(,)", "(4,,)", "[4]", "'4'"])("refuses the shape %s", async (shape) => {
    const header = `{'descr': '<f4', 'fortran_order': False, 'shape': ${shape}, }`;
    expect(await refusal(file("a", npyText(header, body)))).toMatch(/^format \| a: header/);
  });

  test("takes a header of another hand", async () => {
    const header = `{"shape":(1L, 2L,2),"descr":"=f4","fortran_order":False}`;
    const { shape, data } = await one(file("a", npyText(header, body)));
    expect({ shape, data }).toEqual({ shape: [1, 1, 2, 2], data: new Float32Array(4) });
  });
});

describe("an .npz", () => {
  const layers = Array.from({ length: 12 }, (_, i) => numbers(18, i));
  const arrays = (stem: string, shape: readonly number[]) =>
    Object.fromEntries(
      layers.map((data, i) => [`${stem}${i}`, npy(shape, data)] as const).reverse(),
    );

  test.each([{}, { deflate: true }, { is64: true }, { deflate: true, is64: true }])(
    "%j gives the layers in the order of their numbers",
    async (options) => {
      for (const stem of ["attentions.", "layer_", "arr_", "layer"])
        for (const shape of [
          [2, 3, 3],
          [1, 2, 3, 3],
        ]) {
          const found = await one(file("a.npz", npz(arrays(stem, shape), options)));
          expect(found.shape).toEqual([12, 2, 3, 3]);
          expect([...found.data]).toEqual(layers.flatMap((data) => [...data]));
        }
    },
  );

  test("with one array of all layers, one layer, or one head", async () => {
    const data = numbers(24);
    const shapes = {
      "2,3,2,2": [2, 3, 2, 2],
      "2,1,3,2,2": [2, 3, 2, 2],
      "6,2,2": [1, 6, 2, 2],
      "4,6": [1, 1, 4, 6],
    };
    for (const [given, shape] of Object.entries(shapes)) {
      const bytes = npz({ arr_0: npy(given.split(",").map(Number), data) });
      expect(await one(file("a.npz", bytes))).toMatchObject({ shape, data });
    }
  });

  test("with a comment, and with arrays that are no weights", async () => {
    const bytes = zip(
      [
        { name: "attentions.npy", bytes: npy([1, 1, 2, 2], [1, 0, 0.5, 0.5]) },
        { name: "input_ids.npy", bytes: npy([2], [7, 8], { descr: "<i8" }) },
        { name: "__proto__.npy", bytes: npy([1], [7]), deflate: true },
      ],
      { comment: "PK\x05\x06 made here" },
    );
    const { attentions, ignored } = await read(file("a.npz", bytes));
    expect(attentions[0]?.data).toEqual(Float32Array.of(1, 0, 0.5, 0.5));
    expect(ignored).toEqual(["input_ids", "__proto__"]);
    expect(({} as { x?: unknown }).x).toBeUndefined();
    expect(await one(file("a.npz", npz({ ["__proto__"]: npy([1, 1], [4]) })))).toMatchObject({
      shape: [1, 1, 1, 1],
    });
  });

  const array = npy([2, 2], [1, 2, 3, 4]);
  const entry = { name: "a.npy", bytes: array };
  const other = { name: "b.npy", bytes: array };
  test.each(
    Object.entries<[Uint8Array, RegExp]>({
      "a wrong checksum": [
        zip([{ ...entry, crc: 1 }]),
        /^format \| zip: a\.npy: expected the bytes of its checksum/,
      ],
      "a wrong checksum, deflated": [
        zip([{ ...entry, crc: 1, deflate: true }]),
        /^format \| zip: a\.npy: expected the bytes of its checksum/,
      ],
      "a size that its bytes do not have": [
        zip([{ ...entry, size: 200, deflate: true }]),
        /^format \| a: data: expected 16 bytes for \[2, 2\], got 72$/,
      ],
      "less than there is": [
        zip([{ ...entry, size: array.length - 8, deflate: true }]),
        /^format \| (a: data: expected 16 bytes for \[2, 2\], got 8|zip: a\.npy: expected 136 bytes, got more)$/,
      ],
      "a stored size that differs": [
        zip([{ ...entry, size: 145 }]),
        /^format \| zip: a\.npy: expected at most 144 bytes in 144, got 145$/,
      ],
      "a ratio that deflate cannot reach": [
        zip([{ ...entry, size: 2 ** 31, deflate: true }]),
        /^format \| zip: a\.npy: expected at most \d+ bytes in \d+, got 2147483648$/,
      ],
      "entries that overlap": [
        zip([entry, { ...other, offset: 20 }]),
        /^format \| zip: a\.npy: expected an end at byte 20/,
      ],
      "an entry in the directory": [
        zip([{ ...entry, offset: 40 }]),
        /^format \| zip: a\.npy: expected an end at byte 179/,
      ],
      "an entry that is another": [
        zip([{ ...entry, localName: "c.npy" }]),
        /^format \| zip: a\.npy: expected its header at byte 0, got other bytes$/,
      ],
      "an entry that begins too late": [
        zip([{ ...entry, localExtra: 900 }]),
        /^format \| zip: a\.npy: expected an end at byte 179/,
      ],
      "a password": [zip([{ ...entry, flags: 1 }]), /^format \| zip: a\.npy: expected no password/],
      "another method": [
        zip([{ ...entry, method: 14 }]),
        /^format \| zip: a\.npy: expected stored or deflated bytes, got method 14$/,
      ],
      "bytes that are not deflated": [
        zip([{ ...entry, bytes: new Uint8Array(80).fill(255), method: 8 }]),
        /^format \| zip: a\.npy: expected deflated bytes, got others$/,
      ],
      "a name twice": [
        zip([entry, entry]),
        /^format \| zip: expected each name once, got "a\.npy" twice$/,
      ],
      "fewer entries than it says": [
        zip([entry], { count: 3 }),
        /^format \| zip: directory: expected 3 entries/,
      ],
      "many entries that are not there": [
        zip([entry], { count: 60_000 }),
        /^format \| zip: directory/,
      ],
      "no entry": [zip([]), /^format \| weights: expected .*, got none$/],
      "a file that is no array": [
        zip([{ name: "readme.txt", bytes: array }]),
        /^format \| zip: expected arrays of numpy\.savez, got "readme\.txt"$/,
      ],
      "what torch.save wrote": [
        zip([{ name: "archive/data.pkl", bytes: array }]),
        /^format \| file: expected arrays of numpy\.savez, got a file of torch\.save$/,
      ],
      "arrays of no order": [
        npz({ mean: array, deviation: array }),
        /^format \| weights: expected .*, got mean, deviation$/,
      ],
      "a layer that is missing": [
        npz({ layer_0: array, layer_2: array }),
        /^format \| layers: expected numbers from 0 or 1 on, each once, got "layer_2"$/,
      ],
      "a layer twice": [
        npz({ layer_0: array, layer_1: array, "layer.1": array }),
        /^format \| layers/,
      ],
      "a layer of another shape": [
        npz({ layer_0: array, layer_1: npy([1, 4], [1, 2, 3, 4]) }),
        /^shape \| layer_1: expected \[2, 2\], as layer_0, got \[1, 4\]$/,
      ],
      "a batch of two": [
        npz({ layer_0: npy([2, 1, 2, 2], numbers(8)), layer_1: npy([2, 1, 2, 2], numbers(8)) }),
        /^shape \| layer_0: expected a batch of one, \[1, heads, L, S\], got \[2, 1, 2, 2\]$/,
      ],
      "batches of two": [
        npz({ a: npy([2, 2, 1, 2, 2], numbers(16)) }),
        /^shape \| a: expected a batch of one, \[layers, 1, heads, L, S\]/,
      ],
      "too few axes": [npz({ a: npy([4], numbers(4)) }), /^shape \| a/],
      "no number": [
        npz({ a: npy([2, 0, 3], []) }),
        /^shape \| a: expected at least one number, got \[2, 0, 3\]$/,
      ],
    }),
  )("refuses %s", async (_, [bytes, why]) => {
    expect(await refusal(file("a.npz", bytes))).toMatch(why);
  });

  test("refuses what is cut off anywhere", async () => {
    for (const is64 of [false, true]) {
      const bytes = npz({ a: array, b: array }, { is64, deflate: true });
      for (let end = 0; end < bytes.length; ++end)
        expect(await refusal(file("a.npz", bytes.subarray(0, end)))).toMatch(/^format \| /);
    }
  });

  test("inflates no more than an entry says, however much is there", async () => {
    // The file inflates to 3 MB of zeros more than the directory declares.
    const block = new Uint8Array(2 ** 20);
    const bomb = zip([
      {
        name: "a.npy",
        bytes: joined(array, block, block, block),
        deflate: true,
        size: array.length,
      },
    ]);
    expect(await refusal(file("a.npz", bomb))).toMatch(
      /^format \| (a|zip: a\.npy): expected \d+ bytes/,
    );
    // If the directory declares the full size, the header is refused, because its shape does not fit the data.
    const zeros = npyText("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", block);
    expect(await refusal(file("a.npz", npz({ a: zeros }, { deflate: true })))).toMatch(
      /^format \| a: data: expected 16 bytes for \[2, 2\], got 1048576$/,
    );
  });
});

describe("safetensors", () => {
  test("of every type of numbers, in layers and whole", async () => {
    const data = numbers(18);
    const tensors = {
      "attentions.0": { dtype: "float32", shape: [1, 2, 3, 3], data },
      "attentions.1": {
        ...({ dtype: "bfloat16", shape: [2, 3, 3] } as const),
        data: Uint16Array.from(new Uint32Array(data.buffer), (bits) => bits >>> 16),
      },
      "attentions.2": {
        dtype: "int64",
        shape: [2, 3, 3],
        data: BigInt64Array.from(data, (x) => BigInt(8 * x)),
      },
    } as const;
    const found = await one(file("a.safetensors", safetensors.write(tensors)));
    expect(found.shape).toEqual([3, 2, 3, 3]);
    expect([...found.data]).toEqual([...data, ...data, ...data.map((x) => 8 * x)]);
  });

  test("refuses truth values and headers that lie", async () => {
    const bool = { dtype: "bool", shape: [1, 1], data: Uint8Array.of(1) } as const;
    expect(await refusal(file("a", safetensors.write({ a: bool })))).toBe(
      "dtype | a: expected numbers, got bool",
    );
    const bytes = safetensors.write({ a: { dtype: "float32", shape: [2, 2], data: numbers(4) } });
    for (let end = 0; end < bytes.length; ++end)
      expect(await refusal(file("a", bytes.subarray(0, end)))).toMatch(/^format \| /);
  });
});

describe("tokens", () => {
  const square = file("a.npy", npy([1, 2, 2], [1, 0, 0.5, 0.5]));
  const wide = file("a.npy", npy([1, 2, 3], numbers(6)));

  test("are a list, or one for queries and one for keys", async () => {
    expect(await one(square, json(["a", "b"]))).toMatchObject({
      queries: ["a", "b"],
      keys: ["a", "b"],
    });
    expect(await one(json({ queries: ["a", "b"], keys: ["x", "y", "z"] }), wide)).toMatchObject({
      ...{ queries: ["a", "b"], keys: ["x", "y", "z"] },
    });
    expect(await one(json({ tokens: ["a", "b"] }), square)).toMatchObject({ keys: ["a", "b"] });
  });

  test("of an encoder-decoder go to its three attentions", async () => {
    const weights = npz({
      ...{ encoder_attentions: npy([2, 1, 2, 3, 3], numbers(36)) },
      ...{ decoder_attentions_0: npy([2, 2, 2], numbers(8)) },
      ...{ decoder_attentions_1: npy([2, 2, 2], numbers(8)) },
      cross_attentions: npy([2, 2, 2, 3], numbers(24)),
    });
    const [encoder_tokens, decoder_tokens] = [
      ["le", "chat", "noir"],
      ["the", "cat"],
    ];
    const { attentions } = await read(
      file("a.npz", weights),
      json({ encoder_tokens, decoder_tokens }),
    );
    expect(
      attentions.map(({ name, shape, queries, keys }) => ({ name, shape, queries, keys })),
    ).toEqual([
      {
        name: "encoder_attentions",
        shape: [2, 2, 3, 3],
        queries: encoder_tokens,
        keys: encoder_tokens,
      },
      {
        name: "decoder_attentions",
        shape: [2, 2, 2, 2],
        queries: decoder_tokens,
        keys: decoder_tokens,
      },
      {
        name: "cross_attentions",
        shape: [2, 2, 2, 3],
        queries: decoder_tokens,
        keys: encoder_tokens,
      },
    ]);
  });

  test.each<[string, unknown, RegExp]>([
    ["too few", ["a"], /^shape \| tokens: queries: expected 2 tokens, as the weights have, got 1$/],
    ["numbers", [1, 2], /^format \| tokens\.json: tokens: expected a list of texts, got \[1, 2\]$/],
    [
      "names of another kind",
      { words: ["a", "b"] },
      /^format \| tokens\.json: expected a list, or an object of .*, got "words"$/,
    ],
    [
      "no list",
      { tokens: "ab" },
      /^format \| tokens\.json: tokens: expected a list of texts, got "ab"$/,
    ],
  ])("are refused if they are %s", async (_, value, why) => {
    expect(await refusal(square, json(value))).toMatch(why);
    const odd = file("t.json", new TextEncoder().encode('{"__proto__": ["a", "b"]}'));
    expect(await refusal(square, odd)).toMatch(/^format \| t\.json: .*, got "__proto__"$/);
  });

  test("files are refused if there are too many, none, or of no kind", async () => {
    expect(await refusal()).toMatch(/^format \| files: expected a file of weights .*, got none$/);
    expect(await refusal(json(["a"]))).toMatch(/got tokens\.json$/);
    expect(await refusal(square, square)).toBe(
      "format | files: expected one file of weights, got a.npy, a.npy",
    );
    expect(await refusal(square, json(["a", "b"]), json(["a", "b"]))).toMatch(/one file of tokens/);
    expect(await refusal(file("a.pt", Uint8Array.of(1, 2, 3)))).toMatch(
      /^format \| a\.pt: .*, got other bytes$/,
    );
    expect(await refusal(file("a", new Uint8Array(0)))).toMatch(
      /^format \| a: .*, got an empty file$/,
    );
    expect(await refusal(square, file("t", new TextEncoder().encode('["a",')))).toMatch(
      /^format \| t: expected JSON, got /,
    );
  });
});

describe("files that were changed at random", () => {
  const array = npy([2, 2, 3, 3], numbers(36), { descr: "<f2" });
  const tensors = { a: { dtype: "float32", shape: [2, 3, 3], data: numbers(18) } } as const;
  const files = [
    array,
    npy([2, 3, 3], numbers(18), { fortran: true, version: 2 }),
    npz({ layer_0: array.slice(), layer_1: npy([2, 2, 3, 3], numbers(36)) }),
    npz({ attentions: array }, { deflate: true, is64: true }),
    safetensors.write(tensors),
  ];
  const change = fc.record({
    at: fc.nat(999),
    kind: fc.constantFrom("set", "cut", "insert", "fill"),
    value: fc.oneof(fc.constantFrom(0, 1, 127, 128, 255), fc.nat(255)),
  });

  test("are read, or refused by a HeedError", { timeout: 120_000 }, async () => {
    let refused = 0;
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...files),
        fc.array(change, { minLength: 1, maxLength: 4 }),
        async (whole, changes) => {
          let bytes: Uint8Array = whole.slice();
          for (const { at, kind, value } of changes) {
            const place = Math.floor((at / 1000) * bytes.length);
            if (kind === "set") bytes[place] = value;
            else if (kind === "cut") bytes = bytes.slice(0, place);
            else if (kind === "fill") bytes.fill(value, place, place + 4);
            else
              bytes = joined(bytes.subarray(0, place), Uint8Array.of(value), bytes.subarray(place));
          }
          try {
            const { attentions } = await read(file("a", bytes));
            for (const { shape, data } of attentions)
              expect(data.length).toBe(shape.reduce((a, b) => a * b, 1));
            ++accepted;
          } catch (error) {
            if (!(error instanceof HeedError)) throw error;
            ++refused;
          }
        },
      ),
      { numRuns: 3000, seed: 19 },
    );
    // Both must happen, or the changes would test nothing.
    expect(Math.min(refused, accepted)).toBeGreaterThan(100);
  });
});
