// The package may be evaluated more than once: a bundler may put it into two chunks, an app may
// install it twice, and WebKit evaluates a worker's entry again when another module imports it.
// Copies of one version in one global object work together: they share their state and accept each
// other's objects. They refuse objects of any other copy.

/** The version of the package and of its binaries. */
export const version = "0.1.0";

const key = Symbol.for(`heed ${version}`);
type Common = Record<string, unknown>;
const existing = (globalThis as unknown as Record<symbol, Common | undefined>)[key];
const common = existing ?? {};
// A frozen global object cannot be extended: with one, each copy works on its own.
if (existing === undefined) Reflect.defineProperty(globalThis, key, { value: common });

/** A value that all copies share under a name: the first copy makes it. */
export function inCommon<T>(name: string, make: () => T): T {
  if (!Object.hasOwn(common, name)) common[name] = make();
  return common[name] as T;
}

/** The key of the mark that objects of every copy and version have. */
export const markKey: unique symbol = Symbol.for("heed") as never;

/** The mark of all objects that copies of this version make. */
export const mark: { readonly version: string } = inCommon("mark", () =>
  Object.freeze({ version }),
);

const markOf = (value: object) => (value as { [markKey]?: typeof mark })[markKey];

/** Whether a value is an object that a copy of this version made; never a proxy that throws. */
export function isMarked(value: unknown): value is object {
  try {
    return typeof value === "object" && value !== null && markOf(value) === mark;
  } catch {
    return false;
  }
}

/** The name that a class of this library gives its instances; undefined if it is the name of its parent. */
function ownTag(prototype: { [Symbol.toStringTag]?: string } | null): string | undefined {
  try {
    const tag = prototype?.[Symbol.toStringTag];
    return tag && tag !== Object.getPrototypeOf(prototype)?.[Symbol.toStringTag] ? tag : undefined;
  } catch {
    return undefined; // a getter of the caller's class, which needs an instance
  }
}

/**
 * A class's `Symbol.hasInstance`: an instance may come from another copy, which has its own class. A proxy of an
 * instance, and an object that only inherits from one, are no instances of a class with private fields: their mark
 * is undefined.
 */
export function isInstance(this: { readonly prototype: object }, value: unknown): boolean {
  // Checks the mark first: every instance has it, and most calls ask about an object of options,
  // which does not have it.
  if (!isMarked(value)) return false;
  try {
    return descends(value, this);
  } catch {
    return false; // a proxy that throws
  }
}

function descends(value: object, kind: { readonly prototype: object }): boolean {
  if (Function.prototype[Symbol.hasInstance].call(kind, value)) return true;
  const name = ownTag(kind.prototype);
  if (name === undefined) return false; // a subclass of the caller's, which only one copy extends
  for (let part = Object.getPrototypeOf(value); part !== null; part = Object.getPrototypeOf(part))
    if (part[Symbol.toStringTag] === name) return true;
  return false;
}

/** The class of an object, in a message. A bundler may shorten the names of classes, but not of this library's. */
export function classOf(value: object): string {
  const name = ownTag(Object.getPrototypeOf(value)) ?? value.constructor?.name ?? "object";
  const found = markOf(value);
  if (found === undefined && markKey in value) return `proxy or heir of ${name}`;
  if (found === undefined || found === mark) return name;
  return `${name} that another copy of heed (${found.version}) made`;
}
