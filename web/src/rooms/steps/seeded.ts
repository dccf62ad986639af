/**
 * Pseudo-random vectors that replace learned ones. They depend only on a text, so a word has the same vector in every
 * browser for the same seed. Only exact integer and double arithmetic is used, not `Math.log` or `Math.cos`, whose last
 * digit may differ.
 */

/** FNV-1a, 32 bits, over UTF-16 code units. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; ++i) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

/** A generator of 32-bit numbers: a Weyl sequence mixed by the finaliser of MurmurHash3. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  };
}

/** A permutation of 0 to `count` - 1 other than the identity (Fisher and Yates). */
export function seededOrder(key: string, count: number): number[] {
  const next = generator(hash(key));
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; --i) {
    const j = next() % (i + 1);
    [order[i], order[j]] = [order[j] as number, order[i] as number];
  }
  // Avoids the identity, which would show no effect.
  if (order.every((place, i) => place === i)) order.push(...order.splice(0, 1));
  return order;
}

/**
 * `count` numbers with mean 0 and the given standard deviation. Their distribution is close enough to normal: the sum
 * of four uniform numbers has variance 4/12.
 */
export function seededNumbers(key: string, count: number, deviation = 1): Float32Array {
  const next = generator(hash(key));
  const factor = (deviation * Math.sqrt(3)) / 2 ** 32;
  return Float32Array.from({ length: count }, () => {
    const sum = next() + next() + next() + next();
    return (sum - 2 ** 33) * factor;
  });
}
