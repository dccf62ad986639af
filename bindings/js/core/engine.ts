// One loaded module and the objects in it: the state that every operation needs.

import type { AllocationSite, Border, HeldMemory } from "./border.js";
import { dtypes } from "./constants.js";
import { describe, refuse } from "./error.js";
import type { Handle, HeedModule, Operation } from "./module.js";
import { type Owned, ownedIn } from "./owned.js";
import { recording } from "./tape.js";
import { createTensor, Tensor } from "./tensor.js";
import { checkArgument, checkNoPromise, isFunction, isListOf } from "./validate.js";

/** The result of `heed.memory()`; all sizes are in bytes. */
export interface MemoryUse {
  /** The size of the WebAssembly memory. It grows on demand and never shrinks. */
  readonly size: number;
  /**
   * The allocated part of it: the objects below, and memory of the engine itself. The engine needs
   * memory, for example, for the stacks of its threads and as scratch memory of its kernels, which
   * is kept for the next call.
   */
  readonly used: number;
  /**
   * The elements of all tensors, rounded up to 64 bytes each. Tensors that share memory (`reshape`, `split`,
   * `detach`) are counted separately, and their bytes once.
   */
  readonly tensors: HeldMemory;
  /** The pages of all caches of keys and values. */
  readonly caches: HeldMemory;
  /** All packed weights. */
  readonly packedWeights: HeldMemory;
  /** All block masks. */
  readonly blockMasks: HeldMemory;
  /** With `load({ debug: true })`: where the objects were made. The places with most bytes come first. */
  readonly sites?: readonly AllocationSite[];
}

export class Engine {
  readonly border: Border;
  /** The number of the newest object: see Owned.serial. */
  lastSerial = 0;
  /** The objects made in each open scope, innermost scope last. */
  readonly #scopes: Set<Owned>[] = [];

  constructor(border: Border) {
    this.border = border;
  }

  get module(): HeedModule {
    return this.border.module;
  }

  /** The C++ object of a tensor argument. */
  handle(argument: string, tensor: unknown): Handle {
    if (!(tensor instanceof Tensor)) throw refuse("dtype", argument, "a tensor", describe(tensor));
    return tensor.handle(argument, this.border);
  }

  /** The C++ objects of tensor arguments, by their names. */
  handles(tensors: Readonly<Record<string, unknown>>): Handle[] {
    return Object.entries(tensors).map(([name, tensor]) => this.handle(name, tensor));
  }

  /** A tensor argument, checked under its public name where C++ has another one. */
  checked(argument: string, tensor: Tensor): Tensor {
    this.handle(argument, tensor);
    return tensor;
  }

  /** The C++ object of an optional argument: 0 if it is not given. */
  handleOrNone(argument: string, tensor: Tensor | undefined): Handle {
    return tensor === undefined ? 0 : this.handle(argument, tensor);
  }

  /** Runs an operation: see Border.run. */
  run(
    operation: Operation,
    args: readonly number[],
    calledHere?: Readonly<Record<string, string>>,
  ): this {
    this.border.run(operation, args, calledHere);
    return this;
  }

  /** Runs an operation with one result, a tensor. */
  apply(
    operation: Operation,
    args: readonly number[],
    calledHere?: Readonly<Record<string, string>>,
  ): Tensor {
    return this.run(operation, args, calledHere).tensor();
  }

  /** The next result, a tensor. */
  tensor(): Tensor {
    return this.track(new Tensor(this, this.border.next()));
  }

  /** The next result, an optional tensor. */
  optional(): Tensor | undefined {
    const handle = this.border.next();
    return handle === 0 ? undefined : this.track(new Tensor(this, handle));
  }

  // Operations for the library's own use; a tape does not record them.

  filled(shape: readonly number[], value: number): Tensor {
    const { module } = this;
    const tensor = this.apply(module.newTensor, [
      dtypes.indexOf("float32"),
      shape.length,
      ...shape,
    ]);
    tensor.data.fill(value);
    return tensor;
  }

  zeros(shape: readonly number[]): Tensor {
    return this.filled(shape, 0);
  }

  add(a: Tensor, b: Tensor): Tensor {
    return this.apply(this.module.add, [this.handle("a", a), this.handle("b", b)]);
  }

  scaled(x: Tensor, factor: number): Tensor {
    return this.apply(this.module.scale, [this.handle("x", x), factor]);
  }

  /** A tensor over the elements of x from `first` on, which shares memory with x. */
  alias(x: Tensor, shape: readonly number[], first = 0): Tensor {
    return this.apply(this.module.alias, [this.handle("x", x), shape.length, ...shape, first]);
  }

  isShared(x: Tensor): boolean {
    this.run(this.module.isShared, [this.handle("x", x)]);
    return this.border.next() !== 0;
  }

  isFinite(x: Tensor): boolean {
    this.run(this.module.isFinite, [this.handle("x", x)]);
    return this.border.next() !== 0;
  }

  /**
   * Runs a call that accepts lists of numbers where C++ takes tensors. It receives a function that makes a
   * temporary tensor from a list.
   */
  withLists<T>(call: (list: List) => T): T {
    const made: Tensor[] = [];
    const list: List = (argument, value, dtype = "int32") => {
      if (value === undefined) return undefined;
      if (value instanceof Tensor) return this.checked(argument, value);
      checkNumbers(argument, value, dtype);
      const data = dtype === "int32" ? Int32Array.from(value) : Float32Array.from(value);
      const tensor = createTensor(this, data, undefined, undefined);
      made.push(tensor);
      return tensor;
    };
    try {
      return call(list);
    } finally {
      for (const tensor of made) tensor.dispose();
    }
  }

  /** Gives an object to the innermost open scope. */
  track<T extends Owned>(owned: T): T {
    const scopes = this.#scopes;
    if (scopes.length > 0) scopes[scopes.length - 1]?.add(owned);
    return owned;
  }

  /** Removes the objects found in a value from all scopes. */
  keep<T>(value: T): T {
    for (const owned of ownedIn(value)) for (const scope of this.#scopes) scope.delete(owned);
    return value;
  }

  scope<T>(run: () => T): T {
    checkArgument("scope", run, isFunction);
    const made = new Set<Owned>();
    this.#scopes.push(made);
    let kept: ReadonlySet<Owned> | undefined;
    try {
      const result = run();
      checkNoPromise("scope", result);
      kept = ownedIn(result);
      return result;
    } finally {
      this.#scopes.pop();
      const isRecorded = recording() !== undefined;
      const outer = this.#scopes.at(-1);
      for (const owned of made) {
        // A running tape needs the objects for the gradients, and frees them then.
        if (kept?.has(owned) || isRecorded) outer?.add(owned);
        else owned.dispose();
      }
    }
  }

  memory(): MemoryUse {
    const { border, module } = this;
    border.checkAlive();
    const sites = border.sites();
    return {
      size: border.buffer.byteLength,
      used: module.bytesInUse(),
      tensors: border.held("tensor"),
      caches: border.held("cache"),
      packedWeights: border.held("weights"),
      blockMasks: border.held("mask"),
      ...(sites && { sites }),
    };
  }

  dispose(): void {
    this.border.dispose();
  }
}

/** A tensor, or a temporary one made from a list. */
export type List = (
  argument: string,
  value: Tensor | readonly number[] | undefined,
  dtype?: "float32" | "int32",
) => Tensor | undefined;

function checkNumbers(argument: string, list: readonly number[], dtype: "float32" | "int32"): void {
  const isFloat = dtype === "float32";
  const expected = isFloat ? "numbers" : "whole numbers of 32 bits";
  const fits = (item: unknown) =>
    isFloat ? typeof item === "number" : Number.isInteger(item) && item === ((item as number) | 0);
  if (isListOf<number>(list as unknown, fits)) return;
  let got: unknown = list;
  try {
    got = list.find((item) => !fits(item));
  } catch {
    // The list has an entry that cannot be read.
  }
  throw refuse("option", argument, expected, describe(got));
}
