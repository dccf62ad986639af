/** The heads of a model by layer and number, as text and in links. */
import type { SmallWeights } from "#parts";
import { type AttentionName, attentionNames } from "./attended";
import { missingIn } from "./linkReaders";

/** A head, counted from 0. */
export interface HeadPlace {
  /** In a model with an encoder and a decoder. */
  readonly name?: AttentionName;
  readonly layer: number;
  readonly head: number;
}

/** The same as text, with layer and head counted from 1: "2.3", or "cross.2.3". */
export type HeadKey = string;

export function headKey({ name, layer, head }: HeadPlace): HeadKey {
  return `${name ? `${name}.` : ""}${layer + 1}.${head + 1}`;
}

/** Null if the text is not a head. */
export function headPlaceOf(key: HeadKey): HeadPlace | null {
  const [, name, layer, head] =
    /^(?:(encoder|decoder|cross)\.)?([1-9]\d?)\.([1-9]\d?)$/.exec(key) ?? [];
  if (!layer || !head) return null;
  const place = { layer: Number(layer) - 1, head: Number(head) - 1 };
  return name ? { name: name as AttentionName, ...place } : place;
}

export function headName(key: HeadKey): string {
  const { name, layer, head } = headPlaceOf(key) as HeadPlace;
  return `${name ? `${attentionNames[name].prefix}, ` : ""}layer ${layer + 1}, head ${head + 1}`;
}

/** A head with its weights as a small picture, and its measures. */
export interface MeasuredHead<Measure extends string> {
  readonly key: HeadKey;
  readonly small: SmallWeights;
  readonly measures: Readonly<Record<Measure, number | null>>;
}

/** Reads a head from a link. */
export function headFrom(text: string): HeadKey {
  if (!headPlaceOf(text)) throw new RangeError("a layer and a head, such as 2.3");
  return text;
}

/** The notices about heads of a link that a model does not have. */
export const missingHeads = (
  named: Parameters<typeof missingIn>[0],
  has: (key: HeadKey) => boolean,
  wanted = "a head of this model",
): string[] => missingIn(named, has, wanted);
