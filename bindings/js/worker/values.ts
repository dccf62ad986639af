// Values between a page and its worker. Data is copied, or transferred; an object with methods stays on its side,
// and a reference names it on the other.

/** A place in a value: the keys that lead to it. */
type Path = readonly (string | number)[];

/** A value without the things that cannot be copied, and what stands for each of them. */
export interface Packed<Reference> {
  readonly value: unknown;
  readonly references: readonly (readonly [Path, Reference])[];
}

/** What becomes of a part of a value: it is copied with its parts, copied as it is, or named. */
export type Fate<Reference> = "parts" | "copy" | { readonly reference: Reference };

/** Whether an object is of no class. */
export const isPlain = (value: object) => {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

/** Whether structuredClone copies an object of this class, with nothing in it that must be named. */
function isCloneable(value: object): boolean {
  const name = Object.prototype.toString.call(value).slice(8, -1);
  return (
    ArrayBuffer.isView(value) ||
    /^(ArrayBuffer|SharedArrayBuffer|Blob|File|FileList|Date|RegExp|Error|Map|Set|ImageData)$/.test(
      name,
    ) ||
    /^(ImageBitmap|FileSystem(File|Directory)Handle|MessagePort)$/.test(name)
  );
}

const isNested = (part: unknown) =>
  typeof part === "function" || (typeof part === "object" && part !== null);

/** A part of a value, as its class tells. Only its owner knows more. */
export function fateOf(value: unknown): "parts" | "copy" | "object" | "function" {
  if (typeof value === "function") return "function";
  if (value === null || typeof value !== "object") return "copy";
  if (Array.isArray(value)) return value.some(isNested) ? "parts" : "copy";
  if (isCloneable(value) || value instanceof Error) return "copy";
  if (!isPlain(value)) return "object";
  return Object.values(value).some((part) => typeof part === "function") ? "object" : "parts";
}

/** @param fate decides about each part */
export function pack<Reference>(
  value: unknown,
  fate: (part: unknown) => Fate<Reference> | { readonly copied: unknown },
): Packed<Reference> {
  const references: [Path, Reference][] = [];
  const open = new Set<unknown>();
  const visit = (part: unknown, path: Path): unknown => {
    const found = fate(part);
    if (found === "copy") return part;
    if (found === "parts") {
      // A value that contains itself is left to postMessage, which can copy it.
      if (open.has(part)) return part;
      open.add(part);
      const copy = Array.isArray(part)
        ? Array.from(part, (inner, i) => visit(inner, [...path, i]))
        : Object.fromEntries(
            Object.entries(part as object).map(([key, inner]) => [
              key,
              visit(inner, [...path, key]),
            ]),
          );
      open.delete(part);
      return copy;
    }
    if ("copied" in found) return found.copied;
    references.push([path, found.reference]);
    return undefined;
  };
  return { value: visit(value, []), references };
}

/** @param find returns what a reference names */
export function unpack<Reference>(
  { value, references }: Packed<Reference>,
  find: (reference: Reference) => unknown,
): unknown {
  let whole = value;
  for (const [path, reference] of references) {
    const found = find(reference);
    const last = path.at(-1);
    if (last === undefined) {
      whole = found;
      continue;
    }
    let holder = whole as Record<string, unknown>;
    for (const key of path.slice(0, -1)) holder = holder[key] as Record<string, unknown>;
    holder[last] = found;
  }
  return whole;
}

/** The buffers in a value, without duplicates: two arrays may share a buffer, which can be transferred only once. */
export function buffersIn(
  value: unknown,
  found: Set<ArrayBuffer> = new Set(),
  seen: Set<object> = new Set(),
): Set<ArrayBuffer> {
  if (ArrayBuffer.isView(value)) buffersIn(value.buffer, found, seen);
  else if (value instanceof ArrayBuffer) found.add(value);
  else if (typeof value === "object" && value !== null && !seen.has(value)) {
    seen.add(value);
    if (fateOf(value) === "parts")
      for (const part of Object.values(value)) buffersIn(part, found, seen);
  }
  return found;
}
