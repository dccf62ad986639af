// The border to C++. All operations are called in one way: their arguments are written as numbers into
// the module's memory, in the order in which bindings/embind.cpp lists them, and the results are read
// from there.

import { HeedError, type HeedErrorCode, refuse } from "./error.js";
import type { Handle, HeedModule, Operation } from "./module.js";
import type { Tensor } from "./tensor.js";

const codes: Record<string, HeedErrorCode> = {
  "heed::ShapeError": "shape",
  "heed::DTypeError": "dtype",
  "heed::OptionError": "option",
  "heed::MemoryError": "memory",
};

/** What C++ calls by one name is in TypeScript part of something. */
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

/** No number, for options that are not given. */
export const notGiven = Number.NaN;

export class Border {
  readonly module: HeedModule;
  readonly #memory: WebAssembly.Memory;
  /** Where the module's stack stands while no call runs. */
  readonly #stack: number;
  /** Memory kept for bad times. */
  readonly #reserve: Handle[] = [];
  readonly #engine: Handle;
  /** The numbers of a call. The memory is shared, so it grows in place and this view lasts. */
  readonly #numbers: Float64Array;
  /** The next result to be read. */
  #next = 0;
  isDisposed = false;
  /** Frees the tensors that the garbage collector found abandoned: a safety net, not a plan. */
  readonly #abandoned: FinalizationRegistry<Handle>;
  /**
   * Tensors made since the event loop's last turn. Nothing is found abandoned before its next one, and
   * by then most are disposed of: only the others need the net, which is not cheap.
   */
  readonly #fresh: Tensor[] = [];
  #isWatching = false;

  constructor(module: HeedModule, memory: WebAssembly.Memory, threads: number) {
    this.module = module;
    this.#memory = memory;
    this.#stack = module.stackSave();
    this.#abandoned = new FinalizationRegistry((tensor) => module.deleteTensor(tensor));
    this.#keepReserve();
    try {
      this.#engine = module.newEngine(threads);
    } catch (error) {
      throw this.#explain(error);
    }
    this.#numbers = new Float64Array(
      memory.buffer,
      module.numbersOf(this.#engine),
      module.numberCount,
    );
  }

  /** The module's memory as it is now: the next call may grow it. */
  get buffer(): ArrayBufferLike {
    return this.#memory.buffer;
  }

  /**
   * Runs an operation; a C++ exception comes out as a HeedError. The results are to be read before the
   * next one runs.
   *
   * @param calledHere what this operation's users call an argument, by its name in the message
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
    try {
      operation(this.#engine, args.length);
    } catch (error) {
      throw this.#explain(error, calledHere);
    }
  }

  /** Sees to it that a tensor is freed once nobody has it any more. */
  watch(tensor: Tensor): void {
    const most = 1024;
    if (this.#fresh.push(tensor) === most) this.#watchFresh();
    if (this.#isWatching) return;
    this.#isWatching = true;
    queueMicrotask(() => {
      this.#isWatching = false;
      this.#watchFresh();
    });
  }

  /** Leaves a tensor that is being disposed of to its owner. */
  unwatch(tensor: Tensor): void {
    if (this.#fresh.at(-1) === tensor) this.#fresh.pop();
    else this.#abandoned.unregister(tensor);
  }

  #watchFresh(): void {
    if (this.isDisposed) return;
    for (const tensor of this.#fresh.splice(0)) {
      if (tensor.isDisposed) continue;
      this.#abandoned.register(tensor, tensor.handle("tensor", this), tensor);
    }
  }

  checkAlive(): void {
    if (this.isDisposed) {
      throw new HeedError("disposed", "engine: expected a live engine, got a disposed one");
    }
  }

  /** Stops the threads. The module ends as it stands: nobody waits for a thread that has not begun. */
  dispose(): void {
    this.isDisposed = true;
    this.module.PThread.terminateAllThreads();
  }

  /** The next number of the results. */
  next(): number {
    return this.#numbers[this.#next++] as number;
  }

  /**
   * Sets memory aside that is given back while an exception is named: that takes some itself, and the
   * exception may be that there is none. In small pieces, because what takes their place while they are
   * away costs a few of them and not all.
   */
  #keepReserve(): void {
    const pieces = 16;
    const bytes = 2048;
    try {
      while (this.#reserve.length < pieces) this.#reserve.push(this.module.newReserve(bytes));
    } catch (error) {
      this.module.stackRestore(this.#stack);
      if (!(error instanceof WebAssembly.Exception)) throw error;
      this.module.decrementExceptionRefcount(error);
    }
  }

  /** Type and text of a C++ exception, which is freed. */
  #read(exception: WebAssembly.Exception): [type: string, message: string] {
    for (const piece of this.#reserve.splice(0)) this.module.deleteReserve(piece);
    const typeAndMessage = this.module.getExceptionMessage(exception);
    this.module.decrementExceptionRefcount(exception);
    this.#keepReserve();
    return typeAndMessage;
  }

  #explain(error: unknown, calledHere: Readonly<Record<string, string>> = {}): unknown {
    // An exception that leaves the module does not unwind the stack that the module keeps in memory.
    this.module.stackRestore(this.#stack);
    if (!(error instanceof WebAssembly.Exception)) return error;
    const [type, message] = this.#read(error);
    if (type === "std::bad_alloc") {
      return new HeedError("memory", "memory: expected more bytes, got none", { cause: error });
    }
    const text = message
      .replace(/\b[a-z]+(?:_[a-z]+)+\b/g, inTypeScript)
      .replace(/^\w+(?=:)/, (name) => calledHere[name] ?? name);
    return new HeedError(codes[type] ?? "internal", text || type, { cause: error });
  }
}
