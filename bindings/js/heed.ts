// The facade: an engine with its operations as methods, which bindings/print_methods.mjs prints.

import { isInstance, mark, markKey } from "./core/copies.js";
import type { Engine, MemoryUse } from "./core/engine.js";
import { inspectSymbol } from "./core/owned.js";
import type { DType, Tensor, TensorSource } from "./core/tensor.js";
import { engineOf, WithEngine } from "./core/withEngine.js";
import type { Variant } from "./load/features.js";
import { Operations } from "./methods.js";
import { tensor } from "./ops/create.js";

/** Facts about a loaded engine. */
export interface HeedInfo {
  /** The version of the binary, which equals the version of the package. */
  readonly version: string;
  /** The binary that was chosen. */
  readonly variant: Variant;
  /** The number of running threads, including the caller's. */
  readonly threads: number;
  /** Whether the page or worker is cross-origin isolated; false in Node. */
  readonly crossOriginIsolated: boolean;
  /** The reason for fewer threads or less memory than requested; null if there is none. */
  readonly reason: string | null;
}

/**
 * An engine: the WebAssembly module with its memory and threads. Made by `load`.
 *
 * @example
 * ```ts
 * const engine = await load({ threads: 1 });
 * console.log(engine.info.threads, engine.ones([2]).toArray()); // prints: 1 [ 1, 1 ]
 * engine.dispose();
 * ```
 */
export class Heed extends Operations {
  readonly #describe: () => HeedInfo;

  /** @internal Made by `load`. */
  constructor(engine: Engine, describe: () => HeedInfo) {
    super(engine);
    this.#describe = describe;
  }

  /** @internal */
  get engine(): Engine {
    return engineOf(this);
  }

  /** Facts about the loaded engine, with the present number of threads. */
  get info(): HeedInfo {
    return Object.freeze(this.#describe());
  }

  /**
   * Copies data into the engine's memory.
   *
   * @param data a Float32Array or Int32Array, or numbers or booleans in arrays; or a Uint8Array or
   *   Uint16Array with a type
   * @param shape the sizes; by default the sizes of the nested arrays, or [length]
   * @param dtype by default the type of the data: numbers are float32. The bytes of a Uint8Array
   *   become numbers of any type, or bools if they are 0 and 1; a Uint16Array holds the bits of
   *   float16 or bfloat16.
   * @throws HeedError "shape", "dtype", "option", "memory"
   * @example
   * ```ts
   * console.log(heed.tensor([[1, 2, 3]]).shape); // prints: [ 1, 3 ]
   * console.log(heed.tensor(Int32Array.of(7, 8, 9, 10), [2, 2]).toArray()); // prints: [ [ 7, 8 ], [ 9, 10 ] ]
   * console.log(heed.tensor(Uint8Array.of(0, 1), [2], "bool").toArray()); // prints: [ false, true ]
   * ```
   */
  tensor(
    data: Exclude<TensorSource, Uint8Array | Uint16Array>,
    shape?: readonly number[],
    dtype?: DType,
  ): Tensor;
  tensor(data: TensorSource, shape: readonly number[] | undefined, dtype: DType): Tensor;
  tensor(data: TensorSource, shape?: readonly number[], dtype?: DType): Tensor {
    return tensor(engineOf(this), data, shape, dtype);
  }

  /**
   * Runs a function and then frees the objects that the function made in the engine's memory:
   * tensors, caches, packed weights and block masks. The parameters of modules are tensors, so they
   * are freed too.
   *
   * The function's result is kept, and belongs to the enclosing scope if there is one. The result
   * may be an object itself. It may also contain objects in arrays, maps, sets, modules and the
   * fields of any other object, at any depth. Objects that can be reached only through a closure, a
   * getter or a `#private` field are freed. Objects that outlive the scope in another way, such as
   * packed weights that the first call makes and stores, need `keep`.
   *
   * An optimiser's own tensors belong to the optimiser and to no scope. The function must not be
   * async. While a tape runs, the gradients need the objects, so they pass to the enclosing scope,
   * such as the scope of `valueAndGrad`.
   *
   * @throws HeedError "option" for an async function, and any error of the function; all its
   *   objects are then freed
   * @example
   * ```ts
   * const before = heed.memory().tensors.count;
   * const mean = heed.scope(() => heed.mean(heed.multiply(heed.ones([8]), 3)));
   * console.log(mean.item(), heed.memory().tensors.count - before); // prints: 3 1
   * ```
   */
  scope<T>(run: () => T): T {
    return engineOf(this).scope(run);
  }

  /**
   * Removes the objects in a value, found as in the result of a `scope`, from all open scopes. They
   * live until they are disposed of. The tape still frees the results of operations that it
   * records.
   *
   * @returns the value
   * @throws nothing: a value without such objects is returned as it is
   * @example
   * ```ts
   * let table: Tensor | undefined;
   * heed.scope(() => {
   *   table ??= heed.keep(heed.ones([4])); // made once, used by later calls
   * });
   * console.log(table?.toArray()); // prints: [ 1, 1, 1, 1 ]
   * ```
   */
  keep<T>(value: T): T {
    return engineOf(this).keep(value);
  }

  /**
   * The current use of the engine's memory, in bytes. Objects dropped without `dispose` count until
   * the garbage collector has freed them.
   *
   * @example
   * ```ts
   * const { tensors } = heed.memory();
   * using x = heed.zeros([1024]);
   * console.log(heed.memory().tensors.bytes - tensors.bytes); // prints: 4096
   * ```
   */
  memory(): MemoryUse {
    return engineOf(this).memory();
  }

  /**
   * Stops the threads. The engine and its tensors cannot be used afterwards.
   *
   * @example
   * ```ts
   * const own = await load({ threads: 1 });
   * own.dispose();
   * console.log(String(own).endsWith("disposed)")); // prints: true
   * ```
   */
  dispose(): void {
    engineOf(this).dispose();
  }

  /** Facts about the loaded engine. */
  toJSON(): { info: HeedInfo } {
    return { info: this.info };
  }

  /** A description in one line. */
  override toString(): string {
    const { version, variant, threads } = this.info;
    const end = engineOf(this).border.isDisposed ? ", disposed" : "";
    return `Heed(${version}, ${variant}, threads ${threads}${end})`;
  }

  [inspectSymbol](): string {
    return this.toString();
  }

  /** @internal */
  get [markKey](): object | undefined {
    return WithEngine.engineOf(this) ? mark : undefined;
  }

  static override readonly [Symbol.hasInstance] = isInstance;

  get [Symbol.toStringTag](): string {
    return "Heed";
  }
}
