// Where the engine's files are: beside this file in dist, and beside the bundle that it becomes part of. So
// it cannot move into a folder: its literal addresses would then point elsewhere in one of the two.

// Bundlers recognise a file by this form of its address, and copy it. A bundle of another format than ESM may
// have no `import.meta.url`: then this throws. In Next.js the result has only a path: see load/locate.ts.
export const ownAddresses = {
  "heed-simd.mjs": () => new URL("./heed-simd.mjs", import.meta.url),
  "heed-simd.wasm": () => new URL("./heed-simd.wasm", import.meta.url),
  "heed-relaxed.mjs": () => new URL("./heed-relaxed.mjs", import.meta.url),
  "heed-relaxed.wasm": () => new URL("./heed-relaxed.wasm", import.meta.url),
  "heed-wide.wasm": () => new URL("./heed-wide.wasm", import.meta.url),
};
