/** The header of a row-major NumPy array with two axes or more. Its length is a multiple of 64 bytes. */
export function npyHeader(descr: "<f4" | "<f2", shape: readonly number[]): Uint8Array {
  const sizes = shape.join(", ");
  const text = `\x93NUMPY\x01\x00  {'descr': '${descr}', 'fortran_order': False, 'shape': (${sizes}), }`;
  const length = Math.ceil((text.length + 1) / 64) * 64;
  const header = Uint8Array.from(`${text.padEnd(length - 1)}\n`, (char) => char.charCodeAt(0));
  new DataView(header.buffer).setUint16(8, length - 10, true);
  return header;
}
