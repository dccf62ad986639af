// What is computed, on which numbers.

/**
 * Attention of H heads of size D, L queries on as many keys.
 * @typedef {{ name: string, H: number, L: number, D: number, isCausal: boolean, isSmall: boolean }} Case
 */

/** @returns {Case} */
function attention(H, L, D, { isCausal = false, isSmall = false } = {}) {
  const name = `H${H} L${L} D${D}${isCausal ? " causal" : ""}${isSmall ? " (one call)" : ""}`;
  return { name, H, L, D, isCausal, isSmall };
}

const overhead = attention(2, 5, 8, { isSmall: true });

const full = [
  attention(12, 512, 64),
  attention(12, 1024, 64),
  attention(12, 1024, 64, { isCausal: true }),
  attention(8, 4096, 64),
  overhead,
];

const quick = [attention(2, 128, 64), attention(2, 128, 64, { isCausal: true }), overhead];

export const casesFor = (options) => (options.quick ? quick : full);

/** Keys that a query sees. */
export const visibleKeys = (one, query) => (one.isCausal ? query + 1 : one.L);

/** Floating-point operations of the two products, for the pairs that are seen. */
export function operations(one) {
  const pairs = one.isCausal ? (one.L * (one.L + 1)) / 2 : one.L * one.L;
  return 4 * one.H * pairs * one.D;
}

/** Uniform numbers in [0, 1), the same ones on every run (mulberry32). */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Normally distributed q, k and v, [1, H, L, D] each. */
export function inputsOf(one) {
  const next = generator(1);
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const draw = () => Float32Array.from({ length: one.H * one.L * one.D }, normal);
  return { q: draw(), k: draw(), v: draw() };
}
