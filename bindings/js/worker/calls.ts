// The worker's side: runs the calls of a page on the engine.

import type { Engine } from "../core/engine.js";
import { describe, HeedError, refuse } from "../core/error.js";
import { type Owned, ownedIn } from "../core/owned.js";
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
import { buffersIn, fateOf, type Packed, pack, unpack } from "./values.js";

type Post = (message: FromWorker, transfer: Iterable<object>) => void;

type Queued = Exclude<ToWorker, { start: unknown } | { cancel: number }>;

const none: ReadonlySet<Owned> = new Set();

export class Calls {
  readonly #heed: Heed;
  readonly #engine: Engine;
  readonly #libraries: Libraries;
  readonly #post: Post;
  readonly #objects = new Map<ObjectId, object>();
  #nextObject = engineId + 1;
  /** The calls that have no answer yet. */
  readonly #controllers = new Map<number, AbortController>();
  /** The objects that these calls were given: they, their parts and what they are part of live until the answer. */
  readonly #given = new Map<number, readonly object[]>();
  /** What is to be freed then. */
  readonly #disposed = new Set<object>();
  readonly #queue: Queued[] = [];
  #isDraining = false;

  constructor(heed: Heed, tasks: Tasks, libraries: Libraries, post: Post) {
    this.#heed = heed;
    this.#engine = heed.engine;
    this.#libraries = libraries;
    this.#post = post;
    this.#objects.set(rootId, { tasks, ...libraries.nn, models: libraries.models });
    this.#objects.set(engineId, heed);
  }

  receive(message: Queued | { readonly cancel: number }): void {
    if ("cancel" in message) this.#cancel(message.cancel);
    else {
      if ("id" in message) this.#controllers.set(message.id, new AbortController());
      this.#queue.push(message);
      void this.#drain();
    }
  }

  #cancel(call: number): void {
    const controller = this.#controllers.get(call);
    if (controller === undefined) return;
    running.cancel(call);
    controller.abort(cancelled());
  }

  /** Handles what has come, one after the other; a cancel that has come meanwhile is heard before the next call. */
  async #drain(): Promise<void> {
    if (this.#isDraining) return;
    this.#isDraining = true;
    try {
      for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
        if ("id" in next) {
          this.#start(next);
          await nextTurn();
        } else if ("dispose" in next) {
          this.#dispose(next.dispose, next.kept ?? []);
        } else {
          for (const id of next.forget) this.#objects.delete(id);
        }
      }
    } finally {
      this.#isDraining = false;
    }
  }

  #dispose(ids: readonly ObjectId[], kept: readonly ObjectId[]): void {
    const keptParts = withParts(this.#named(kept));
    for (const id of ids) {
      const object = this.#objects.get(id);
      if (object === undefined) continue;
      // The garbage collector frees what is not kept of it.
      if (hasPartOf(object, keptParts)) this.#objects.delete(id);
      else if (this.#isGiven(object)) this.#disposed.add(object);
      else dispose(object);
    }
  }

  #isGiven(object: object): boolean {
    return [...this.#given.values()].some((given) => hasPartOf(object, withParts(given)));
  }

  #named(ids: Iterable<ObjectId>): readonly object[] {
    return [...ids].flatMap((id) => this.#objects.get(id) ?? []);
  }

  #start(call: CallMessage): void {
    const { id } = call;
    this.#given.set(id, this.#named(givenTo(call)));
    try {
      const { result, made } = running.run(id, () =>
        this.#engine.collect(() => this.#invoke(call)),
      );
      if (!(result instanceof Promise)) this.#answer(call, result, made);
      else
        result.then(
          (value) => this.#answer(call, value, none),
          (error) => this.#refuse(id, error),
        );
    } catch (error) {
      this.#refuse(id, error);
    }
  }

  #invoke(call: CallMessage): unknown {
    const { id, object, path, args } = call;
    let receiver: unknown = this.#object(object);
    for (const name of path.slice(0, -1)) receiver = propertyOf(receiver, name);
    const name = path.at(-1) as string;
    const found = propertyOf(receiver, name);
    if (args === undefined) return found;
    if (typeof found !== "function") {
      const [library] = path;
      if (object === rootId && receiver === undefined) throw missing(library as string);
      throw refuse("option", path.join("."), "a function", typeof found);
    }
    const given = this.#argumentsOf(call, args);
    if (object === rootId && path[0] === "tasks") return found(given[0], this.#context(call));
    if (call.signalAt !== undefined && signalled.has(name)) {
      const { signal } = this.#controllers.get(id) as AbortController;
      given[call.signalAt] = { ...(given[call.signalAt] as object), signal };
    }
    const run = () => (isClass(found) ? new found(...given) : found.apply(receiver, given));
    if (call.onWeights === undefined) return run();
    const { nn } = this.#libraries;
    if (!nn) throw missing("nn");
    const receive = this.#callback(id, call.onWeights);
    return nn.nn.captureAttention(receiver as never, receive as never, run);
  }

  #object(id: ObjectId): object {
    const object = this.#objects.get(id);
    if (object === undefined) throw refuse("internal", "object", "one of this worker", String(id));
    // It was disposed of before this call, or something that it has in common with what was, and still lives for an
    // earlier one.
    if (this.#disposed.size > 0 && hasPartOf(object, withParts(this.#disposed)))
      throw refuse("disposed", "argument", "a live object", "a disposed one");
    return object;
  }

  #argumentsOf({ id }: CallMessage, args: Packed<SentReference>): unknown[] {
    return unpack(args, (reference) =>
      "object" in reference
        ? this.#object(reference.object)
        : this.#callback(id, reference.callback),
    ) as unknown[];
  }

  /** @param isTask whether arrays move to the page, as those in the answer of a task */
  #callback(id: number, callback: number, isTask = false): (...args: unknown[]) => void {
    return (...args) => {
      if (running.isCancelled(id)) return;
      // A tensor may be valid during this call only: the page gets one of its own, in the same memory.
      const lasting = (tensor: Tensor) =>
        this.#engine.keep(this.#engine.alias(tensor, tensor.shape));
      const { packed, buffers } = this.#pack("callback", args, (part) => {
        if (part instanceof Tensor) return this.#name(lasting(part), true);
        return typeof part === "function" ? { copied: undefined } : undefined;
      });
      this.#post({ id, callback, args: packed }, isTask ? buffersIn(packed.value) : buffers);
    };
  }

  /** What a task gets beside its request. */
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

  #answer({ id, object, path }: CallMessage, result: unknown, made: ReadonlySet<Owned>): void {
    const before = this.#nextObject;
    try {
      const isNew = (part: object) => [...ownedIn(part)].some((owned) => made.has(owned));
      const { packed, buffers } = this.#pack(path.join("."), result, (part) => {
        if (fateOf(part) === "object") return this.#name(part as object, isNew(part as object));
        if (typeof part !== "function") return undefined;
        throw refuse("unsupported", path.join("."), "to return data or objects", "a function");
      });
      const isTask = object === rootId && path[0] === "tasks";
      this.#post({ id, value: packed }, isTask ? buffersIn(packed.value) : buffers);
      this.#end(id);
    } catch (error) {
      // The page does not know of them.
      for (let name = before; name < this.#nextObject; ++name) this.#objects.delete(name);
      for (const owned of made) owned.dispose();
      this.#refuse(id, error);
    }
  }

  #refuse(id: number, error: unknown): void {
    this.#post({ id, error: sentError(error) }, []);
    this.#end(id);
  }

  #end(id: number): void {
    this.#controllers.delete(id);
    running.end(id);
    this.#given.delete(id);
    for (const disposed of this.#disposed) {
      if (this.#isGiven(disposed)) continue;
      this.#disposed.delete(disposed);
      dispose(disposed);
    }
  }

  #name(object: object, isNew: boolean): { reference: ReceivedReference } {
    const id = this.#nextObject++;
    this.#objects.set(id, object);
    const tensor = object instanceof Tensor && { dtype: object.dtype, shape: object.shape };
    return { reference: { object: id, ...(isNew && { isNew }), ...(tensor && { tensor }) } };
  }

  /**
   * @param decide what becomes of a part, if that is special
   * @returns also the buffers that were copied out of the engine's memory, which cannot be sent
   */
  #pack(name: string, value: unknown, decide: (part: unknown) => Decided | undefined) {
    const buffers = new Set<ArrayBuffer>();
    const packed = pack<ReceivedReference>(name, value, (part) => {
      if (ArrayBuffer.isView(part) && this.#engine.border.owns(part.buffer)) {
        const copied = (part as Uint8Array).slice();
        buffers.add(copied.buffer);
        return { copied };
      }
      return decide(part) ?? (fateOf(part) === "parts" ? "parts" : "copy");
    });
    return { packed, buffers };
  }
}

/** The objects of the worker that a call names, but for the engine: its receiver, and those in its arguments. */
function givenTo({ object, args }: CallMessage): ReadonlySet<ObjectId> {
  const references = args?.references ?? [];
  const ids = new Set([object]);
  for (const [, reference] of references) if ("object" in reference) ids.add(reference.object);
  for (const permanent of [rootId, engineId]) ids.delete(permanent);
  return ids;
}

/** Objects, and what is owned in them. */
const withParts = (objects: Iterable<object>): ReadonlySet<object> =>
  new Set([...objects].flatMap((object) => [object, ...ownedIn(object)]));

/** Whether an object is among others with their parts, or has one of the parts. */
const hasPartOf = (object: object, others: ReadonlySet<object>): boolean =>
  others.has(object) || [...ownedIn(object)].some((owned) => others.has(owned));

type Decided = { readonly reference: ReceivedReference } | { readonly copied: unknown };

/** A class cannot be called: its prototype is not writable, unlike that of a function. */
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

/** Nobody waits for the end of an object, so an error of a task's own has nowhere to go but the console. */
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
