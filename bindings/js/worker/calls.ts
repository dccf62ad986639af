// Runs the page's calls in the worker.
//
// The worker frees an object when the page asks for it: after `dispose()`, or after the page's
// garbage collector has freed the handle. It frees only objects that a call made: other objects
// belong to another handle or to the worker's script. The page tracks the objects that the running
// calls need: see remote.ts.

import type { Engine } from "../core/engine.js";
import { describe, HeedError, refuse } from "../core/error.js";
import { Owned, ownedIn } from "../core/owned.js";
import { nextTurn, pauseIn } from "../core/pause.js";
import { cancelled, running } from "../core/running.js";
import { Tensor } from "../core/tensor.js";
import type { Heed } from "../heed.js";
import {
  type CallMessage,
  engineId,
  type FromWorker,
  type ObjectId,
  type ReceivedReference,
  rootId,
  type SentError,
  type SentReference,
  type ToWorker,
} from "./protocol.js";
import { signalled } from "./signalled.js";
import type { Libraries, Tasks } from "./tasks.js";
import {
  buffersIn,
  checkTransferable,
  kindOf,
  type Packed,
  pack,
  type Sent,
  unpack,
  unsendable,
} from "./values.js";

type Post = (message: FromWorker, transfer: Iterable<object>) => void;

type Queued = Exclude<ToWorker, { start: unknown } | { cancel: number }>;

/** An object to which the page can refer. */
interface Named {
  readonly object: object;
  /** Whether a call made it, and it is not yet freed. */
  isOwned: boolean;
}

/** A call that runs. */
interface Started {
  readonly call: CallMessage;
  /** The number of the newest object before the call. */
  readonly lastSerial: number;
  /** The receiver and the arguments, as soon as they are unpacked. */
  readonly given: unknown[];
  isConstructor: boolean;
}

export class Calls {
  readonly #heed: Heed;
  readonly #engine: Engine;
  readonly #libraries: Libraries;
  readonly #post: Post;
  readonly #objects = new Map<ObjectId, Named>();
  #nextObject = engineId + 1;
  /** The calls that have no answer yet. */
  readonly #controllers = new Map<number, AbortController>();
  readonly #queue: Queued[] = [];
  #isRunning = false;

  constructor(heed: Heed, tasks: Tasks, libraries: Libraries, post: Post) {
    this.#heed = heed;
    this.#engine = heed.engine;
    this.#libraries = libraries;
    this.#post = post;
    const root = { tasks, ...libraries.nn, models: libraries.models };
    this.#objects.set(rootId, { object: root, isOwned: false });
    this.#objects.set(engineId, { object: heed, isOwned: false });
  }

  receive(message: Queued | { readonly cancel: number }): void {
    if ("cancel" in message) this.#cancel(message.cancel);
    else {
      if ("id" in message) this.#controllers.set(message.id, new AbortController());
      this.#queue.push(message);
      void this.#runQueue();
    }
  }

  #cancel(call: number): void {
    const controller = this.#controllers.get(call);
    if (controller === undefined) return;
    running.cancel(call);
    controller.abort(cancelled());
  }

  /** Handles the messages in their order. Between two calls, a message that cancels the next call can arrive. */
  async #runQueue(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
        if ("id" in next) {
          this.#start(next);
          await nextTurn();
        } else {
          for (const id of next.dispose) this.#free(this.#objects.get(id));
          this.#forget(next.forget);
        }
      }
    } finally {
      this.#isRunning = false;
    }
  }

  #free(named: Named | undefined): void {
    if (!named?.isOwned) return;
    named.isOwned = false;
    dispose(named.object);
  }

  /** Frees objects without a handle, except for tensors that are now parts of another object that has a handle. */
  #forget(ids: readonly ObjectId[]): void {
    const forgotten = ids.flatMap((id) => this.#objects.get(id) ?? []);
    for (const id of ids) this.#objects.delete(id);
    if (!forgotten.some(({ isOwned }) => isOwned)) return;
    const others = [...this.#objects].filter(([id]) => id > engineId);
    const parts = ownedIn(others.map(([, { object }]) => object));
    for (const named of forgotten)
      if (!(named.object instanceof Owned && parts.has(named.object))) this.#free(named);
  }

  #start(call: CallMessage): void {
    const { id } = call;
    const { lastSerial } = this.#engine;
    const started: Started = { call, lastSerial, given: [], isConstructor: false };
    try {
      const result = running.run(id, () => this.#invoke(started));
      if (!(result instanceof Promise)) this.#answer(started, result);
      else
        result.then(
          (value) => this.#answer(started, value),
          (error) => this.#refuse(id, error),
        );
    } catch (error) {
      this.#refuse(id, error);
    }
  }

  #invoke(started: Started): unknown {
    const { id, object, path, args, signalAt, onWeights } = started.call;
    let receiver: unknown = this.#object(object);
    started.given.push(receiver);
    for (const name of path.slice(0, -1)) receiver = propertyOf(receiver, name);
    const name = path.at(-1) as string;
    const found = propertyOf(receiver, name);
    if (args === undefined) return found;
    if (typeof found !== "function") {
      const [library] = path;
      if (object === rootId && receiver === undefined) throw missing(library as string);
      throw refuse("option", path.join("."), "a function", typeof found);
    }
    const given = this.#argumentsOf(id, args);
    started.given.push(...given);
    if (isTask(started.call)) return found(given[0], this.#context(started.call));
    if (signalAt !== undefined && signalled.has(name)) {
      const { signal } = this.#controllers.get(id) as AbortController;
      given[signalAt] = { ...(given[signalAt] as object), signal };
    }
    started.isConstructor = isClass(found);
    const run = () => (isClass(found) ? new found(...given) : found.apply(receiver, given));
    if (onWeights === undefined) return run();
    const { nn } = this.#libraries;
    if (!nn) throw missing("nn");
    const receive = this.#callback(id, onWeights);
    return nn.nn.captureAttention(receiver as never, receive as never, run);
  }

  #object(id: ObjectId): object {
    const named = this.#objects.get(id);
    if (named === undefined) throw refuse("internal", "object", "one of this worker", String(id));
    return named.object;
  }

  #argumentsOf(id: number, args: Packed<SentReference>): unknown[] {
    return unpack(args, (reference) =>
      "object" in reference
        ? this.#object(reference.object)
        : this.#callback(id, reference.callback),
    ) as unknown[];
  }

  /** @param movesArrays whether arrays are transferred to the page */
  #callback(id: number, callback: number, movesArrays = false): (...args: unknown[]) => void {
    return (...args) => {
      if (running.isCancelled(id)) return;
      const { packed, buffers } = this.#pack("callback", args, (part) => {
        if (part instanceof Tensor) {
          // The tensor may be freed after this call. The page gets another one, which shares its memory.
          const own = this.#engine.keep(this.#engine.alias(part, part.shape));
          return this.#name(own, true);
        }
        return typeof part === "function" ? { value: undefined } : undefined;
      });
      const moved = movesArrays ? buffersIn(packed.value) : buffers;
      this.#send("callback", { id, callback, args: packed }, moved);
    };
  }

  /** The second argument of a task. */
  #context({ id, onProgress }: CallMessage) {
    const { signal } = this.#controllers.get(id) as AbortController;
    const tell = onProgress === undefined ? undefined : this.#callback(id, onProgress, true);
    return {
      heed: this.#heed,
      signal,
      progress: (news: unknown) => tell?.(news),
      pause: () => pauseIn(id),
    };
  }

  #answer(started: Started, result: unknown): void {
    const { id, path } = started.call;
    const name = path.join(".");
    const firstObject = this.#nextObject;
    const sent = new Map<unknown, Sent<ReceivedReference>>();
    try {
      const { packed, buffers } = this.#pack(name, result, (part) => {
        const kind = kindOf(part);
        if (kind === "function")
          throw refuse("unsupported", name, "to return data or objects", "a function");
        if (kind !== "object") return undefined;
        const reference = sent.get(part) ?? this.#name(part as object, this.#isMade(started, part));
        sent.set(part, reference);
        return reference;
      });
      const moved = isTask(started.call) ? buffersIn(packed.value) : buffers;
      this.#send(name, { id, value: packed }, moved);
      this.#end(id);
    } catch (error) {
      // The page gets no handles: free the new objects.
      for (let object = firstObject; object < this.#nextObject; ++object)
        this.#objects.delete(object);
      for (const owned of ownedIn(result)) if (this.#isMade(started, owned)) owned.dispose();
      this.#refuse(id, error);
    }
  }

  /** Whether a call made an object, which then belongs to the caller. All other objects are borrowed. */
  #isMade({ call, lastSerial, given, isConstructor }: Started, object: unknown): boolean {
    if (call.args === undefined) return false;
    if (object instanceof Owned) return object.serial > lastSerial;
    if (isConstructor) return true;
    const parts = [...ownedIn(object)];
    if (parts.length === 0) return !given.includes(object);
    const others = ownedIn(given);
    return parts.some((part) => part.serial > lastSerial && !others.has(part));
  }

  #refuse(id: number, error: unknown): void {
    this.#post({ id, error: sentError(error) }, []);
    this.#end(id);
  }

  #end(id: number): void {
    this.#controllers.delete(id);
    running.end(id);
  }

  #name(object: object, isOwned: boolean): { reference: ReceivedReference } {
    const id = this.#nextObject++;
    this.#objects.set(id, { object, isOwned });
    const tensor = object instanceof Tensor && { dtype: object.dtype, shape: object.shape };
    // An optimiser, for example, needs the model that it was given. New tensors and caches need no other object.
    const needsGiven = !(isOwned && object instanceof Owned);
    return { reference: { object: id, isOwned, needsGiven, ...(tensor && { tensor }) } };
  }

  /**
   * @param decide returns how to send a part; undefined for data
   * @returns also the buffers that are new copies of the engine's memory: these can always be
   *   transferred
   */
  #pack(
    name: string,
    value: unknown,
    decide: (part: unknown) => Sent<ReceivedReference> | undefined,
  ) {
    const buffers = new Set<ArrayBuffer>();
    const packed = pack<ReceivedReference>(name, value, (part) => {
      if (ArrayBuffer.isView(part) && this.#engine.border.owns(part.buffer)) {
        const copy = (part as Uint8Array).slice();
        buffers.add(copy.buffer);
        return { value: copy };
      }
      return decide(part) ?? (kindOf(part) === "container" ? "container" : "data");
    });
    return { packed, buffers };
  }

  /** @throws HeedError "option" if a value cannot be sent */
  #send(name: string, message: FromWorker, moved: ReadonlySet<object>): void {
    try {
      checkTransferable(name, moved);
      this.#post(message, moved);
    } catch (cause) {
      throw unsendable(name, "values that can be sent to the page", cause);
    }
  }
}

const isTask = ({ object, path }: CallMessage) => object === rootId && path[0] === "tasks";

/** Whether a value is a class, which cannot be called. The prototype of a class is not writable; a function's is. */
function isClass(value: unknown): value is new (...args: unknown[]) => unknown {
  return Object.getOwnPropertyDescriptor(value, "prototype")?.writable === false;
}

const missing = (library: string) =>
  refuse("unsupported", library, `heed/${library} among the libraries of \`serve\``, "none");

function propertyOf(holder: unknown, name: string): unknown {
  if (holder === undefined || holder === null) return undefined;
  if (name in Object.prototype)
    throw refuse("option", name, "a method of this library", "one of every object");
  return (holder as Record<string, unknown>)[name];
}

/** Calls the object's `dispose`. No call waits for it, so its error is printed. */
function dispose(object: object): void {
  try {
    const { dispose } = object as { dispose?: unknown };
    const ended: unknown = typeof dispose === "function" ? dispose.call(object) : undefined;
    if (ended instanceof Promise) ended.catch(console.error);
  } catch (error) {
    console.error(error);
  }
}

export function sentError(error: unknown): SentError {
  if (!(error instanceof Error)) return { name: "Error", message: describe(error) };
  const code = error instanceof HeedError && { code: error.code };
  const stack = typeof error.stack === "string" && { stack: error.stack };
  return { name: `${error.name}`, message: `${error.message}`, ...stack, ...code };
}
