/** Reads attention weights and tokens from files, such as files that Python wrote. */

import { describe, refuse } from "../../core/error.js";
import { readContent, tokensIn } from "./arrays.js";
import { allocate, type NumberArray } from "./numbers.js";

/** A file of the browser, or the bytes of a file with its name. */
export interface AttentionInput {
  /** The name of the file in messages. */
  readonly name: string;
  /** Its content. */
  readonly data: Blob | ArrayBuffer | Uint8Array;
}

/** The kind of attention: of one sequence to itself, or one of an encoder-decoder's three. */
export type AttentionName =
  | "attentions"
  | "encoder_attentions"
  | "decoder_attentions"
  | "cross_attentions";

/** The weights of all layers and heads. */
export interface Attention {
  /** The kind of attention: "attentions" unless the file belongs to an encoder-decoder. */
  readonly name: AttentionName;
  /** [layers, heads, queries, keys] */
  readonly shape: readonly [number, number, number, number];
  /** The weights in row-major order. Integers and doubles are rounded to float32. */
  readonly data: Float32Array;
  /** The tokens of the queries; null if no file has them. */
  readonly queries: readonly string[] | null;
  /** The tokens of the keys; null if no file has them. */
  readonly keys: readonly string[] | null;
}

/** The content of the files. */
export interface AttentionFiles {
  /** The weights; at least one entry. */
  readonly attentions: readonly Attention[];
  /** The names of arrays that are not attention weights. */
  readonly ignored: readonly string[];
}

const known: readonly AttentionName[] = [
  "attentions",
  "encoder_attentions",
  "decoder_attentions",
  "cross_attentions",
];

interface Named extends NumberArray {
  readonly name: string;
}

/** Groups arrays whose names differ only in a number, by the text before the number, in the order of the numbers. */
function grouped(arrays: ReadonlyMap<string, NumberArray>): Map<string, Named[]> {
  const groups = new Map<string, [number, Named][]>();
  for (const [name, array] of arrays) {
    const [, stem, number] = /^(.*?)[._-]?(\d+)$/s.exec(name) ?? [null, name, "0"];
    const members = groups.get(stem as string) ?? [];
    members.push([Number(number), { name, ...array }]);
    groups.set(stem as string, members);
  }
  const sorted = [...groups].map(([stem, members]): [string, Named[]] => {
    members.sort(([a], [b]) => a - b);
    const first = members[0]?.[0] as number;
    for (const [i, [number, { name }]] of members.entries())
      if (members.length > 1 && (number !== first + i || first > 1))
        throw refuse("format", "layers", "numbers from 0 or 1 on, each once", JSON.stringify(name));
    return [stem, members.map(([, member]) => member)];
  });
  return new Map(sorted);
}

type Sizes = readonly [number, number, number, number];

/** The shape of one layer, [H, L, S], possibly with a batch of one before or in place of its heads. */
function layerShape({ name, shape }: Named): Sizes {
  const sizes = shape.length === 4 && shape[0] === 1 ? shape.slice(1) : shape;
  if (sizes.length === 2) return [1, 1, ...sizes] as unknown as Sizes;
  if (sizes.length === 3) return [1, ...sizes] as unknown as Sizes;
  const what = shape.length === 4 ? "a batch of one, [1, heads, L, S]" : "[heads, L, S]";
  throw refuse("shape", name, what, describe(shape));
}

/** The shape of all layers in one array: [layers, H, L, S], with a batch of one after the layers, or one layer only. */
function wholeShape(array: Named): Sizes {
  const { name, shape } = array;
  if (shape.length === 4) return shape as unknown as Sizes;
  if (shape.length < 4 && shape.length > 1) return layerShape(array);
  if (shape.length === 5 && shape[1] === 1)
    return [shape[0], ...shape.slice(2)] as unknown as Sizes;
  const what =
    shape.length === 5 ? "a batch of one, [layers, 1, heads, L, S]" : "[layers, heads, L, S]";
  throw refuse("shape", name, what, describe(shape));
}

/** Joins the layers. */
function joined(members: readonly Named[]): { shape: Sizes; data: Float32Array } {
  const [first] = members as [Named];
  const shape = members.length === 1 ? wholeShape(first) : layerShape(first);
  if (shape.includes(0))
    throw refuse("shape", first.name, "at least one number", describe(first.shape));
  if (members.length === 1) return { shape, data: first.data };
  for (const member of members)
    if (describe(layerShape(member)) !== describe(shape)) {
      const expected = `${describe(first.shape)}, as ${first.name}`;
      throw refuse("shape", member.name, expected, describe(member.shape));
    }
  const data = allocate(first.name, members.length * first.data.length);
  for (const [i, member] of members.entries()) data.set(member.data, i * first.data.length);
  const [, heads, queries, keys] = shape;
  return { shape: [members.length, heads, queries, keys], data };
}

type Tokens = ReadonlyMap<string, readonly string[]>;

/** The tokens of the queries and the keys of an attention. */
function tokensOf(name: AttentionName, tokens: Tokens) {
  const side = (key: string, part: string) =>
    (name === "attentions" ? tokens.get(key) : tokens.get(part)) ?? tokens.get("tokens") ?? null;
  const query = name === "encoder_attentions" ? "encoder_tokens" : "decoder_tokens";
  const key = name === "decoder_attentions" ? "decoder_tokens" : "encoder_tokens";
  return { queries: side("queries", query), keys: side("keys", key) };
}

function checkCount(what: string, tokens: readonly string[] | null, count: number): void {
  if (tokens !== null && tokens.length !== count)
    throw refuse("shape", what, `${count} tokens, as the weights have`, `${tokens.length}`);
}

function attentionOf(name: AttentionName, members: readonly Named[], tokens: Tokens): Attention {
  const { shape, data } = joined(members);
  const { queries, keys } = tokensOf(name, tokens);
  const where = name === "attentions" ? "tokens" : `tokens of ${name}`;
  checkCount(`${where}: queries`, queries, shape[2]);
  checkCount(`${where}: keys`, keys, shape[3]);
  return { name, shape, data, queries, keys };
}

/** Finds attention weights among arrays by their names. */
function attentionsIn(arrays: ReadonlyMap<string, NumberArray>, tokens: Tokens): AttentionFiles {
  const groups = grouped(arrays);
  const namesOf = (members: readonly Named[]) => members.map(({ name }) => name);
  let found = known.flatMap((name) => {
    const members = groups.get(name);
    return members ? [{ name, members }] : [];
  });
  if (found.length === 0 && groups.size === 1)
    found = [{ name: "attentions", members: [...groups.values()].flat() }];
  if (found.length === 0) {
    const names = [...arrays.keys()];
    const got = names.length > 8 ? [...names.slice(0, 8), ".."] : names;
    const expected = "one array, one for each layer, or attentions by name";
    throw refuse("format", "weights", expected, names.length === 0 ? "none" : got.join(", "));
  }
  const used = new Set(found.flatMap(({ members }) => namesOf(members)));
  return {
    attentions: found.map(({ name, members }) => attentionOf(name, members, tokens)),
    ignored: [...arrays.keys()].filter((name) => !used.has(name)),
  };
}

const blobOf = (data: AttentionInput["data"]) =>
  data instanceof Blob ? data : new Blob([data as ArrayBuffer]);

/**
 * Reads attention weights from `.npy`, `.npz` or `.safetensors`, and their tokens from `.json`. The
 * format is detected from the content. The weights have one of two forms. One array is [layers,
 * heads, L, S], with or without a batch of one after the layers. An array for each layer is [heads,
 * L, S] or [1, heads, L, S], and its name ends with the layer's number. The files of an
 * encoder-decoder have `encoder_attentions`, `decoder_attentions` and `cross_attentions`. Tokens are
 * a list of texts, or an object with the lists `queries` and `keys`, or `encoder_tokens` and
 * `decoder_tokens`.
 *
 * The content of a file is not trusted: sizes, offsets and checksums are checked before numbers are
 * shown.
 *
 * @param files one file of weights, and at most one of tokens
 * @throws HeedError "format" for a broken file, "shape" for sizes that do not fit, "dtype" for
 *   values that are not numbers, "memory" for more numbers than the memory can hold, "load" for a
 *   file that can no longer be read
 * @example
 * ```ts
 * const weights = safetensors.write({ "layer.0": heed.tensor([[1, 0], [0.25, 0.75]]) });
 * const { attentions } = await readAttention([
 *   { name: "weights.safetensors", data: weights },
 *   { name: "tokens.json", data: new Blob(['["The", "cat"]']) },
 * ]);
 * console.log(attentions[0]?.shape, attentions[0]?.keys); // prints: [ 1, 1, 2, 2 ] [ 'The', 'cat' ]
 * ```
 */
export async function readAttention(
  files: Iterable<AttentionInput | File>,
): Promise<AttentionFiles> {
  let arrays: Map<string, NumberArray> | undefined;
  let tokens: Tokens = new Map();
  const names: string[] = [];
  if (!Object(files)[Symbol.iterator])
    throw refuse("option", "files", "a list of files", describe(files));
  for (const file of files) {
    const { name } = file;
    const content = await readContent(name, blobOf(file instanceof Blob ? file : file.data));
    names.push(name);
    if ("json" in content) {
      if (tokens.size > 0) throw refuse("format", "files", "one file of tokens", names.join(", "));
      tokens = tokensIn(name, content.json);
    } else {
      if (arrays) throw refuse("format", "files", "one file of weights", names.join(", "));
      arrays = content.arrays;
    }
  }
  if (!arrays) {
    const got = names.length === 0 ? "none" : names.join(", ");
    throw refuse("format", "files", "a file of weights (.npy, .npz or .safetensors)", got);
  }
  return attentionsIn(arrays, tokens);
}
