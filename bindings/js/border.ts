// The border to C++. All operations are called in one way: their arguments are written as numbers into
// the module's memory, in the order in which bindings/embind.cpp lists them, and the results are read
// from there.

import { HeedError, refuse } from "./error.js";
import type { Handle, HeedModule, Operation } from "./module.js";
import type { Tensor } from "./tensor.js";

/** How a call can end, in the order of bindings/border.hpp: well, or for one of these reasons. */
const codes = ["", "internal", "memory", "shape", "dtype", "option", "memory"] as const;

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
    this.#abandoned = new FinalizationRegistry((tensor) => module.deleteTensor(tensor));
    this.#engine = module.newEngine();
    if (this.#engine === 0)
      throw new HeedError("memory", "memory: expected room for an engine, got none");
    const ending = module.startEngine(this.#engine, threads);
    if (ending !== 0) throw this.#explain(ending);
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
   * Runs an operation; its C++ exceptions come out as HeedError. The results are to be read before the
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
    const ending = operation(this.#engine, args.length);
    if (ending !== 0) throw this.#explain(ending, calledHere);
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

  #explain(ending: number, calledHere: Readonly<Record<string, string>> = {}): HeedError {
    const bytes = new Uint8Array(this.#memory.buffer, this.module.messageOf(this.#engine), 1024);
    // A copy, because text is not decoded from shared memory.
    const message = new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
    const text = message
      .replace(/\b[a-z]+(?:_[a-z]+)+\b/g, inTypeScript)
      .replace(/^\w+(?=:)/, (name) => calledHere[name] ?? name);
    return new HeedError(codes[ending] || "internal", text);
  }
}
