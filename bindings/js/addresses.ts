// The addresses of the engine's files: in the folder of this file in dist, or in the folder of the
// bundle that contains it. This file cannot move into a folder: its literal addresses would then be
// wrong in dist or in a bundle.

// Bundlers recognise a file by this form of its address, and copy the file. A bundle in another
// format than ESM may have no `import.meta.url`: these functions then throw. In Next.js the result
// has only a path: see load/locate.ts.
export const ownAddresses = {
  "heed-simd.mjs": () => new URL("./heed-simd.mjs", import.meta.url),
  "heed-simd.wasm": () => new URL("./heed-simd.wasm", import.meta.url),
  "heed-relaxed.mjs": () => new URL("./heed-relaxed.mjs", import.meta.url),
  "heed-relaxed.wasm": () => new URL("./heed-relaxed.wasm", import.meta.url),
  "heed-wide.wasm": () => new URL("./heed-wide.wasm", import.meta.url),
};
