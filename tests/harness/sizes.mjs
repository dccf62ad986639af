// The most bytes that each part of the package may have, for the tests and for a release.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/** Of the binaries, gzipped, because every visitor of a page downloads one. */
export const binaries = { simd: 151_000, relaxed: 151_000, wide: 161_000 };

/** Of the whole archive that npm makes. */
export const archive = 900_000;

/**
 * @param {string} dist the folder of the binaries
 * @returns {{ name: string, bytes: number, most: number }[]}
 */
export function binarySizes(dist) {
  return Object.entries(binaries).map(([variant, most]) => {
    const name = `heed-${variant}.wasm`;
    return { name, bytes: gzipSync(readFileSync(join(dist, name)), { level: 9 }).length, most };
  });
}
