// Reads the arrays of NumPy
// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html): a magic word, a
// version, the length of a header, the header as a Python dictionary, and the numbers.

import { describe, refuse } from "../../core/error.js";
import { countOf, isSize } from "../../core/safetensorsHeader.js";
import { collect, fromFortran, type NumberArray, type Stored } from "./numbers.js";

export const npyMagic = "\x93NUMPY";

/** The largest header that is read, in bytes. The header of a plain array has some 120 bytes. */
const mostHeaderBytes = 65536;

interface Header {
  readonly stored: Stored;
  readonly isFortran: boolean;
  readonly shape: readonly number[];
}

function storedAs(name: string, descr: string): Stored {
  const [, order, kind, size] = /^([<>|=])([fiub])(\d+)$/.exec(descr) ?? [];
  const bytes = Number(size);
  // NumPy stores a boolean as a byte, 0 or 1.
  if (kind === "b" && bytes === 1) return { kind: "u", bytes, isBigEndian: false };
  if (kind === "b" || !(kind === "f" ? [2, 4, 8] : [1, 2, 4, 8]).includes(bytes)) {
    const expected = "numbers of a fixed size, such as <f4 or <f2";
    const got = descr.includes("O") ? `${descr}, Python objects` : descr;
    throw refuse("dtype", `${name}: descr`, expected, got);
  }
  return { kind: kind as Stored["kind"], bytes, isBigEndian: order === ">" };
}

/** Reads {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, with its entries in any order. */
function readHeader(name: string, text: string): Header {
  const wrong = () =>
    refuse(
      "format",
      `${name}: header`,
      "{'descr': .., 'fortran_order': .., 'shape': ..}",
      JSON.stringify(text.trim().slice(0, 200)),
    );
  const whole = text.trim();
  if (!whole.startsWith("{") || !whole.endsWith("}")) throw wrong();
  const body = whole.slice(1, -1).trimEnd();
  const found = new Map<string, string>();
  const entry = /\s*(['"])(\w+)\1\s*:\s*((['"])[^'"]*\4|True|False|\([^()]*\)|\[.*\])\s*(,|$)/sy;
  while (entry.lastIndex < body.length) {
    const [, , key, value] = entry.exec(body) ?? [];
    if (key === undefined || value === undefined || found.has(key)) throw wrong();
    found.set(key, value);
  }
  const [descr, order, sizes] = ["descr", "fortran_order", "shape"].map((key) => found.get(key));
  if (found.size !== 3 || !descr || !order || !sizes) throw wrong();
  const axes = sizes
    .slice(1, -1)
    .split(",")
    .map((axis) => axis.trim());
  // A comma follows a single axis, as it follows an entry of the header. Without axes the text is empty.
  if (axes.at(-1) === "") axes.pop();
  const isTuple = sizes.startsWith("(") && axes.every((axis) => /^\d+L?$/.test(axis));
  if (!/^(True|False)$/.test(order) || !isTuple) throw wrong();
  const shape = axes.map((axis) => Number.parseInt(axis, 10));
  const isCounted = isSize(countOf(shape)) && shape.every(isSize);
  if (!isCounted) throw refuse("shape", `${name}: shape`, "sizes that can be counted", sizes);
  return { stored: storedAs(name, descr.replace(/['"]/g, "")), isFortran: order === "True", shape };
}

/** A reader of a stream that begins with a header. */
class Reader {
  readonly #name: string;
  readonly #pieces: AsyncIterator<Uint8Array>;
  #held: Uint8Array = new Uint8Array(0);

  constructor(name: string, pieces: AsyncIterable<Uint8Array>) {
    this.#name = name;
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  async take(count: number): Promise<Uint8Array> {
    while (this.#held.length < count) {
      const { done, value } = await this.#pieces.next();
      if (done)
        throw refuse("format", this.#name, "a whole header", `an end after ${this.#held.length}`);
      const longer = new Uint8Array(this.#held.length + value.length);
      longer.set(this.#held);
      longer.set(value, this.#held.length);
      this.#held = longer;
    }
    const taken = this.#held.slice(0, count);
    this.#held = this.#held.subarray(count);
    return taken;
  }

  /** The bytes that are not read yet. */
  async *rest(): AsyncGenerator<Uint8Array> {
    yield this.#held;
    for (;;) {
      const { done, value } = await this.#pieces.next();
      if (done) return;
      yield value;
    }
  }

  /** Ends the stream, even if it is not read completely. */
  async end(): Promise<void> {
    await this.#pieces.return?.();
  }
}

/**
 * Reads one array.
 *
 * @param size the total number of bytes in the pieces, or the number that the file declares
 * @param isThere whether that number of bytes is known to follow
 */
export async function readNpy(
  name: string,
  pieces: AsyncIterable<Uint8Array>,
  size: number,
  isThere: boolean,
): Promise<NumberArray> {
  const reader = new Reader(name, pieces);
  try {
    const start = await reader.take(npyMagic.length + 2);
    if (String.fromCharCode(...start.subarray(0, npyMagic.length)) !== npyMagic)
      throw refuse("format", name, "an array of NumPy", "other bytes");
    const version = start[npyMagic.length] as number;
    if (version < 1 || version > 3)
      throw refuse("format", `${name}: version`, "1, 2 or 3", `${version}`);
    const lengthBytes = version === 1 ? 2 : 4;
    const lengths = new DataView((await reader.take(lengthBytes)).buffer);
    const length = version === 1 ? lengths.getUint16(0, true) : lengths.getUint32(0, true);
    const most = Math.min(mostHeaderBytes, size - start.length - lengthBytes);
    if (length > most)
      throw refuse("format", `${name}: header`, `at most ${most} bytes`, `${length}`);
    const text = new TextDecoder(version === 3 ? "utf-8" : "latin1").decode(
      await reader.take(length),
    );
    const { stored, isFortran, shape } = readHeader(name, text);
    const count = countOf(shape);
    const left = size - start.length - lengthBytes - length;
    if (left !== count * stored.bytes) {
      const expected = `${count * stored.bytes} bytes for ${describe(shape)}`;
      throw refuse("format", `${name}: data`, expected, `${left}`);
    }
    const data = await collect(name, stored, count, reader.rest(), isThere);
    return isFortran ? fromFortran(name, { shape, data }) : { shape, data };
  } finally {
    await reader.end();
  }
}
