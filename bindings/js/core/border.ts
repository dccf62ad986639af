// The border to C++. All operations are called in the same way. TypeScript writes their arguments
// as numbers into the module's memory, in the order of the parameters in bindings/operations.hpp,
// and reads the results from there. members.ts writes and reads structs.

import { errorCodes, messageSize, numberCount, statusCodes } from "./constants.js";
import { HeedError, refuse } from "./error.js";
import { emptied, type Handle, type HeedModule, type Operation } from "./module.js";

/** The error codes of a call's status from 1 on; 0 is success. */
const [, ...codes] = [...statusCodes, ...errorCodes] as const;

/** Names of C++ that are part of an object in TypeScript. */
const names: Readonly<Record<string, string>> = {
  cu_seqlens_k: "cuSeqlens.k",
  cu_seqlens_q: "cuSeqlens.q",
  lse_a: "a.lse",
  lse_b: "b.lse",
  output_a: "a.output",
  output_b: "b.output",
  past_key: "past.key",
  past_value: "past.value",
};

const inTypeScript = (name: string) =>
  names[name] ?? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The kinds of objects in an engine's memory, as messages name them. */
export type Kind = "tensor" | "cache" | "weights" | "mask";

/** An object with an owner in JavaScript: see Owned. */
export interface Watched {
  readonly kind: Kind;
  readonly label: string;
  readonly isDisposed: boolean;
  handle(argument: string, border: Border): Handle;
}

/** The number of objects of one kind, and the engine memory that they hold. */
export interface HeldMemory {
  /** The number of objects. */
  readonly count: number;
  /** Their memory, in bytes. */
  readonly bytes: number;
}

/**
 * A place in the program where objects are made, and the live ones made there. Tensors that share memory count
 * in full.
 */
export interface AllocationSite extends HeldMemory {
  /** One of the objects, such as "Tensor(float32, [8, 64])". */
  readonly example: string;
  /** The objects that the garbage collector freed because nothing disposed of them. */
  readonly leaked: HeldMemory;
  /** The calls that led there, the innermost first. A bundle's stack includes those within this package. */
  readonly stack: string;
}

/** For each kind of object except tensors: the functions that delete one and that return its bytes. */
const functions = {
  cache: ["deleteKvCache", "kvCacheBytes"],
  weights: ["deletePackedWeights", "packedWeightsBytes"],
  mask: ["deleteBlockMask", "blockMaskBytes"],
} as const satisfies Record<Exclude<Kind, "tensor">, readonly [keyof HeedModule, keyof HeedModule]>;

export class Border {
  #module: HeedModule;
  /** Undefined after the engine is disposed of. */
  #memory: WebAssembly.Memory | undefined;
  /** The buffer that `buffer` returned last, and all buffers that it returned. */
  #buffer: ArrayBufferLike | undefined;
  readonly #buffers = new WeakSet<ArrayBufferLike>();
  readonly #engine: Handle;
  /** The arguments and results of a call. Shared memory grows in place, so this view stays valid. */
  #numbers: Float64Array;
  /** Index of the next result to read. */
  #next = 0;
  isDisposed = false;
  /** The largest size of the memory in bytes. */
  readonly most: number;
  /** Frees objects that the garbage collector collected: a safety net for objects without `dispose`. */
  readonly #abandoned: Readonly<Record<Kind, FinalizationRegistry<Handle>>>;
  /**
   * Objects made since the event loop's last turn. The garbage collector reports none before the next turn,
   * and most tensors are disposed of by then. Only the others are registered, because that is slow.
   */
  protected readonly fresh: Watched[] = [];
  /** All live objects except tensors, which C++ counts. */
  readonly #held = {
    cache: new Set<Handle>(),
    weights: new Set<Handle>(),
    mask: new Set<Handle>(),
  };
  #isWatching = false;

  constructor(module: HeedModule, memory: WebAssembly.Memory, most: number, threads: number) {
    this.most = most;
    this.#module = module;
    this.#memory = memory;
    const registry = (kind: Kind) =>
      new FinalizationRegistry((handle: Handle) => this.freeAbandoned(kind, handle));
    this.#abandoned = {
      tensor: registry("tensor"),
      cache: registry("cache"),
      weights: registry("weights"),
      mask: registry("mask"),
    };
    this.#engine = module.newEngine();
    if (this.#engine === 0) throw refuse("memory", "memory", "room for an engine", "none");
    const status = module.startEngine(this.#engine, threads);
    if (status !== 0) throw this.#explain(status);
    this.#numbers = new Float64Array(memory.buffer, module.numbersOf(this.#engine), numberCount);
  }

  get module(): HeedModule {
    return this.#module;
  }

  /** The module's memory, and the address in it of the word of Context::call; undefined after `dispose`. */
  get callWord(): { memory: WebAssembly.Memory; address: number } | undefined {
    const memory = this.#memory;
    return memory && { memory, address: this.#module.callOf(this.#engine) };
  }

  /** Running threads, including the caller's; after `dispose`, the number that ran before it. */
  get runningThreads(): number {
    return this.#module.runningThreads(this.#engine);
  }

  /** The module's current memory: the next call may grow it. */
  get buffer(): ArrayBufferLike {
    const buffer = this.#memory?.buffer ?? new ArrayBuffer(0);
    if (buffer !== this.#buffer) this.#buffers.add(buffer);
    this.#buffer = buffer;
    return buffer;
  }

  /**
   * Whether the buffer is or was the module's memory. When shared memory grows, it gets a new
   * buffer object, and views of the old one stay valid.
   */
  owns(buffer: ArrayBufferLike): boolean {
    return this.#buffers.has(buffer);
  }

  /**
   * Runs an operation; a C++ exception becomes a HeedError. Read the results before the next
   * operation runs. A trap ends the engine, with a HeedError "internal".
   *
   * @param calledHere public names of arguments, by their names in C++'s messages
   */
  run(
    operation: Operation,
    args: readonly number[],
    calledHere?: Readonly<Record<string, string>>,
  ): void {
    this.checkAlive();
    const numbers = this.#numbers;
    if (args.length > numbers.length)
      throw refuse("option", "arguments", `at most ${numbers.length} numbers`, `${args.length}`);
    for (let i = 0; i < args.length; ++i) numbers[i] = args[i] as number;
    this.#next = 0;
    let status: number;
    try {
      status = operation(this.#engine, args.length);
    } catch (cause) {
      throw this.#stopped("stopped", cause);
    }
    if (status !== 0) throw this.#explain(status, calledHere);
  }

  /** Lets the garbage collector free an object that is dropped without `dispose`. */
  watch(owned: Watched): void {
    const most = 1024;
    // The constructors of all fresh objects but this one have finished.
    if (this.fresh.length === most) this.watchFresh();
    this.fresh.push(owned);
    if (this.#isWatching) return;
    this.#isWatching = true;
    queueMicrotask(() => {
      this.#isWatching = false;
      this.watchFresh();
    });
  }

  /** Stops watching an object, because its owner disposes of it. */
  unwatch(owned: Watched): void {
    const fresh = this.fresh;
    if (fresh[fresh.length - 1] === owned) fresh.pop();
    else this.#abandoned[owned.kind].unregister(owned);
  }

  protected watchFresh(): void {
    for (const owned of this.fresh.splice(0)) {
      if (owned.isDisposed) continue;
      this.#abandoned[owned.kind].register(owned, owned.handle(owned.kind, this), owned);
    }
  }

  /** The next result, an object other than a tensor, which `held` counts. */
  nextHeld(kind: Exclude<Kind, "tensor">): Handle {
    const handle = this.next();
    this.#held[kind].add(handle);
    return handle;
  }

  /** Frees a C++ object; does nothing after `dispose`, which frees all of them. */
  free(kind: Kind, handle: Handle): void {
    if (this.isDisposed) return;
    if (kind === "tensor") {
      this.module.deleteTensor(handle);
    } else {
      this.#held[kind].delete(handle);
      this.module[functions[kind][0]](handle);
    }
  }

  /** Frees an object that the garbage collector collected. */
  protected freeAbandoned(kind: Kind, handle: Handle): void {
    this.free(kind, handle);
  }

  /** The live objects of a kind, including dropped ones that are not yet freed. */
  held(kind: Kind): HeldMemory {
    const { module } = this;
    if (kind === "tensor") return { count: module.tensorCount(), bytes: module.tensorBytes() };
    let bytes = 0;
    for (const handle of this.#held[kind]) bytes += this.bytesOf(kind, handle);
    return { count: this.#held[kind].size, bytes };
  }

  /** The bytes of an object that is not a tensor. */
  protected bytesOf(kind: Exclude<Kind, "tensor">, handle: Handle): number {
    this.run(this.module[functions[kind][1]], [handle]);
    return this.next();
  }

  /** The places where the live and the leaked objects were made; undefined unless this is a LeakFinder. */
  sites(): readonly AllocationSite[] | undefined {
    return undefined;
  }

  checkAlive(): void {
    if (this.isDisposed) {
      throw refuse("disposed", "engine", "a live engine", "a disposed one");
    }
  }

  /**
   * Stops the threads without waiting for them, and drops the references to the module and its
   * memory. So they can be collected while the engine or one of its tensors is still referenced.
   */
  dispose(): void {
    if (this.isDisposed) return;
    this.isDisposed = true;
    let running = 0;
    try {
      running = this.runningThreads;
    } catch {
      // The stack is still full: nothing of the module can be called.
    }
    this.#module.PThread.terminateAllThreads();
    this.#module = { ...emptied(this.#module), runningThreads: () => running };
    this.#memory = undefined;
    this.#buffer = undefined;
    this.#numbers = new Float64Array(0);
    this.fresh.length = 0;
  }

  /** The next result. */
  next(): number {
    return this.#numbers[this.#next++] as number;
  }

  /**
   * Ends the engine after a trap on any of its threads, or because the stack was full. C++ left its
   * functions without undoing their changes, so no later result could be trusted.
   */
  #stopped(how: string, cause: unknown): HeedError {
    this.dispose();
    const got = cause instanceof Error ? cause.message : String(cause);
    return new HeedError(
      "internal",
      `engine: expected to finish the call, got ${how}: ${got}; this engine has ended, load another`,
      { cause },
    );
  }

  #explain(status: number, calledHere: Readonly<Record<string, string>> = {}): HeedError {
    const encoded = new Uint8Array(this.buffer, this.module.messageOf(this.#engine), messageSize);
    // TextDecoder does not accept shared memory: slice copies.
    const message = new TextDecoder().decode(encoded.slice(0, encoded.indexOf(0)));
    const text = message
      .replace(/\b[a-z]+(?:_[a-z]+)+\b/g, inTypeScript)
      .replace(/^\w+(?=:)/, (name) => calledHere[name] ?? name);
    const code = codes[status - 1] ?? "internal";
    // An exception of another thread cannot reach this one: only its message does.
    if (code === "stopped")
      return this.#stopped("stopped in another thread", new WebAssembly.RuntimeError(message));
    const { count, bytes } = this.held("tensor");
    if (count === 0 || !text.endsWith("more bytes, got none")) return new HeedError(code, text);
    const advice = "free tensors that you no longer need with dispose() or heed.scope";
    return new HeedError(code, `${text}; live tensors: ${count}, of ${bytes} bytes; ${advice}`);
  }
}
