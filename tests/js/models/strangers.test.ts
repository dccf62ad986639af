// Files from strangers: valid files with bytes changed, cut off or added, and JSON with members changed, removed, repeated
// or named as what every object inherits. Each file is read or refused with a typed error, no object is left behind,
// and no prototype is changed.

import * as fc from "fast-check";
import { HeedError } from "heed";
import { ByteTokenizer, loadModel, loadTokenizer, type ModelFiles, saveModel } from "heed/models";
import { safetensors } from "heed/nn";
import { afterEach, describe, expect, test } from "vitest";
import { bert, type Checkpoint, filesOf, gpt2, jsonOf, llama, vit } from "../checkpoints.js";
import { engine } from "../engine.js";
import { tinyModel } from "../tiny_training.js";

const seed = 18;

/** A change of some bytes. */
const damage = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("flip"), at: fc.nat(), bits: fc.integer({ min: 1, max: 255 }) }),
    fc.record({ kind: fc.constant("cut"), at: fc.nat(), bits: fc.integer({ min: 1, max: 40 }) }),
    fc.record({ kind: fc.constant("insert"), at: fc.nat(), bits: fc.nat(255) }),
  ),
  { minLength: 1, maxLength: 4 },
);

function damaged(
  bytes: Uint8Array,
  changes: readonly { kind: string; at: number; bits: number }[],
) {
  const all = [...bytes];
  for (const { kind, at, bits } of changes) {
    const place = at % Math.max(1, all.length);
    if (kind === "flip") all[place] = (all[place] ?? 0) ^ bits;
    else if (kind === "cut") all.splice(place, bits > 30 ? all.length : bits);
    else all.splice(place, 0, bits);
  }
  return Uint8Array.from(all);
}

/** Unusual values that a file may have in JSON. */
const values = [
  ...[
    "null",
    "true",
    "-1",
    "0",
    "1",
    "0.5",
    "1e400",
    "-0",
    "2147483648",
    "4294967296",
    "1099511627776",
  ],
  ...[
    "9007199254740991",
    "9007199254740993",
    "18446744073709551616",
    "1e-320",
    '""',
    '"x"',
    "[]",
    "{}",
  ],
  ...['{"__proto__":{"isAdmin":true}}', '{"constructor":{"prototype":{"isAdmin":true}}}', "[null]"],
  ...["[0,9007199254740992]", "[4294967296,4294967296]", "[1,0]", "[-1]", '"__proto__"', '"F32"'],
  ...[
    '"constructor"',
    '"toString"',
    `${"[".repeat(3000)}${"]".repeat(3000)}`,
    `"${"a".repeat(3000)}"`,
  ],
  `${'{"a":'.repeat(3000)}1${"}".repeat(3000)}`,
];
const names = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "length", ""];

/** A change of a text in JSON: a value is replaced, or a member added, repeated, renamed or removed. */
const edit = fc.record({
  kind: fc.constantFrom("replace", "replace", "add", "repeat", "rename", "remove"),
  at: fc.nat(),
  value: fc.constantFrom(...values),
  name: fc.constantFrom(...names),
});
const edits = fc.array(edit, { minLength: 1, maxLength: 3 });

/** Members of JSON whose value is a scalar or a short list: the name, and the value. */
const member =
  /"((?:[^"\\]|\\.)*)"\s*:\s*("(?:[^"\\]|\\.)*"|\[[^[\]{}]*\]|-?[\d.eE+-]+|true|false|null)/g;

function edited(
  json: string,
  changes: readonly { kind: string; at: number; value: string; name: string }[],
) {
  let text = json;
  for (const { kind, at, value, name } of changes) {
    const found = [...text.matchAll(member)];
    const chosen = found[at % Math.max(1, found.length)];
    if (chosen === undefined) continue;
    const [whole, key, old] = chosen as unknown as [string, string, string];
    const pair = (key: string, value: string) => `${JSON.stringify(key)}:${value}`;
    const becomes = {
      replace: pair(key, value),
      add: `${whole},${pair(name, value)}`,
      repeat: `${whole},${pair(key, value)}`,
      rename: pair(name, old),
      remove: pair("removed", "0"),
    }[kind];
    text = text.slice(0, chosen.index) + becomes + text.slice(chosen.index + whole.length);
  }
  return text;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A safetensors file with another header. */
function withHeader(file: Uint8Array, change: (header: string) => string): Uint8Array {
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const header = encoder.encode(change(decoder.decode(file.subarray(8, 8 + length))));
  const changed = new Uint8Array(8 + header.length + file.length - 8 - length);
  new DataView(changed.buffer).setBigUint64(0, BigInt(header.length), true);
  changed.set(header, 8);
  changed.set(file.subarray(8 + length), 8 + header.length);
  return changed;
}

/** Expects a typed error about the content of a file. */
function expectRefusal(error: unknown): void {
  if (!(error instanceof HeedError)) throw error;
  if (!["format", "load"].includes(error.code) || !/: expected .+, got .+/s.test(error.message))
    expect.fail(`${error.code}, ${error.message}`);
}

afterEach(() => {
  // A prototype that a file has changed would show it in each object.
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as Record<string, unknown>).isAdmin).toBeUndefined();
  expect(Object.getOwnPropertyNames(Object.prototype).length).toBe(12);
});

describe("a safetensors file", () => {
  const file = safetensors.write(
    {
      "a.weight": { dtype: "float32", shape: [2, 3], data: new Float32Array(6).fill(1) },
      "b.bias": { dtype: "float16", shape: [3], data: new Uint16Array(3) },
      c: { dtype: "bool", shape: [2], data: Uint8Array.of(0, 1) },
      d: { dtype: "int64", shape: [1], data: BigInt64Array.of(7n) },
    },
    { made: "here" },
  );

  /** Reads a file. All data that it returns must be in the file. */
  function read(bytes: Uint8Array): void {
    try {
      for (const { data, shape } of Object.values(safetensors.read(bytes).tensors)) {
        expect(data.length).toBe(shape.reduce((product, size) => product * size, 1));
        expect(data.byteLength).toBeLessThanOrEqual(bytes.length);
      }
    } catch (error) {
      expectRefusal(error);
    }
  }

  test("with damaged bytes is refused or read", () => {
    const property = fc.property(damage, (changes) => read(damaged(file, changes)));
    fc.assert(property, { seed, numRuns: 1500 });
  });

  test("with an edited header is refused or read", () => {
    const property = fc.property(edits, (changes) =>
      read(withHeader(file, (header) => edited(header, changes))),
    );
    fc.assert(property, { seed, numRuns: 1500 });
  });

  test("may name tensors and metadata as what every object inherits", () => {
    const bytes = withHeader(
      safetensors.write({}),
      () =>
        '{"__metadata__":{"__proto__":"p","constructor":"c"},' +
        '"__proto__":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},' +
        '"constructor":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"__proto__":{"isAdmin":true}}}',
    );
    const { tensors, metadata } = safetensors.read(bytes);
    expect(Object.keys(tensors)).toEqual(["__proto__", "constructor"]);
    expect(Object.entries(metadata)).toEqual([
      ["__proto__", "p"],
      ["constructor", "c"],
    ]);
    expect(Object.getPrototypeOf(tensors)).toBe(Object.prototype);
  });
});

describe("a model of the hub", () => {
  const MiB = 2 ** 20;
  const heed = engine({ threads: 1, maxMemory: 32 * MiB });
  const checkpoints: Readonly<Record<string, Checkpoint>> = {
    ...{ gpt2: gpt2(), llama: llama(), bert: bert("bert"), roberta: bert("roberta") },
    vit: vit("ViTModel"),
  };
  const model = fc.constantFrom(...Object.keys(checkpoints));

  async function open(files: Record<string, Uint8Array>): Promise<void> {
    try {
      (await loadModel(heed(), files)).dispose();
    } catch (error) {
      expectRefusal(error);
    }
    expect(heed().memory().tensors.count).toBe(0);
    expect(heed().memory().packedWeights.count).toBe(0);
  }

  test("with an edited config is refused or loaded", async () => {
    const property = fc.asyncProperty(model, edits, async (name, changes) => {
      const { config, tensors } = checkpoints[name] as Checkpoint;
      const files = filesOf({ config, tensors });
      const json = edited(JSON.stringify(config), changes);
      await open({ ...files, "config.json": encoder.encode(json) });
    });
    await fc.assert(property, { seed, numRuns: 400 });
  });

  test("with damaged weights is refused or loaded", async () => {
    const property = fc.asyncProperty(
      model,
      damage,
      edits,
      fc.boolean(),
      async (name, d, e, isDeep) => {
        const files = filesOf(checkpoints[name] as Checkpoint);
        const weights = files["model.safetensors"] as Uint8Array;
        const changed = isDeep
          ? damaged(weights, d)
          : withHeader(weights, (text) => edited(text, e));
        await open({ ...files, "model.safetensors": changed });
      },
    );
    await fc.assert(property, { seed, numRuns: 150 });
  });

  test("finds out quickly which of 36,000 tensors are missing among 20,000 others", async () => {
    const { config } = llama();
    const tensors = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, i) => [
        `other.${i}`,
        { data: new Float32Array(0), shape: [0] },
      ]),
    );
    const files = filesOf({ config: { ...config, num_hidden_layers: 4096 }, tensors });
    const refused = loadModel(heed(), files);
    await expect(refused).rejects.toThrow(/36\d{3} missing: embed_tokens.weight/);
  }, 40_000);
});

describe("a model of a task", () => {
  const heed = engine({ threads: 1, maxMemory: 32 * 2 ** 20 });

  test("with edited or damaged files is refused or loaded", () => {
    const { config, weights } = saveModel(tinyModel(heed()));
    const before = heed().memory().tensors.count;
    const open = (files: ModelFiles) => {
      try {
        loadModel(heed(), files).dispose();
      } catch (error) {
        expectRefusal(error);
      }
      expect(heed().memory().tensors.count).toBe(before);
    };
    const property = fc.property(edits, damage, fc.boolean(), (e, d, isConfig) =>
      open(
        isConfig
          ? { config: edited(config, e), weights }
          : { config, weights: damaged(weights, d) },
      ),
    );
    fc.assert(property, { seed, numRuns: 400 });
  });
});

describe("a tokenizer", () => {
  test("of Heed's own is refused or read", () => {
    const text = "the cat sat on the mat, the dog on the log";
    const json = ByteTokenizer.learn([text], 262).toFile();
    const property = fc.property(edits, damage, fc.boolean(), (e, d, isText) => {
      const changed = isText ? edited(json, e) : decoder.decode(damaged(encoder.encode(json), d));
      try {
        const read = ByteTokenizer.fromFile(changed);
        expect(read.decode(read.encode(text).ids)).toBe(text);
        expect(ByteTokenizer.fromFile(read.toFile()).tokens).toEqual(read.tokens);
      } catch (error) {
        expectRefusal(error);
      }
    });
    fc.assert(property, { seed, numRuns: 300 });
  });

  test("whose class throws anything is refused", async () => {
    for (const thrown of [new TypeError("no model"), "a text", undefined, Object.create(null)]) {
      class Broken {
        constructor() {
          throw thrown;
        }
      }
      const files = { "tokenizer.json": jsonOf({}) };
      await loadTokenizer(files, Broken as never).then(
        () => expect.fail("expected a HeedError, but the call went through"),
        expectRefusal,
      );
    }
  });
});
