// Where the engine's files are: beside this file in dist, and beside the bundle that it becomes part of. So
// it cannot move into a folder: its literal addresses would then point elsewhere in one of the two.

import type { Variant } from "./load/features.js";

// Bundlers recognise a file by this form of its address, and copy it. A bundle of another format than ESM may
// have no `import.meta.url`: then this throws.
export function ownAddresses(variant: Variant): { glue: URL; wasm: URL } {
  if (variant === "simd")
    return {
      glue: new URL("./heed-simd.mjs", import.meta.url),
      wasm: new URL("./heed-simd.wasm", import.meta.url),
    };
  return {
    glue: new URL("./heed-relaxed.mjs", import.meta.url),
    wasm:
      variant === "wide"
        ? new URL("./heed-wide.wasm", import.meta.url)
        : new URL("./heed-relaxed.wasm", import.meta.url),
  };
}
