import type { Attention } from "../files/attention.js";
import type { PageData } from "./document.js";

/** The mask of one of the attentions of a page. Attention to the tokens of an encoder has no mask. */
export function maskOf({ name, shape }: Pick<Attention, "name" | "shape">, { mask }: PageData) {
  const isOfDecoder = name === "attentions" || name === "decoder_attentions";
  return isOfDecoder && shape[2] === shape[3] ? mask : null;
}
