// One loaded module with its context, and the tensors that live in it: what every operation needs.

import { describe, HeedError, refuse } from "./error.js";
import { guard, keepReserve } from "./guard.js";
import type { ContextHandle, HeedModule, TensorHandle } from "./module.js";
import { createTensor, Tensor } from "./tensor.js";

export class Engine {
  readonly module: HeedModule;
  #context: ContextHandle | null;
  /** The tensors made in each open scope, innermost last. */
  readonly #scopes: Set<Tensor>[] = [];

  constructor(module: HeedModule, threads: number) {
    this.module = module;
    module.reserve = [];
    keepReserve(module);
    this.#context = guard(module, () => new module.Context(threads));
  }

  /** The context, if the engine is not disposed. */
  context(): ContextHandle {
    if (this.#context === null) {
      throw new HeedError("disposed", "engine: expected a live engine, got a disposed one");
    }
    return this.#context;
  }

  /** The C++ object of a tensor that an operation takes. */
  handle(argument: string, tensor: unknown): TensorHandle {
    if (!(tensor instanceof Tensor)) throw refuse("dtype", argument, "a tensor", describe(tensor));
    return tensor.handle(argument, this.module);
  }

  /** A tensor for a result that is there. */
  tensor(handle: TensorHandle | null): Tensor {
    return this.track(new Tensor(this.module, present(handle)));
  }

  /** A tensor for a result that may not have been asked for. */
  optional(handle: TensorHandle | null): Tensor | undefined {
    return handle === null ? undefined : this.tensor(handle);
  }

  /** Runs an operation with one result. */
  run(call: (module: HeedModule, context: ContextHandle) => TensorHandle | null): Tensor {
    const context = this.context();
    return guard(this.module, () => this.tensor(call(this.module, context)));
  }

  /**
   * Runs an operation whose options and result are C++ objects: hands out a collector for what must be
   * deleted afterwards, whatever happens.
   */
  call<T>(
    run: (context: ContextHandle, own: Own) => T,
    calledHere: Readonly<Record<string, string>> = {},
  ): T {
    const context = this.context();
    const owned: { delete(): void }[] = [];
    try {
      const own: Own = (object) => {
        const there = present(object);
        owned.push(there);
        return there;
      };
      return guard(this.module, () => run(context, own), calledHere);
    } finally {
      for (const object of owned.reverse()) object.delete();
    }
  }

  /** The handle of a tensor, or of a list of numbers that lives for one call only. */
  handleOrList(
    argument: string,
    value: Tensor | readonly number[],
    dtype: "float32" | "int32",
    own: Own,
  ): TensorHandle {
    if (value instanceof Tensor) return this.handle(argument, value);
    const isFloat = dtype === "float32";
    const fits = (item: unknown) =>
      isFloat
        ? typeof item === "number"
        : Number.isInteger(item) && item === ((item as number) | 0);
    for (const item of value) {
      if (fits(item)) continue;
      throw refuse(
        "option",
        argument,
        isFloat ? "numbers" : "whole numbers of 32 bits",
        describe(item),
      );
    }
    const data = isFloat ? Float32Array.from(value) : Int32Array.from(value);
    const tensor = createTensor(this.module, data, undefined, undefined);
    own({ delete: () => tensor.dispose() });
    return tensor.handle(argument, this.module);
  }

  track(tensor: Tensor): Tensor {
    this.#scopes.at(-1)?.add(tensor);
    return tensor;
  }

  scope<T>(run: () => T): T {
    const made = new Set<Tensor>();
    this.#scopes.push(made);
    let result: T | undefined;
    try {
      result = run();
      if (result instanceof Promise) {
        // It goes on without its tensors: what becomes of it is of no interest.
        result.catch(() => {});
        throw refuse("option", "scope", "a function that is not async", "a promise");
      }
      return result;
    } finally {
      this.#scopes.pop();
      const kept = new Set<Tensor>();
      collectTensors(result, kept);
      const outer = this.#scopes.at(-1);
      for (const tensor of made) {
        if (kept.has(tensor)) outer?.add(tensor);
        else tensor.dispose();
      }
    }
  }

  dispose(): void {
    this.#context?.delete();
    this.#context = null;
    this.module.isDisposed = true;
    this.module.PThread.terminateAllThreads();
  }
}

/** Takes charge of a C++ object: it is deleted when the call ends. */
export type Own = <T extends { delete(): void }>(object: T | null) => T;

/** The module's types allow null for every pointer; these are never. */
function present<T>(pointer: T | null): T {
  if (pointer === null) throw new HeedError("internal", "module: expected a result, got null");
  return pointer;
}

function collectTensors(value: unknown, found: Set<Tensor>): void {
  if (value instanceof Tensor) {
    found.add(value);
  } else if (Array.isArray(value)) {
    for (const item of value) collectTensors(item, found);
  } else if (value !== null && typeof value === "object") {
    if (Object.getPrototypeOf(value) !== Object.prototype) return;
    for (const item of Object.values(value)) collectTensors(item, found);
  }
}
