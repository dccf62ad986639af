// The page's side: objects that stand for those in the worker.

import { describe, type HeedError, refuse } from "../core/error.js";
import { disposeSymbol, inspectSymbol } from "../core/owned.js";
import type { DType } from "../core/tensor.js";
import { type Check, checkOptions, isFunction, isRecord, isSignal } from "../core/validate.js";
import type { Asked, Connection } from "./connection.js";
import type { ObjectId, ReceivedReference, SentReference, Target } from "./protocol.js";
import { RemoteScope } from "./scopes.js";
import { fateOf, isPlain, type Packed, pack, partsOf, unpack } from "./values.js";

/** What a call needs: the running connection, and the objects of it. */
export interface Session {
  readonly connection: Connection;
  /** Tells the worker of objects that the garbage collector found. */
  readonly abandoned: FinalizationRegistry<ObjectId>;
}

/** What stands for an object in a worker. */
interface Named {
  readonly session: Session;
  readonly object: ObjectId;
  readonly scope: RemoteScope<RemoteObject> | undefined;
}

/** The property by which an argument tells what it names. */
export const namesKey: unique symbol = Symbol("names");
/** The object behind a proxy. */
const ownKey: unique symbol = Symbol("own");

/** An object in the worker. */
export class RemoteObject implements Disposable {
  readonly #session: Session;
  readonly #id: ObjectId;
  readonly #scope: RemoteScope<RemoteObject> | undefined;
  #isDisposed = false;

  constructor(session: Session, id: ObjectId, scope: RemoteScope<RemoteObject> | undefined) {
    this.#session = session;
    this.#id = id;
    this.#scope = scope;
    session.abandoned.register(this, id);
    scope?.add(this);
  }

  /** @internal */
  get [namesKey](): Named {
    return { session: this.#session, object: this.#id, scope: this.#scope };
  }

  /** @internal */
  get [ownKey](): RemoteObject {
    return this;
  }

  /**
   * Whether it was disposed of, or its worker has ended. That a whole was disposed of of which it was read, only the
   * worker knows: calls then refuse it with "disposed".
   */
  get isDisposed(): boolean {
    return this.#isDisposed || this.#session.connection.ended !== undefined;
  }

  /**
   * Frees its memory in the worker, with that of its parts, as soon as the calls are done that were given it before, a
   * part of it, or what it is a part of. An object that was read from it, as a weight of a module, is such a part: it
   * ends with it, and disposing of it takes it from the whole. Does nothing a second time.
   */
  dispose(): void {
    RemoteObject.disposeAll([this], []);
  }

  /** @internal Disposes of objects, but not of those that have parts in common with what is kept. */
  static disposeAll(this: void, objects: readonly RemoteObject[], kept: readonly RemoteObject[]) {
    const ids = new Map<Session, ObjectId[]>();
    for (const object of objects) {
      if (object.isDisposed) continue;
      object.#isDisposed = true;
      const found = ids.get(object.#session);
      if (found) found.push(object.#id);
      else ids.set(object.#session, [object.#id]);
    }
    for (const [session, disposed] of ids) {
      const others = kept.flatMap((object) => (object.#session === session ? object.#id : []));
      session.connection.dispose(disposed, others);
    }
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

/** A tensor in the worker. */
export class RemoteTensor extends RemoteObject {
  readonly dtype: DType;
  readonly shape: readonly number[];

  constructor(
    session: Session,
    id: ObjectId,
    scope: RemoteScope<RemoteObject> | undefined,
    { dtype, shape }: { readonly dtype: DType; readonly shape: readonly number[] },
  ) {
    super(session, id, scope);
    this.dtype = dtype;
    this.shape = Object.freeze([...shape]);
  }

  /** The number of elements. */
  get size(): number {
    return this.shape.reduce((product, size) => product * size, 1);
  }

  override get [Symbol.toStringTag](): string {
    return "RemoteTensor";
  }

  override toString(): string {
    const end = this.isDisposed ? ", disposed" : "";
    return `RemoteTensor(${this.dtype}, ${describe(this.shape)}${end})`;
  }
}

/** What stands for the engine, a namespace or the tasks: see remoteAt. */
export interface Origin {
  session(): Session;
  readonly object: ObjectId;
  readonly scope: RemoteScope<RemoteObject> | undefined;
}

/** The tasks get signal and progress as their second argument, everything else within its options. */
const isTask = ({ path }: Target) => path[0] === "tasks";

/**
 * A function that calls what a path of names leads to in the worker; its properties are longer paths. Awaiting it
 * reads the property itself, unless it is a namespace.
 */
export function remoteAt(origin: Origin, path: readonly string[], isNamespace: boolean): unknown {
  const target = { object: origin.object, path };
  return new Proxy(() => {}, {
    get: (_, key) => {
      if (typeof key === "symbol") return undefined;
      if (key === "then" && isNamespace) return undefined;
      if (key === "then") {
        const read = request(origin, target, undefined);
        return read.then.bind(read);
      }
      return remoteAt(origin, [...path, key], false);
    },
    apply: (_, __, args: unknown[]) => request(origin, target, args),
    has: () => false,
  });
}

/** The object that stands for one in the worker, with its methods. */
function remoteObject(
  session: Session,
  { object: id, tensor }: ReceivedReference,
  scope: RemoteScope<RemoteObject> | undefined,
): object {
  const own = tensor
    ? new RemoteTensor(session, id, scope, tensor)
    : new RemoteObject(session, id, scope);
  const origin: Origin = { session: () => session, object: id, scope };
  return new Proxy(own, {
    get: (_, key) => {
      if (typeof key === "symbol" || key in own) {
        const value: unknown = Reflect.get(own, key);
        return typeof value === "function" ? value.bind(own) : value;
      }
      return key === "then" ? undefined : remoteAt(origin, [key], false);
    },
    set: (_, key) => {
      throw refuse("unsupported", String(key), "a property that is read", "an assignment");
    },
  });
}

/** The options of a call that the library has beside those of the function. */
export interface CallOptions {
  /**
   * Stops the call: its promise is rejected with a HeedError "cancelled", whose cause is the signal's reason, and
   * nothing that the call made is left. A call that finishes before the signal reaches it resolves as usual; so does
   * one that changes its arguments and cannot be stopped in its middle, as an optimiser's step. After 40 ms the promise
   * is rejected in any case.
   */
  signal?: AbortSignal;
  /** Buffers in the arguments that move to the worker, as with postMessage; others are copied. */
  transfer?: readonly object[];
}

/** The functions that need the result of one that is given to them. */
export const closures = ["blockMask", "captureAttention", "withoutHeads"] as const;
export type Closure = (typeof closures)[number];

/** Takes the options of the call out of the last argument, which is left out if nothing remains. */
function takeOptions(
  args: readonly unknown[],
  names: readonly string[],
): { args: readonly unknown[]; options: Record<string, unknown> } {
  const last = args.at(-1);
  const isOptions = isRecord(last) && fateOf(last) !== "copy";
  const found = isOptions ? names.filter((name) => Object.hasOwn(last, name)) : [];
  if (found.length === 0) return { args, options: {} };
  const entries = Object.entries(last as object);
  const rest = entries.filter(([name]) => !found.includes(name));
  const options = Object.fromEntries(entries.filter(([name]) => found.includes(name)));
  const others = args.slice(0, -1);
  return { args: rest.length > 0 ? [...others, Object.fromEntries(rest)] : others, options };
}

const checks: Readonly<Record<string, Check>> = {
  signal: isSignal,
  transfer: { expected: "a list of buffers", accepts: Array.isArray },
  onWeights: isFunction,
  onProgress: isFunction,
};

type Callback = (...args: unknown[]) => unknown;

/** @param given none to read a property */
async function request(
  origin: Origin,
  target: Target,
  given: readonly unknown[] | undefined,
): Promise<unknown> {
  const session = origin.session();
  const { connection } = session;
  const name = target.path.at(-1) as string;
  if (closures.includes(name as Closure)) {
    const expected =
      "a call within the worker, because a function that returns something cannot be sent there";
    throw refuse("unsupported", name, expected, "one from outside");
  }
  if (given === undefined) return receive(session, await connection.call(target), origin.scope);
  // The second argument of a task is nothing but options of the call.
  const names = ["signal", "transfer", isTask(target) ? "onProgress" : "onWeights"];
  const { args, options } =
    isTask(target) && given.length < 2 ? { args: given, options: {} } : takeOptions(given, names);
  checkOptions(target.path.join("."), options, checks);
  const { signal, transfer, onWeights, onProgress } = options as {
    signal?: AbortSignal;
    transfer?: readonly object[];
    onWeights?: Callback;
    onProgress?: Callback;
  };
  let { scope } = origin;
  const callbacks: NonNullable<Asked["callbacks"]>[number][] = [];
  const callback = (run: Callback) =>
    callbacks.push((packed) => void run(...(receive(session, packed, scope) as unknown[]))) - 1;
  const packed = pack<SentReference>(target.path.join("."), args, (part) => {
    const fate = fateOf(part);
    const named = namedBy(part);
    if (named !== undefined) {
      if (named.session !== session) throw strange(named.session);
      scope = RemoteScope.innermost(scope, named.scope);
      return { reference: { object: named.object } };
    }
    if (part instanceof URL) return { copied: part.href };
    if (fate === "function") return { reference: { callback: callback(part as Callback) } };
    // Options may have functions.
    if (fate === "object") return isPlain(part as object) ? "parts" : "copy";
    return fate;
  });
  const asked: Asked = {
    ...target,
    args: packed,
    callbacks,
    ...(transfer && { transfer }),
    ...(signal && { signal, signalAt: given.length - 1 }),
    ...(onWeights && { onWeights: callback(onWeights) }),
    ...(onProgress && { onProgress: callback(onProgress) }),
  };
  return receive(session, await connection.call(asked), scope);
}

/** The value with the objects that it names. */
export function receive(
  session: Session,
  packed: Packed<ReceivedReference>,
  scope: RemoteScope<RemoteObject> | undefined,
): unknown {
  return unpack(packed, (reference) => remoteObject(session, reference, scope));
}

/** What an argument names in a worker; undefined for data. */
function namedBy(part: unknown): Named | undefined {
  if (part === null || (typeof part !== "object" && typeof part !== "function")) return undefined;
  return (part as { [namesKey]?: Named })[namesKey];
}

/** The error for an object of another worker, or of one that has ended. */
function strange({ connection }: Session): HeedError {
  const ended = connection.ended !== undefined;
  return ended
    ? refuse(
        "disposed",
        "argument",
        "an object of the running worker",
        "one of a worker that has ended",
      )
    : refuse("option", "argument", "an object of this worker", "one of another");
}

/** The remote objects in a value: in arrays, maps, sets and the fields of plain objects, however deep. */
export function remotesIn(
  value: unknown,
  found: Set<RemoteObject> = new Set(),
  seen: Set<object> = new Set(),
): Set<RemoteObject> {
  if (value instanceof RemoteObject) found.add(value[ownKey]);
  else if (value !== null && typeof value === "object" && !seen.has(value)) {
    seen.add(value);
    if (Array.isArray(value) || value instanceof Map || value instanceof Set || isPlain(value))
      for (const part of partsOf(value)) remotesIn(part, found, seen);
  }
  return found;
}
