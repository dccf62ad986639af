// Hashes of texts and bytes.

/** The 32-bit FNV-1a hash (Fowler, Noll and Vo, 1991) with the finalizer of MurmurHash3 (Appleby, 2011). */
export function hashOf(data: string | Uint8Array): number {
  let h = 0x811c9dc5;
  for (const byte of typeof data === "string" ? new TextEncoder().encode(data) : data)
    h = Math.imul(h ^ byte, 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
