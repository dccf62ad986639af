// The maximum number of bytes of each part of the package, for the tests and for a release.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/**
 * Of the binaries, gzipped, because every visitor of a page downloads one. The second kernels of relaxed for products of
 * bytes take 3,200 bytes.
 */
export const binaries = { simd: 147_000, relaxed: 149_500, wide: 159_000 };

/** Of the whole archive that npm makes. The entries for pages, and the worker's script, repeat the modules: 260,000. */
export const archive = 1_520_000;

/**
 * Of the pictures, bundled, minified and gzipped: all elements, and a program that uses one of
 * them. All of them include the drawing of a matrix, its export, and the common code of the
 * elements.
 */
export const pictures = { all: 57_000, matrix: 23_300 };

/** Of each entry for pages without a bundler, the most files that a page fetches. */
export const pageFiles = { index: 5, nn: 6, models: 8, worker: 1, serve: 5, view: 2 };

/**
 * @param {string} file
 * @returns {number} its bytes gzipped
 */
export const gzipped = (file) => gzipSync(readFileSync(file), { level: 9 }).length;

/**
 * @param {string} program a module that imports from "heed"
 * @param {string} root the folder of the package
 * @returns {Promise<number>} its bytes as a bundle, minified and gzipped
 */
export async function bundleSize(program, root) {
  // A release measures sizes, too, and has no bundler.
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: root },
    ...{ bundle: true, minify: true, format: "esm", write: false, logLevel: "error" },
  });
  return gzipSync(outputFiles[0].contents, { level: 9 }).length;
}

/**
 * @param {string} dist the folder of the binaries
 * @returns {{ name: string, bytes: number, most: number }[]}
 */
export function binarySizes(dist) {
  return Object.entries(binaries).map(([variant, most]) => {
    const name = `heed-${variant}.wasm`;
    return { name, bytes: gzipped(join(dist, name)), most };
  });
}
