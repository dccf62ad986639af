// The operations, as methods of an engine. Each allocates its results; what it took stays as it was.

import { guard, HeedError, refuse } from "./error.js";
import type { HeedInfo } from "./load.js";
import type { ContextHandle, HeedModule, TensorHandle } from "./module.js";
import { createTensor, type DType, Tensor, type TensorSource } from "./tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isBoolean,
  isNumber,
  isWholeNumber,
} from "./validate.js";

/** A stage of attention: scores after the scale, scores after bias and mask, weights. */
export type CaptureStage = "scores" | "masked" | "weights";

export interface AttentionOptions {
  /** Query heads of inputs [B, L, H*D]. */
  heads?: number;
  /** Key/value heads of inputs [B, S, G*D]; as many as `heads` by default. */
  kvHeads?: number;
  /** Multiplies the scores; 1/sqrt(D) by default. */
  scale?: number;
  /** Query i sees key j only if j <= i + offset; the offset is kvLengths[b] - L with them, else 0. */
  isCausal?: boolean;
  /**
   * bool: true where a key may be seen. float32: added to the scores, -Infinity hides. Broadcasts like
   * numpy to [B, H, L, S]; a last axis shorter than S (but not 1) hides the keys beyond it.
   */
  mask?: Tensor;
  /** [B] how many keys of each sequence exist. */
  kvLengths?: readonly number[] | Tensor;
  /** Return the weights [B, H, L, S]. */
  needWeights?: boolean;
  /** Return the log of the softmax denominator [B, H, L]. */
  needLse?: boolean;
  /** Return one stage, or several, of this very computation, [B, H, L, S] each. */
  capture?: CaptureStage | readonly CaptureStage[];
}

type Captured<C> = C extends CaptureStage
  ? Tensor
  : C extends readonly (infer Stage extends CaptureStage)[]
    ? { [S in Stage]: Tensor }
    : undefined;

/** What was asked for is there; the rest is undefined. */
export interface AttentionResult<O extends AttentionOptions = AttentionOptions> {
  /** [B, H, L, Dv], or [B, L, H*Dv] for inputs of rank 3. Zeros for a query that sees no key. */
  output: Tensor;
  weights: O extends { needWeights: true } ? Tensor : undefined;
  /** -Infinity for a query that sees no key. */
  lse: O extends { needLse: true } ? Tensor : undefined;
  capture: O extends { capture: infer C } ? Captured<C> : undefined;
}

/** The parameters of torch.nn.MultiheadAttention, in its layout. */
export interface MultiHeadAttentionParameters {
  /** [3E, E]; or leave it out and give the three below. */
  inProjWeight?: Tensor;
  /** [E, E] */
  qProjWeight?: Tensor;
  /** [E, size of a key] */
  kProjWeight?: Tensor;
  /** [E, size of a value] */
  vProjWeight?: Tensor;
  /** [3E] */
  inProjBias?: Tensor;
  /** [E, E] */
  outProjWeight: Tensor;
  /** [E] */
  outProjBias?: Tensor;
}

export interface MultiHeadAttentionOptions {
  /** Must divide E. */
  heads: number;
  isCausal?: boolean;
  /** As in AttentionOptions. torch's boolean mask has the opposite sense: see `fromTorchMask`. */
  mask?: Tensor;
  /** bool [B, S], true where a key may be seen; torch's key_padding_mask has the opposite sense. */
  keyMask?: Tensor;
  needWeights?: boolean;
  /** Weights as the mean over heads, [B, L, S], instead of [B, H, L, S]. */
  averageWeights?: boolean;
}

export interface MultiHeadAttentionResult<
  O extends MultiHeadAttentionOptions = MultiHeadAttentionOptions,
> {
  /** [B, L, E] */
  output: Tensor;
  weights: O extends { needWeights: true } ? Tensor : undefined;
}

export interface AverageOptions {
  /** Position i averages the positions j <= i only. */
  isCausal?: boolean;
  /** bool [B, L], true where a position counts. */
  keyMask?: Tensor;
}

export interface SelfSimilarityResult {
  /** [B, L, E] */
  output: Tensor;
  /** [B, L, L] */
  weights: Tensor;
}

export interface SinusoidalOptions {
  /** 10000 by default. */
  base?: number;
  /** The position of the first row; 0 by default. */
  offset?: number;
}

const isTensor: Check = { expected: "a tensor", accepts: (value) => value instanceof Tensor };
const stages: readonly unknown[] = ["scores", "masked", "weights"] satisfies CaptureStage[];
const isHeadCount = isWholeNumber(1);

const attentionChecks = {
  heads: isHeadCount,
  kvHeads: isHeadCount,
  scale: isNumber,
  isCausal: isBoolean,
  mask: isTensor,
  kvLengths: {
    expected: "a list of whole numbers or an int32 tensor",
    accepts: (value) => value instanceof Tensor || Array.isArray(value),
  },
  needWeights: isBoolean,
  needLse: isBoolean,
  capture: {
    expected: '"scores", "masked", "weights" or a list of them',
    accepts: (value) =>
      Array.isArray(value)
        ? value.every((stage) => stages.includes(stage))
        : stages.includes(value),
  },
} satisfies Record<keyof AttentionOptions, Check>;

const parameterChecks = {
  inProjWeight: isTensor,
  qProjWeight: isTensor,
  kProjWeight: isTensor,
  vProjWeight: isTensor,
  inProjBias: isTensor,
  outProjWeight: isTensor,
  outProjBias: isTensor,
} satisfies Record<keyof MultiHeadAttentionParameters, Check>;

const multiHeadChecks = {
  heads: isHeadCount,
  isCausal: isBoolean,
  mask: isTensor,
  keyMask: isTensor,
  needWeights: isBoolean,
  averageWeights: isBoolean,
} satisfies Record<keyof MultiHeadAttentionOptions, Check>;

const averageChecks = { isCausal: isBoolean, keyMask: isTensor } satisfies Record<
  keyof AverageOptions,
  Check
>;

const sinusoidalChecks = { base: isNumber, offset: isWholeNumber(0) } satisfies Record<
  keyof SinusoidalOptions,
  Check
>;

/** An engine: the WebAssembly module with its memory and threads. Made by `load`. */
export class Heed {
  readonly info: HeedInfo;
  readonly #module: HeedModule;
  #context: ContextHandle | null;
  /** The tensors made in each open scope, innermost last. */
  readonly #scopes: Set<Tensor>[] = [];

  constructor(module: HeedModule, info: HeedInfo) {
    this.#module = module;
    this.#context = guard(module, () => new module.Context(info.threads));
    this.info = Object.freeze(info);
  }

  // ---- Tensors

  /**
   * Copies data into the engine's memory.
   *
   * @param data a Float32Array, Int32Array or Uint8Array (bools), or numbers or booleans in arrays
   * @param shape the sizes; by default those of the nested arrays, or [length]
   * @param dtype by default what the data is: numbers are float32
   * @throws HeedError "shape", "dtype", "memory"
   */
  tensor(data: TensorSource, shape?: readonly number[], dtype?: DType): Tensor {
    this.#alive();
    return this.#track(guard(this.#module, () => createTensor(this.#module, data, shape, dtype)));
  }

  /**
   * Runs a function and then frees the tensors it made, but for those it returns, alone or in an array
   * or object. The function must not be async.
   */
  scope<T>(run: () => T): T {
    const made = new Set<Tensor>();
    this.#scopes.push(made);
    let result: T | undefined;
    try {
      result = run();
      if (result instanceof Promise)
        throw refuse("option", "scope", "a function that is not async", "a promise");
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

  /**
   * torch.nn.MultiheadAttention's boolean masks are true where a key may not be seen. This gives one
   * with Heed's sense, true where it may.
   */
  fromTorchMask(mask: Tensor): Tensor {
    const allowed = this.#handle("mask", mask);
    if (mask.dtype !== "bool") throw refuse("dtype", "mask", "bool", mask.dtype);
    const blocked = allowed.data() as Uint8Array;
    return this.tensor(
      blocked.map((value) => 1 - value),
      mask.shape,
      "bool",
    );
  }

  // ---- Attention

  /**
   * softmax(scale Q K^T + mask) V (Vaswani et al., 2017, section 3.2.1), tiled so that nothing of size
   * L x S is stored unless it is asked for.
   *
   * @param q [B, H, L, D], or [B, L, H*D] with `heads`
   * @param k [B, G, S, D], or [B, S, G*D]; H must be a multiple of G
   * @param v [B, G, S, Dv], or [B, S, G*Dv]
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   */
  attention<const O extends AttentionOptions = Record<never, never>>(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    options?: O,
  ): AttentionResult<O> {
    const given: AttentionOptions = options ?? {};
    checkOptions("attention", given, attentionChecks);
    const module = this.#module;
    const context = this.#alive();
    const [qh, kh, vh] = [this.#handle("q", q), this.#handle("k", k), this.#handle("v", v)];
    const captured = [given.capture ?? []].flat() as CaptureStage[];
    return guard(module, () => {
      const native = new module.AttentionOptions();
      // Key lengths given as a list live for this call only.
      let lengths: Tensor | undefined;
      try {
        if (given.heads !== undefined) native.heads = given.heads;
        if (given.kvHeads !== undefined) native.kvHeads = given.kvHeads;
        if (given.scale !== undefined) native.setScale(given.scale);
        if (given.isCausal) native.isCausal = true;
        if (given.mask) native.setMask(this.#handle("mask", given.mask));
        if (given.kvLengths instanceof Tensor) {
          native.setKvLengths(this.#handle("kvLengths", given.kvLengths));
        } else if (given.kvLengths !== undefined) {
          lengths = this.#lengths(given.kvLengths);
          native.setKvLengths(lengths.handle("kvLengths", module));
        }
        if (given.needWeights || captured.includes("weights")) native.needWeights = true;
        if (given.needLse) native.needLse = true;
        if (captured.includes("scores")) native.captureScores = true;
        if (captured.includes("masked")) native.captureMasked = true;

        const result = present(module.attention(context, qh, kh, vh, native));
        try {
          const stage = {
            scores: this.#adopt(result.scores()),
            masked: this.#adopt(result.masked()),
            weights: this.#adopt(result.weights()),
          };
          const capture =
            typeof given.capture === "string"
              ? stage[given.capture]
              : given.capture && Object.fromEntries(captured.map((name) => [name, stage[name]]));
          return {
            output: this.#adopt(result.output()),
            weights: given.needWeights ? stage.weights : undefined,
            lse: this.#adopt(result.lse()),
            capture,
          } as AttentionResult<O>;
        } finally {
          result.delete();
        }
      } finally {
        lengths?.dispose();
        native.delete();
      }
    });
  }

  /**
   * Multi-head attention: projections, attention, output projection (Vaswani et al., 2017, section
   * 3.2.2), with the parameters of torch.nn.MultiheadAttention.
   *
   * @param query [B, L, E]
   * @param key [B, S, size of a key]
   * @param value [B, S, size of a value]
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   */
  multiHeadAttention<const O extends MultiHeadAttentionOptions>(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    parameters: MultiHeadAttentionParameters,
    options: O,
  ): MultiHeadAttentionResult<O> {
    checkOptions("multiHeadAttention", options, multiHeadChecks);
    checkOptions("multiHeadAttention's parameters", parameters, parameterChecks);
    const module = this.#module;
    const context = this.#alive();
    const inputs = [
      this.#handle("query", query),
      this.#handle("key", key),
      this.#handle("value", value),
    ] as const;
    return guard(module, () => {
      const weights = new module.MultiHeadAttentionParameters();
      const native = new module.MultiHeadAttentionOptions();
      try {
        const p = parameters;
        if (p.inProjWeight) weights.setInProjWeight(this.#handle("inProjWeight", p.inProjWeight));
        if (p.qProjWeight) weights.setQProjWeight(this.#handle("qProjWeight", p.qProjWeight));
        if (p.kProjWeight) weights.setKProjWeight(this.#handle("kProjWeight", p.kProjWeight));
        if (p.vProjWeight) weights.setVProjWeight(this.#handle("vProjWeight", p.vProjWeight));
        if (p.inProjBias) weights.setInProjBias(this.#handle("inProjBias", p.inProjBias));
        if (p.outProjWeight)
          weights.setOutProjWeight(this.#handle("outProjWeight", p.outProjWeight));
        if (p.outProjBias) weights.setOutProjBias(this.#handle("outProjBias", p.outProjBias));
        if (options.heads !== undefined) native.heads = options.heads;
        if (options.isCausal) native.isCausal = true;
        if (options.mask) native.setMask(this.#handle("mask", options.mask));
        if (options.keyMask) native.setKeyMask(this.#handle("keyMask", options.keyMask));
        if (options.needWeights) native.needWeights = true;
        if (options.averageWeights) native.averageWeights = true;
        const result = present(module.multiHeadAttention(context, ...inputs, weights, native));
        try {
          return {
            output: this.#adopt(result.output()),
            weights: this.#adopt(result.weights()),
          } as MultiHeadAttentionResult<O>;
        } finally {
          result.delete();
        }
      } finally {
        native.delete();
        weights.delete();
      }
    });
  }

  // ---- Where attention comes from

  /** The mean over the positions that may be seen: attention with equal scores. x [B, L, E]. */
  average(x: Tensor, options: AverageOptions = {}): Tensor {
    checkOptions("average", options, averageChecks);
    const handle = this.#handle("x", x);
    const keyMask = options.keyMask ? this.#handle("keyMask", options.keyMask) : null;
    return this.#run((module, context) =>
      module.average(context, handle, options.isCausal ?? false, keyMask),
    );
  }

  /** softmax(X X^T) X: dot-product attention with no parameters and no scale. x [B, L, E]. */
  selfSimilarity(x: Tensor): SelfSimilarityResult {
    const handle = this.#handle("x", x);
    const context = this.#alive();
    return guard(this.#module, () => {
      const result = present(this.#module.selfSimilarity(context, handle));
      try {
        return {
          output: this.#track(this.#tensorOf(result.output())),
          weights: this.#track(this.#tensorOf(result.weights())),
        };
      } finally {
        result.delete();
      }
    });
  }

  // ---- The steps around attention

  /** x W^T + b. x [..., in], weight [out, in], bias [out] -> [..., out]. */
  linear(x: Tensor, weight: Tensor, bias?: Tensor): Tensor {
    const handles = [this.#handle("x", x), this.#handle("weight", weight)] as const;
    const biasHandle = bias ? this.#handle("bias", bias) : null;
    return this.#run((module, context) => module.linear(context, ...handles, biasHandle));
  }

  /** Softmax over the last axis; a row of nothing but -Infinity gives zeros. */
  softmax(x: Tensor): Tensor {
    const handle = this.#handle("x", x);
    return this.#run((module, context) => module.softmax(context, handle));
  }

  /** Rows of a table. ids int32 [...], weight [V, E] -> [..., E]. */
  embedding(ids: Tensor, weight: Tensor): Tensor {
    const handles = [this.#handle("ids", ids), this.#handle("weight", weight)] as const;
    return this.#run((module, context) => module.embedding(context, ...handles));
  }

  /** The sines and cosines of Vaswani et al., 2017, section 3.5: [length, size]. */
  sinusoidalEncoding(length: number, size: number, options: SinusoidalOptions = {}): Tensor {
    checkArgument("length", length, isWholeNumber(0));
    checkArgument("size", size, isWholeNumber(0));
    checkOptions("sinusoidalEncoding", options, sinusoidalChecks);
    return this.#run((module, context) =>
      module.sinusoidalEncoding(context, length, size, options.base ?? 10000, options.offset ?? 0),
    );
  }

  /** a + b; b broadcasts to the shape of a. */
  add(a: Tensor, b: Tensor): Tensor {
    const handles = [this.#handle("a", a), this.#handle("b", b)] as const;
    return this.#run((module, context) => module.add(context, ...handles));
  }

  /** Stops the threads. The engine and its tensors cannot be used after it. */
  dispose(): void {
    this.#context?.delete();
    this.#context = null;
    this.#module.PThread.terminateAllThreads();
  }

  #alive(): ContextHandle {
    if (this.#context === null) {
      throw new HeedError("disposed", "engine: expected a live engine, got a disposed one");
    }
    return this.#context;
  }

  #handle(argument: string, tensor: unknown): TensorHandle {
    if (!(tensor instanceof Tensor)) throw refuse("dtype", argument, "a tensor", tensor);
    return tensor.handle(argument, this.#module);
  }

  /** An operation with one result. */
  #run(call: (module: HeedModule, context: ContextHandle) => TensorHandle | null): Tensor {
    const context = this.#alive();
    return guard(this.#module, () => this.#track(this.#tensorOf(call(this.#module, context))));
  }

  #lengths(lengths: readonly number[]): Tensor {
    for (const length of lengths) checkArgument("kvLengths", length, isWholeNumber(0, 2 ** 31 - 1));
    return createTensor(this.#module, Int32Array.from(lengths), undefined, undefined);
  }

  #tensorOf(handle: TensorHandle | null): Tensor {
    return new Tensor(this.#module, present(handle));
  }

  /** A tensor for a result that was asked for. */
  #adopt(handle: TensorHandle | null): Tensor | undefined {
    return handle === null ? undefined : this.#track(this.#tensorOf(handle));
  }

  #track(tensor: Tensor): Tensor {
    this.#scopes.at(-1)?.add(tensor);
    return tensor;
  }
}

/** The module's types allow null for every pointer; these are never. */
function present<T>(pointer: T | null): T {
  if (pointer === null) throw new HeedError("internal", "module: expected a result, got null");
  return pointer;
}

function collectTensors(value: unknown, found: Set<Tensor>): void {
  if (value instanceof Tensor) found.add(value);
  else if (Array.isArray(value)) for (const item of value) collectTensors(item, found);
  else if (
    value !== null &&
    typeof value === "object" &&
    Object.getPrototypeOf(value) === Object.prototype
  )
    for (const item of Object.values(value)) collectTensors(item, found);
}
