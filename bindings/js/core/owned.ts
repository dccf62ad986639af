/// <reference lib="esnext.disposable" preserve="true" />

// The base class of tensors, caches, packed weights and block masks: an object in the engine's memory with an
// owner, who frees it.

import type { Border, Kind } from "./border.js";
import { isInstance, mark, markKey } from "./copies.js";
import type { Engine } from "./engine.js";
import { type HeedError, refuse } from "./error.js";
import type { Handle } from "./module.js";
import { isObject } from "./objects.js";

/** Browsers without `using` do not define the symbol. */
export const disposeSymbol: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for("Symbol.dispose");

/** The method that Node, Deno and Bun call to print an object. */
export const inspectSymbol: unique symbol = Symbol.for("nodejs.util.inspect.custom");

/**
 * An object in the engine's memory. It is freed by `dispose()`, by `using`, by the `heed.scope` in which it
 * was made, or by the garbage collector some time after the last reference to it is gone.
 */
export abstract class Owned implements Disposable {
  readonly #engine: Engine;
  readonly #serial: number;
  /** 0 after `dispose`. */
  #handle: Handle;

  /** @internal */
  constructor(engine: Engine, handle: Handle) {
    this.#engine = engine;
    this.#serial = ++engine.lastSerial;
    this.#handle = handle;
    engine.border.watch(this);
  }

  /** @internal */
  abstract get kind(): Kind;

  /** @internal The engine in whose memory it is. A private field, so that printing it omits the engine. */
  get engine(): Engine {
    return this.#engine;
  }

  /** @internal The number of the object: the engine counts its objects in the order in which they are made. */
  get serial(): number {
    return this.#serial;
  }

  /** Whether it was disposed of, or its engine was. */
  get isDisposed(): boolean {
    return this.#handle === 0 || this.#engine.border.isDisposed;
  }

  /** Frees the memory. Does nothing a second time, or after the engine is disposed of. */
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

  /** @internal The C++ object; throws if it is disposed of or belongs to another engine. */
  handle(argument: string, border: Border): Handle {
    const handle = this.#handle;
    const own = this.#engine.border;
    if (handle === 0 || own !== border || own.isDisposed) throw this.#unfit(argument);
    return handle;
  }

  /** @internal */
  get [markKey](): object | undefined {
    return #handle in this ? mark : undefined;
  }

  static readonly [Symbol.hasInstance]: (value: unknown) => boolean = isInstance;

  get [Symbol.toStringTag](): string {
    return "Owned";
  }

  /** Its properties for `toString`, also after `dispose`. */
  protected abstract traits(): string[];

  /** The properties of a live object that change. */
  protected state(): string[] {
    return [];
  }

  /** @internal Its class and the properties that do not change. */
  get label(): string {
    return this.#describe([]);
  }

  /** A description in one line. */
  toString(): string {
    return this.#describe(this.isDisposed ? ["disposed"] : this.state());
  }

  #describe(state: readonly string[]): string {
    return `${this[Symbol.toStringTag]}(${[...this.traits(), ...state].join(", ")})`;
  }

  [inspectSymbol](): string {
    return this.toString();
  }

  #unfit(argument: string): HeedError {
    this.#engine.border.checkAlive();
    const { kind } = this;
    const [a, those] = kind === "weights" ? ["", "those"] : ["a ", "one"];
    if (this.#handle !== 0) {
      return refuse("option", argument, `${a}${kind} of this engine`, `${those} of another`);
    }
    const got = kind === "weights" ? "disposed ones" : "a disposed one";
    return refuse("disposed", argument, `${a}live ${kind}`, got);
  }
}

const none: ReadonlySet<Owned> = new Set();

/**
 * All owned objects in a value: in arrays, maps, sets, the parameters of modules and the fields of
 * other objects, however deep. Objects in closures, getters and `#private` fields are not found.
 */
export function ownedIn(value: unknown): ReadonlySet<Owned> {
  if (!isObject(value)) return none;
  const found = new Set<Owned>();
  const seen = new Set<object>();
  const open: object[] = [];
  const look = (part: unknown) => {
    if (!isObject(part) || seen.has(part)) return;
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
  try {
    yield* readPartsOf(value);
  } catch {
    // A getter or a proxy of the caller's throws: unreadable parts are not found.
  }
}

/** The entries of a list without its holes, because there may be billions of holes; undefined if a getter throws. */
function entriesOf(list: readonly unknown[]): readonly unknown[] | undefined {
  try {
    return Object.values(list);
  } catch {
    return undefined;
  }
}

function* readPartsOf(value: object): Iterable<unknown> {
  // A typed array has only numbers, each of which is a key.
  if (ArrayBuffer.isView(value)) return;
  const entries = Array.isArray(value) ? entriesOf(value) : undefined;
  if (entries) return yield* entries;
  if (value instanceof Map) for (const entry of value) yield* entry;
  if (value instanceof Set) yield* value;
  if ("parameters" in value && typeof value.parameters === "function") yield value.parameters();
  for (const key of Object.keys(value)) {
    // The descriptor's value does not run getters.
    yield Object.getOwnPropertyDescriptor(value, key)?.value;
  }
}
