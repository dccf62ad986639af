// Numbers that depend on a text or on bytes alone, and look like chance.

/** FNV-1a of 32 bits (Fowler, Noll and Vo, 1991), its bits mixed as MurmurHash3 ends (Appleby, 2011). */
export function hashOf(data: string | Uint8Array): number {
  let h = 0x811c9dc5;
  for (const byte of typeof data === "string" ? new TextEncoder().encode(data) : data)
    h = Math.imul(h ^ byte, 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
