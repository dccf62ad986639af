/** Describes the attention weights of files in words. */

import type { Attention, AttentionName } from "./attention.js";

/** The title of each kind of attention. */
export const attentionTitles: Readonly<Record<AttentionName, string>> = {
  attentions: "Attention",
  encoder_attentions: "The encoder’s attention",
  decoder_attentions: "The decoder’s attention",
  cross_attentions: "The decoder’s attention to the encoder",
};

const many = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;

/** The sizes in words: "12 layers, 12 heads each, 37 tokens". */
export function attentionSizes({ shape }: Attention): string {
  const [layers, heads, queries, keys] = shape;
  const tokens =
    queries === keys
      ? many(queries, "token")
      : `${many(queries, "query token")}, ${many(keys, "key token")}`;
  return `${many(layers, "layer")}, ${many(heads, "head")} each, ${tokens}`;
}
