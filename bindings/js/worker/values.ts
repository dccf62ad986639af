// Values in messages between a page and its worker. Data is copied or transferred. Objects with
// methods and functions are not sent: a reference replaces each of them.

import { HeedError, refuse } from "../core/error.js";
import { isObject } from "../core/objects.js";

/** The keys that lead to a part of a value. The keys of a map may be any values. */
type Path = readonly unknown[];

/** A value without the parts that cannot be copied, and a reference for each of these parts. */
export interface Packed<Reference> {
  readonly value: unknown;
  readonly references: readonly (readonly [Path, Reference])[];
}

/**
 * How to send a part of a value: part by part if it is a container, unchanged if it is data, as a
 * reference, or as another value.
 */
export type Sent<Reference> =
  | "container"
  | "data"
  | { readonly reference: Reference }
  | { readonly value: unknown };

/** Whether an object has no class. */
export const isPlain = (value: object) => {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

/** Whether structuredClone copies all objects of this class. */
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

const isNested = (part: unknown) => typeof part === "function" || isObject(part);

/** The entries of an array, a map or a set, or the values of an object's fields. */
export function partsOf(value: object): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (value instanceof Map) return [...value.keys(), ...value.values()];
  return value instanceof Set ? [...value] : Object.values(value);
}

/** The kind of a value. An "object" has methods, or a class that structuredClone does not know. */
export function kindOf(value: unknown): "container" | "data" | "object" | "function" {
  if (typeof value === "function") return "function";
  if (!isObject(value)) return "data";
  if (Array.isArray(value) || value instanceof Map || value instanceof Set)
    return partsOf(value).some(isNested) ? "container" : "data";
  if (isCloneable(value) || value instanceof Error) return "data";
  if (!isPlain(value)) return "object";
  return Object.values(value).some((part) => typeof part === "function") ? "object" : "container";
}

/**
 * @param name the name of the value in errors
 * @param decide returns how to send a part
 * @throws HeedError "unsupported" for a reference in a set or as the key of a map
 */
export function pack<Reference>(
  name: string,
  value: unknown,
  decide: (part: unknown) => Sent<Reference>,
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
    const sent = decide(part);
    if (sent === "data") return part;
    if (sent === "container") {
      // Only postMessage can copy a value that contains itself.
      if (open.has(part)) return part;
      open.add(part);
      const copy = visitParts(part as object, path);
      open.delete(part);
      return copy;
    }
    if ("value" in sent) return sent.value;
    references.push([path, sent.reference]);
    return undefined;
  };
  return { value: visit(value, []), references };
}

type Holder = Record<string, unknown> | Map<unknown, unknown>;

/** @param find returns the object or function of a reference */
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
    // An object that is the key of a map is the same object in the path: structuredClone keeps identities.
    let holder = whole as Holder;
    for (const key of path.slice(0, -1))
      holder = (holder instanceof Map ? holder.get(key) : holder[key as string]) as Holder;
    if (holder instanceof Map) holder.set(last, found);
    else holder[last as string] = found;
  }
  return whole;
}

/** The buffers in a value. Each buffer is returned once, also if several arrays share it. */
export function buffersIn(
  value: unknown,
  found: Set<ArrayBuffer> = new Set(),
  seen: Set<object> = new Set(),
): Set<ArrayBuffer> {
  if (ArrayBuffer.isView(value)) buffersIn(value.buffer, found, seen);
  else if (value instanceof ArrayBuffer) found.add(value);
  else if (isObject(value) && !seen.has(value)) {
    seen.add(value);
    if (kindOf(value) === "container")
      for (const part of partsOf(value)) buffersIn(part, found, seen);
  }
  return found;
}

/**
 * Checks buffers before they are transferred: Node 20 accepts a detached buffer, and the receiver
 * then cannot read the message.
 *
 * @throws HeedError "option"
 */
export function checkTransferable(name: string, objects: Iterable<object>): void {
  for (const object of objects) {
    try {
      if (object instanceof ArrayBuffer) new Uint8Array(object);
    } catch {
      throw refuse("option", name, "buffers that can be transferred", "one that is detached");
    }
  }
}

/** The error for a value that cannot be sent: postMessage, or a getter of the value, has thrown `cause`. */
export function unsendable(name: string, expected: string, cause: unknown): HeedError {
  if (cause instanceof HeedError) return cause;
  const got = cause instanceof Error ? cause.message : String(cause);
  return refuse("option", name, expected, got, { cause });
}
