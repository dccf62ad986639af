import type { Attention } from "../files/attention.js";
import type { PageData } from "./document.js";

/** The mask of one of the attentions of a page: what attends to an encoder's tokens sees all of them. */
export function maskOf({ name, shape }: Pick<Attention, "name" | "shape">, { mask }: PageData) {
  const isOfDecoder = name === "attentions" || name === "decoder_attentions";
  return isOfDecoder && shape[2] === shape[3] ? mask : null;
}
