/// <reference lib="esnext.disposable" preserve="true" />

// What tensors, caches, packed weights and block masks have in common: an object in the engine's memory,
// which has an owner and an end.

import type { Border, Kind } from "./border.js";
import { isInstance, mark, markKey } from "./copies.js";
import type { Engine } from "./engine.js";
import { HeedError } from "./error.js";
import type { Handle } from "./module.js";

/** Browsers that lack `using` lack the symbol too. */
export const disposeSymbol: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for("Symbol.dispose");

/** By which Node, Deno and Bun ask an object how to print it. */
export const inspectSymbol: unique symbol = Symbol.for("nodejs.util.inspect.custom");

/**
 * An object in the engine's memory. It is freed by `dispose()`, by `using`, by the `heed.scope` it was
 * made in, or by the garbage collector some time after the last reference to it is gone.
 */
export abstract class Owned implements Disposable {
  readonly #engine: Engine;
  /** 0 once it is disposed of. */
  #handle: Handle;

  /** @internal */
  constructor(engine: Engine, handle: Handle) {
    this.#engine = engine;
    this.#handle = handle;
    engine.border.watch(this);
  }

  /** @internal */
  abstract get kind(): Kind;

  /** @internal Where it lives. Private to the object, so that nothing prints the engine with it. */
  get engine(): Engine {
    return this.#engine;
  }

  /** Whether it was disposed of, or its engine was. */
  get isDisposed(): boolean {
    return this.#handle === 0 || this.#engine.border.isDisposed;
  }

  /** Frees the memory. Doing so again does nothing, nor does it once the engine is disposed of. */
  dispose(): void {
    const handle = this.#handle;
    if (handle === 0) return;
    this.#handle = 0;
    const { border } = this.#engine;
    border.unwatch(this);
    border.free(this.kind, handle);
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  /** @internal For the operations of this library: the C++ object, if it is alive and of that engine. */
  handle(argument: string, border: Border): Handle {
    const handle = this.#handle;
    const own = this.#engine.border;
    if (handle === 0 || own !== border || own.isDisposed) throw this.#unfit(argument);
    return handle;
  }

  /** @internal */
  get [markKey](): object {
    return mark;
  }

  static readonly [Symbol.hasInstance]: (value: unknown) => boolean = isInstance;

  get [Symbol.toStringTag](): string {
    return "Owned";
  }

  /** What it is, in a few words; it may be disposed of. */
  protected abstract traits(): string[];

  /** What it is, in one line. */
  toString(): string {
    const end = this.isDisposed ? ["disposed"] : [];
    return `${this[Symbol.toStringTag]}(${[...this.traits(), ...end].join(", ")})`;
  }

  [inspectSymbol](): string {
    return this.toString();
  }

  #unfit(argument: string): HeedError {
    this.#engine.border.checkAlive();
    const { kind } = this;
    const [a, those] = kind === "weights" ? ["", "those"] : ["a ", "one"];
    if (this.#handle !== 0) {
      const expected = `expected ${a}${kind} of this engine, got ${those} of another`;
      return new HeedError("option", `${argument}: ${expected}`);
    }
    const got = kind === "weights" ? "disposed ones" : "a disposed one";
    return new HeedError("disposed", `${argument}: expected ${a}live ${kind}, got ${got}`);
  }
}

const none: ReadonlySet<Owned> = new Set();

/**
 * All that is owned in a value: in arrays, maps, sets, the parameters of modules and the fields of other
 * objects, however deep. What is in closures, getters and `#private` fields is not seen.
 */
export function ownedIn(value: unknown): ReadonlySet<Owned> {
  if (value === null || typeof value !== "object") return none;
  const found = new Set<Owned>();
  const seen = new Set<object>();
  const open: object[] = [];
  const look = (part: unknown) => {
    if (part === null || typeof part !== "object" || seen.has(part)) return;
    seen.add(part);
    open.push(part);
  };
  look(value);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next instanceof Owned) found.add(next);
    else for (const part of partsOf(next)) look(part);
  }
  return found;
}

function* partsOf(value: object): Iterable<unknown> {
  // Numbers alone, and as many fields.
  if (ArrayBuffer.isView(value)) return;
  if (Array.isArray(value)) return yield* value;
  if (value instanceof Map) for (const entry of value) yield* entry;
  if (value instanceof Set) yield* value;
  if ("parameters" in value && typeof value.parameters === "function") yield value.parameters();
  for (const key of Object.keys(value)) {
    // Not read by its name: a getter might do anything.
    yield Object.getOwnPropertyDescriptor(value, key)?.value;
  }
}
