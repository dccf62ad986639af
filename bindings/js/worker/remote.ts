// The page's handles for objects in the worker.
//
// A handle belongs to the scope or the caller that made it. Its object is freed by `dispose()`, at
// the end of the scope, or after the garbage collector has found the handle. A handle from reading
// a property is borrowed: it frees nothing, and its object ends with the object that has the
// property. A borrowed handle keeps the handles that its call was given in memory, so that the
// garbage collector does not find the owner first.

import { describe, type HeedError, refuse } from "../core/error.js";
import { isObject, isRecord } from "../core/objects.js";
import { disposeSymbol, inspectSymbol } from "../core/owned.js";
import type { DType } from "../core/tensor.js";
import { type Check, checkOptions, isFunction, isSignal } from "../core/validate.js";
import type { Call, Connection } from "./connection.js";
import type { ObjectId, ReceivedReference, SentReference, Target } from "./protocol.js";
import { RemoteScope } from "./scopes.js";
import {
  isPlain,
  kindOf,
  type Packed,
  pack,
  partsOf,
  type Sent,
  unpack,
  unsendable,
} from "./values.js";

/** A running worker, and the handles of its objects. */
export class Session {
  readonly connection: Connection;
  readonly #handles: FinalizationRegistry<ObjectId>;
  /** The bytes of new tensors after which the garbage collector should run. */
  readonly #collectAfter: number;
  #newBytes = 0;

  constructor(connection: Connection, maxMemory = 2 ** 32) {
    this.connection = connection;
    this.#collectAfter = Math.min(2 ** 28, maxMemory / 4);
    this.#handles = new FinalizationRegistry((object) => connection.forget(object));
  }

  watch(handle: RemoteObject, object: ObjectId): void {
    this.#handles.register(handle, object);
  }

  /**
   * Adds the bytes of a new tensor, or subtracts the bytes of a disposed one. The garbage collector
   * does not know that small handles hold much memory in the worker. A large buffer without a
   * reference makes it run soon. The buffer takes up almost no memory, because nothing is written
   * to it.
   */
  countBytes(bytes: number): void {
    this.#newBytes = Math.max(0, this.#newBytes + bytes);
    if (this.#newBytes < this.#collectAfter) return;
    this.#newBytes = 0;
    try {
      new ArrayBuffer(2 ** 27);
    } catch {
      // The memory has no room for the buffer.
    }
  }
}

/** The receiver of calls: the engine, a namespace or an object, within a scope. */
export interface Origin {
  session(): Session;
  readonly object: ObjectId;
  readonly scope: RemoteScope<RemoteObject> | undefined;
  /** Undefined for the engine and the namespaces. */
  readonly handle?: RemoteObject;
}

/** The property of handles and of the engine that holds their origin. */
export const originKey: unique symbol = Symbol("origin");

/** The handle of an object in the worker. */
export class RemoteObject implements Disposable {
  readonly #origin: Origin;
  readonly #isOwned: boolean;
  /** An upper limit: only the worker knows the bytes of objects other than tensors. */
  readonly #bytes: number;
  /** The handles that this one keeps in memory. */
  #needed: readonly RemoteObject[];
  #isDisposed = false;

  /** @param given the handles of the receiver and the arguments of the call */
  constructor(
    session: Session,
    { object, isOwned, needsGiven, tensor }: ReceivedReference,
    scope: RemoteScope<RemoteObject> | undefined,
    given: Iterable<RemoteObject>,
  ) {
    this.#origin = { session: () => session, object, scope, handle: this };
    this.#isOwned = isOwned;
    this.#bytes = isOwned && tensor ? 4 * sizeOf(tensor.shape) : 0;
    this.#needed = needsGiven ? [...given] : [];
    session.watch(this, object);
    session.countBytes(this.#bytes);
    if (isOwned) scope?.add(this);
  }

  /** @internal */
  get [originKey](): Origin {
    return this.#origin;
  }

  /** Whether it was disposed of, or its worker or the object from which it was read has ended. */
  get isDisposed(): boolean {
    const { connection } = this.#origin.session();
    if (this.#isDisposed || connection.ended !== undefined) return true;
    if (this.#isOwned || this.#needed.length === 0) return false;
    return this.#needed.every(({ isDisposed }) => isDisposed);
  }

  /**
   * Frees the object in the worker, after the calls that need it. Does nothing a second time, and
   * for an object that was read from another one, such as a weight of a module: that ends with the
   * other one.
   */
  dispose(): void {
    if (!this.#isOwned || this.isDisposed) return;
    this.#isDisposed = true;
    this.#needed = [];
    const session = this.#origin.session();
    session.countBytes(-this.#bytes);
    session.connection.dispose(this, this.#origin.object);
  }

  /** @internal Returns handles with all handles that they keep in memory. */
  static withNeeded(handles: Iterable<RemoteObject>): ReadonlySet<RemoteObject> {
    const found = new Set(handles);
    // The loop also visits the handles that it adds.
    for (const handle of found) for (const needed of handle.#needed) found.add(needed);
    return found;
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  get [Symbol.toStringTag](): string {
    return "RemoteObject";
  }

  toString(): string {
    return `RemoteObject(${this.isDisposed ? "disposed" : "live"})`;
  }

  [inspectSymbol](): string {
    return this.toString();
  }
}

const sizeOf = (shape: readonly number[]) => shape.reduce((product, size) => product * size, 1);

/** A tensor in the worker. */
export class RemoteTensor extends RemoteObject {
  readonly dtype: DType;
  readonly shape: readonly number[];

  constructor(...args: ConstructorParameters<typeof RemoteObject>) {
    super(...args);
    const [, { tensor }] = args;
    const { dtype, shape } = tensor as NonNullable<typeof tensor>;
    this.dtype = dtype;
    this.shape = Object.freeze([...shape]);
  }

  /** The number of elements. */
  get size(): number {
    return sizeOf(this.shape);
  }

  override get [Symbol.toStringTag](): string {
    return "RemoteTensor";
  }

  override toString(): string {
    const end = this.isDisposed ? ", disposed" : "";
    return `RemoteTensor(${this.dtype}, ${describe(this.shape)}${end})`;
  }
}

/**
 * A task takes the options of a call as its second argument. A function of the library takes them
 * with its own options.
 */
const isTask = ({ path }: Target) => path[0] === "tasks";

/**
 * Returns a function that calls a method in the worker, given by its path of names. The properties
 * of the function are functions with longer paths. Awaiting it reads the property of this path,
 * unless it is a namespace.
 */
export function remoteAt(origin: Origin, path: readonly string[], isNamespace: boolean): unknown {
  const target = { object: origin.object, path };
  return new Proxy(() => {}, {
    get: (_, key) => {
      if (typeof key === "symbol") return undefined;
      if (key === "then" && isNamespace) return undefined;
      if (key === "then" || key === "catch" || key === "finally") {
        const read = request(origin, target, undefined);
        return read[key].bind(read);
      }
      return remoteAt(origin, [...path, key], false);
    },
    apply: (_, __, args: unknown[]) => request(origin, target, args),
    has: () => false,
  });
}

/** Returns a handle that also has the methods and properties of its object. */
function withMethods(handle: RemoteObject): object {
  return new Proxy(handle, {
    get: (_, key) => {
      if (typeof key === "symbol" || key in handle) {
        const value: unknown = Reflect.get(handle, key);
        return typeof value === "function" ? value.bind(handle) : value;
      }
      return key === "then" ? undefined : remoteAt(handle[originKey], [key], false);
    },
    set: (_, key) => {
      throw refuse("unsupported", String(key), "a property that is read", "an assignment");
    },
  });
}

/** The options of every call. */
export interface CallOptions {
  /**
   * Stops the call: its promise is rejected with a HeedError "cancelled", whose cause is the
   * signal's reason, and all objects that the call made are freed. A call that finishes before the
   * signal reaches it resolves as usual. A call that changes its arguments and cannot be
   * interrupted, such as an optimiser's step, also resolves as usual. After 40 ms the promise is
   * rejected in any case.
   */
  signal?: AbortSignal;
  /** Buffers in the arguments that move to the worker, as with postMessage; others are copied. */
  transfer?: readonly object[];
}

/** The functions that need the result of a function among their arguments. */
export const closures = ["blockMask", "captureAttention", "withoutHeads"] as const;
const changesItsArgument = "logitsProcessor";
export type Closure = (typeof closures)[number];

type Callback = (...args: unknown[]) => unknown;

interface Options {
  readonly signal?: AbortSignal;
  readonly transfer?: readonly object[];
  readonly onWeights?: Callback;
  readonly onProgress?: Callback;
}

/** Removes the options of the call from the last argument, and the last argument if no other option remains. */
function splitOptions(
  args: readonly unknown[],
  isTask: boolean,
): { args: readonly unknown[]; options: Options } {
  const last = args.at(-1);
  // The first argument of a task is its request.
  const isOptions = isRecord(last) && kindOf(last) !== "data" && !(isTask && args.length < 2);
  const names = ["signal", "transfer", isTask ? "onProgress" : "onWeights"];
  if (isOptions && !isTask && changesItsArgument in last && last[changesItsArgument])
    throw notSent(changesItsArgument);
  const found = isOptions ? names.filter((name) => Object.hasOwn(last, name)) : [];
  if (found.length === 0) return { args, options: {} };
  const entries = Object.entries(last as object);
  const rest = entries.filter(([name]) => !found.includes(name));
  const options = Object.fromEntries(entries.filter(([name]) => found.includes(name)));
  const others = args.slice(0, -1);
  return { args: rest.length > 0 ? [...others, Object.fromEntries(rest)] : others, options };
}

/** The error for a function whose effect would be lost. */
const notSent = (name: string): HeedError =>
  refuse("unsupported", name, "a call in a task", "one from outside");

const checks: Readonly<Record<string, Check>> = {
  signal: isSignal,
  transfer: { expected: "a list of buffers", accepts: Array.isArray },
  onWeights: isFunction,
  onProgress: isFunction,
};

/** @param given the arguments; undefined to read a property */
async function request(
  origin: Origin,
  target: Target,
  given: readonly unknown[] | undefined,
): Promise<unknown> {
  const session = origin.session();
  const { connection } = session;
  const path = target.path.join(".");
  const name = target.path.at(-1) as string;
  if (closures.includes(name as Closure)) throw notSent(name);
  let { scope } = origin;
  const handles = new Set<RemoteObject>(origin.handle && [origin.handle]);
  const receive = (packed: Packed<ReceivedReference>) => received(session, packed, scope, handles);
  const callbacks: NonNullable<Call["callbacks"]>[number][] = [];
  const callback = (run: Callback) =>
    callbacks.push((packed) => void run(...(receive(packed) as unknown[]))) - 1;
  const packArgument = (part: unknown): Sent<SentReference> => {
    const found = originOf(part);
    if (found !== undefined) {
      if (found.session() !== session) throw foreign(found.session());
      if (found.handle) handles.add(found.handle);
      scope = RemoteScope.innermost(scope, found.scope);
      return { reference: { object: found.object } };
    }
    if (part instanceof URL) return { value: part.href };
    const kind = kindOf(part);
    if (kind === "function") return { reference: { callback: callback(part as Callback) } };
    // Options may have functions.
    if (kind === "object") return isPlain(part as object) ? "container" : "data";
    return kind;
  };
  let options: Options = {};
  let args: Packed<SentReference> | undefined;
  try {
    const split = given && splitOptions(given, isTask(target));
    options = split?.options ?? {};
    checkOptions(path, options, checks);
    args = split && pack(path, split.args, packArgument);
  } catch (cause) {
    throw unsendable(path, "arguments that can be read", cause);
  }
  const { signal, transfer, onWeights, onProgress } = options;
  const needed = RemoteObject.withNeeded(handles);
  for (const handle of needed)
    if (connection.isDeferred(handle)) throw refuse("disposed", path, "live objects", `${handle}`);
  const call: Call = {
    ...target,
    ...(args && { args }),
    callbacks,
    handles: needed,
    ...(transfer && { transfer }),
    ...(signal && given && { signal, signalAt: given.length - 1 }),
    ...(onWeights && { onWeights: callback(onWeights) }),
    ...(onProgress && { onProgress: callback(onProgress) }),
  };
  return receive(await connection.call(call));
}

/** The value, with handles for its references. An object that occurs twice gets one handle. */
function received(
  session: Session,
  packed: Packed<ReceivedReference>,
  scope: RemoteScope<RemoteObject> | undefined,
  given: ReadonlySet<RemoteObject>,
): unknown {
  const handles = new Map<ObjectId, object>();
  return unpack(packed, (reference) => {
    const { object, tensor } = reference;
    const known = handles.get(object);
    if (known) return known;
    const Handle = tensor ? RemoteTensor : RemoteObject;
    const handle = withMethods(new Handle(session, reference, scope, given));
    handles.set(object, handle);
    return handle;
  });
}

/** The origin of a handle or of an engine; undefined for data. */
function originOf(part: unknown): Origin | undefined {
  if (!isObject(part) && typeof part !== "function") return undefined;
  return (part as { [originKey]?: Origin })[originKey];
}

/** The error for an object of another worker, or of one that has ended. */
function foreign({ connection }: Session): HeedError {
  if (connection.ended === undefined)
    return refuse("option", "argument", "an object of this worker", "one of another");
  const expected = "an object of the running worker";
  return refuse("disposed", "argument", expected, "one of a worker that has ended");
}

/** The handles in a value: in arrays, maps, sets and the fields of plain objects, however deep. */
export function handlesIn(
  value: unknown,
  found: Set<RemoteObject> = new Set(),
  seen: Set<object> = new Set(),
): Set<RemoteObject> {
  if (value instanceof RemoteObject) found.add(value[originKey].handle as RemoteObject);
  else if (isObject(value) && !seen.has(value)) {
    seen.add(value);
    if (Array.isArray(value) || value instanceof Map || value instanceof Set || isPlain(value))
      for (const part of partsOf(value)) handlesIn(part, found, seen);
  }
  return found;
}
