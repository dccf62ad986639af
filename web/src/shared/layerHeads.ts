/** The heads of a language model by layer and number, as text and in links. */
import type { Attention } from "./attended";
import { label } from "./pieces";

/** A head, counted from 0. */
export interface HeadPlace {
  readonly layer: number;
  readonly head: number;
}

/** The same as text, with layer and head counted from 1: "2.3". */
export type HeadKey = string;

export function headKey({ layer, head }: HeadPlace): HeadKey {
  return `${layer + 1}.${head + 1}`;
}

/** Null if the text is not a head. */
export function headPlaceOf(key: HeadKey): HeadPlace | null {
  const [, layer, head] = /^([1-9]\d?)\.([1-9]\d?)$/.exec(key) ?? [];
  return layer && head ? { layer: Number(layer) - 1, head: Number(head) - 1 } : null;
}

export function headName(key: HeadKey): string {
  const { layer, head } = headPlaceOf(key) as HeadPlace;
  return `layer ${layer + 1}, head ${head + 1}`;
}

/** Reads a head from a link. */
export function headFrom(text: string): HeadKey {
  if (!headPlaceOf(text)) throw new RangeError("a layer and a head, such as 2.3");
  return text;
}

/** One head over the tokens of a text. */
export function attentionOf(pieces: readonly string[], key: HeadKey, isCausal = true): Attention {
  const labels = pieces.map(label);
  const { layer } = headPlaceOf(key) as HeadPlace;
  return {
    ...{ path: key, name: isCausal ? "decoder" : "encoder", layer, heads: 1, isCausal },
    ...{ rows: labels, columns: labels },
  };
}
