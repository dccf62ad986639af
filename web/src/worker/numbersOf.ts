import type { Tensor } from "heed";

/** Copies an array out of WebAssembly memory, which cannot be transferred and may move. */
export function numbersOf(tensor: Tensor): Float32Array<ArrayBuffer> {
  return tensor.data.slice() as Float32Array<ArrayBuffer>;
}
