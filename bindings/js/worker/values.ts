// Values between a page and its worker. Data is copied, or transferred; an object with methods stays on its side,
// and a reference names it on the other.

import { refuse } from "../core/error.js";

/** A place in a value: the keys that lead to it, which in a map may be anything. */
type Path = readonly unknown[];

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

/** What is directly in an array, a map, a set or the fields of an object. */
export function partsOf(value: object): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (value instanceof Map) return [...value.keys(), ...value.values()];
  return value instanceof Set ? [...value] : Object.values(value);
}

/** A part of a value, as its class tells. Only its owner knows more. */
export function fateOf(value: unknown): "parts" | "copy" | "object" | "function" {
  if (typeof value === "function") return "function";
  if (value === null || typeof value !== "object") return "copy";
  if (Array.isArray(value) || value instanceof Map || value instanceof Set)
    return partsOf(value).some(isNested) ? "parts" : "copy";
  if (isCloneable(value) || value instanceof Error) return "copy";
  if (!isPlain(value)) return "object";
  return Object.values(value).some((part) => typeof part === "function") ? "object" : "parts";
}

/**
 * @param name of the value, for the error
 * @param fate decides about each part
 * @throws HeedError "unsupported" for what is to be named in a set or as the key of a map
 */
export function pack<Reference>(
  name: string,
  value: unknown,
  fate: (part: unknown) => Fate<Reference> | { readonly copied: unknown },
): Packed<Reference> {
  const references: [Path, Reference][] = [];
  const open = new Set<unknown>();
  const copiedOnly = (part: unknown, path: Path, where: string): unknown => {
    const before = references.length;
    const copy = visit(part, path);
    if (references.length === before) return copy;
    const expected = "objects in arrays, in fields and as the values of maps";
    throw refuse("unsupported", name, expected, `one ${where}`);
  };
  const visitParts = (whole: object, path: Path): unknown => {
    if (Array.isArray(whole)) return Array.from(whole, (part, i) => visit(part, [...path, i]));
    if (whole instanceof Set)
      return new Set(Array.from(whole, (part) => copiedOnly(part, path, "in a set")));
    if (whole instanceof Map)
      return new Map(
        Array.from(whole, ([key, part]) => {
          const copiedKey = copiedOnly(key, path, "as the key of a map");
          return [copiedKey, visit(part, [...path, copiedKey])];
        }),
      );
    return Object.fromEntries(
      Object.entries(whole).map(([key, part]) => [key, visit(part, [...path, key])]),
    );
  };
  const visit = (part: unknown, path: Path): unknown => {
    const found = fate(part);
    if (found === "copy") return part;
    if (found === "parts") {
      // A value that contains itself is left to postMessage, which can copy it.
      if (open.has(part)) return part;
      open.add(part);
      const copy = visitParts(part as object, path);
      open.delete(part);
      return copy;
    }
    if ("copied" in found) return found.copied;
    references.push([path, found.reference]);
    return undefined;
  };
  return { value: visit(value, []), references };
}

type Holder = Record<string, unknown> | Map<unknown, unknown>;

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
    // A message keeps the identity of the objects that are keys of a map.
    let holder = whole as Holder;
    for (const key of path.slice(0, -1))
      holder = (holder instanceof Map ? holder.get(key) : holder[key as string]) as Holder;
    if (holder instanceof Map) holder.set(last, found);
    else holder[last as string] = found;
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
    if (fateOf(value) === "parts") for (const part of partsOf(value)) buffersIn(part, found, seen);
  }
  return found;
}
