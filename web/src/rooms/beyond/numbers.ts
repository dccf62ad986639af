import type { Tensor } from "heed";

/** Views on WebAssembly memory go stale and may not be transferred: what leaves the engine is a copy. */
export function numbersOf(tensor: Tensor): Float32Array<ArrayBuffer> {
  return tensor.data.slice() as Float32Array<ArrayBuffer>;
}
