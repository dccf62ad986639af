// The page's types, derived from the types of the package: every method returns a promise, and the
// page has handles for the objects in the worker.

import type { DType, Tensor, TensorData, TensorSource } from "../core/tensor.js";
import type { Heed } from "../heed.js";
import type { ByteTokenizer } from "../models/byteTokenizer.js";
import type { LoadBothOptions, ModelAndTokenizer } from "../models/files.js";
import type { ModelSource } from "../models/sources.js";
import type { AttentionOptions, AttentionResult, NothingElse } from "../ops/attention.js";
import type {
  MultiHeadAttentionOptions,
  MultiHeadAttentionParameters,
  MultiHeadAttentionResult,
} from "../ops/multiHeadAttention.js";
import type { CallOptions, Closure, RemoteTensor as NamedTensor, RemoteObject } from "./remote.js";
import type { TaskContext } from "./tasks.js";

// biome-ignore lint/suspicious/noExplicitAny: it must match functions of any parameters
type AnyFunction = (...args: any[]) => any;
// biome-ignore lint/suspicious/noExplicitAny: as above
type AnyClass = abstract new (...args: any[]) => any;

/** The values that are copied. */
type Copied =
  | string
  | number
  | boolean
  | bigint
  | null
  | undefined
  | ArrayBufferView
  | ArrayBufferLike
  | Date
  | Error
  | ReadonlySet<unknown>
  // URL, AbortSignal and Blob, described by their members: without the DOM's types, their names would match any object.
  | { readonly href: string; readonly origin: string }
  | { readonly aborted: boolean; readonly reason?: unknown }
  | { readonly size: number; readonly type: string; slice(): unknown };

/** The methods of an object; never for data. */
type MethodNames<T> = {
  [Name in keyof T]-?: [NonNullable<T[Name]>] extends [never]
    ? never
    : NonNullable<T[Name]> extends AnyFunction
      ? Name
      : never;
}[keyof T];

/** The page's type for a value of the worker: data is copied, and an object with methods becomes a handle. */
export type Remote<T> = T extends Heed
  ? Heed
  : T extends Tensor
    ? RemoteTensor
    : // Before what is copied, because a map also has the methods of a set.
      T extends ReadonlyMap<infer Key, infer Value>
      ? Map<Key, Remote<Value>>
      : T extends Copied
        ? T
        : T extends AnyFunction
          ? never
          : T extends readonly unknown[]
            ? { [I in keyof T]: Remote<T[I]> }
            : [MethodNames<T>] extends [never]
              ? { [Name in keyof T]: Remote<T[Name]> }
              : RemoteOf<T>;

/** An object that stays in the worker. Its methods return promises, and `await` reads its properties. */
export type RemoteOf<T> = RemoteObject & {
  readonly [Name in Exclude<
    keyof T,
    keyof RemoteObject | Closure | "heed"
  >]: T[Name] extends AnyFunction ? RemoteFunction<T[Name]> : Promise<Remote<T[Name]>>;
};

/** A tensor that stays in the worker. Its type and shape are known; its elements are read with `await`. */
export type RemoteTensor = NamedTensor & {
  /** A copy of the elements, which belongs to the page. */
  readonly data: Promise<TensorData>;
  toArray(): Promise<ReturnType<Tensor["toArray"]>>;
  item(): Promise<number | boolean>;
};

/** The page's type for an argument. A function is called by the worker, which does not wait for it. */
export type Given<T> = T extends Heed
  ? RemoteHeed
  : T extends Tensor
    ? RemoteTensor
    : T extends ReadonlyMap<infer Key, infer Value>
      ? ReadonlyMap<Key, Given<Value>>
      : T extends Copied
        ? T
        : T extends (...args: infer Args) => unknown
          ? (...args: { [I in keyof Args]: Remote<Args[I]> }) => void
          : T extends readonly unknown[]
            ? { [I in keyof T]: Given<T[I]> }
            : [MethodNames<T>] extends [never]
              ? { [Name in keyof T]: Given<T[Name]> } | (Tensor extends T ? RemoteTensor : never)
              : GivenObject<T>;

/**
 * An object with methods must be an object of the worker. Options may also have methods, which the
 * worker calls: only `dispose` distinguishes an object from options.
 */
type GivenObject<T> = T extends { dispose(): void }
  ? RemoteOf<T>
  : RemoteObject | { [Name in keyof T]: Given<T[Name]> };

/** Options of a call on a module. */
export interface ModuleCallOptions extends CallOptions {
  /**
   * Gets the weights of every attention in the module that is called: see `nn.captureAttention`.
   * The tensors belong to the caller or the scope of the call, like its result. Dispose of large
   * ones as soon as you have read them.
   */
  onWeights?: (path: string, weights: RemoteTensor) => void;
}

/** Whether a parameter has the options of a function. */
type IsOptions<T> = [Extract<T, object>] extends [never]
  ? false
  : Extract<T, object> extends RemoteObject | readonly unknown[] | ArrayBufferView | AnyFunction
    ? false
    : true;

/**
 * The parameters of a call: the options of the call are added to the options of the function, or as
 * a last parameter.
 */
type Called<Args extends readonly unknown[], Options> =
  Required<Args> extends readonly [...infer Before, infer Last]
    ? IsOptions<Last> extends true
      ? {
          [I in keyof Args]: I extends `${Before["length"]}`
            ?
                | Exclude<Args[I], object>
                | Extract<Args[I], RemoteObject>
                | (Exclude<Extract<Args[I], object>, RemoteObject> & Options)
            : Args[I];
        }
      : [...Args, call?: Options]
    : [call?: Options];

type GivenAll<Args extends readonly unknown[]> = { [I in keyof Args]: Given<Args[I]> };

/** A method or a function of the worker. */
export type RemoteFunction<F> = F extends (...args: infer Args) => infer Result
  ? (...args: Called<GivenAll<Args>, ModuleCallOptions>) => Promise<Remote<Awaited<Result>>>
  : never;

/** A class is called without `new`. */
type RemoteClass<C> = C extends abstract new (
  ...args: infer Args
) => infer Instance
  ? (...args: Called<GivenAll<Args>, CallOptions>) => Promise<Remote<Instance>>
  : never;

/** A namespace of functions, classes and values. */
export type RemoteNamespace<T> = {
  readonly [Name in Exclude<keyof T, Closure>]: T[Name] extends AnyClass
    ? RemoteClass<T[Name]>
    : T[Name] extends AnyFunction
      ? RemoteFunction<T[Name]>
      : [MethodNames<T[Name]>] extends [never]
        ? Promise<Remote<T[Name]>>
        : RemoteNamespace<T[Name]>;
};

type Models = typeof import("../models.js");

/** A class of tokenizers cannot be sent to the worker. */
type LoadBoth = (
  heed: Heed,
  files: ModelSource,
  options: LoadBothOptions<true>,
) => Promise<ModelAndTokenizer<ByteTokenizer>>;

/** TypeScript derives only the last overload from a function's type: this type derives both. */
type BothOverloads<F> = F extends {
  (...args: infer Args): infer Result;
  (...args: infer LastArgs): infer LastResult;
}
  ? RemoteFunction<(...args: Args) => Result> & RemoteFunction<(...args: LastArgs) => LastResult>
  : never;

/** The functions on one text or a list. */
type OneOrAll = "answerQuestion" | "fillMasks" | "writeText";

type RemoteModels = Omit<RemoteNamespace<Models>, "loadModel" | OneOrAll> & {
  readonly loadModel: RemoteFunction<LoadBoth> & RemoteFunction<Models["loadModel"]>;
} & { readonly [Name in OneOrAll]: BothOverloads<Models[Name]> };

/** The functions of a worker's script. */
export type RemoteTasks<T> = {
  readonly [Name in keyof T]: T[Name] extends (
    request: infer Request,
    context: TaskContext<infer Progress>,
  ) => infer Answer
    ? (
        request: Given<Request>,
        options?: CallOptions & { onProgress?: (news: Remote<Progress>) => void },
      ) => Promise<Remote<Awaited<Answer>>>
    : never;
};

/**
 * Members with separate types: methods whose types depend on their arguments, and members that are
 * not called by a message.
 */
type OwnMethods =
  | "attention"
  | "multiHeadAttention"
  | "tensor"
  | "scope"
  | "keep"
  | "dispose"
  | "info"
  | "toJSON"
  | "toString";

type Wants<O, Names extends PropertyKey> = {
  readonly [Name in Extract<keyof O, Names>]: Exclude<O[Name], undefined>;
};
type AttentionFlags = "needWeights" | "needLse" | "capture";

/** The engine in a worker: the methods of `Heed`, which return promises. */
export type RemoteHeed<T = Record<never, never>> = {
  readonly [Name in Exclude<keyof Heed, OwnMethods | Closure | symbol>]: RemoteFunction<Heed[Name]>;
} & {
  readonly info: Heed["info"];
  /**
   * Whether an abort can stop an operation while it computes. This needs memory that the page
   * shares with its worker. Without it, the worker finishes the operation, and stops before the
   * next one; for the caller, the call has ended already.
   */
  readonly isInterruptible: boolean;
  readonly nn: RemoteNamespace<typeof import("../nn/index.js")>;
  readonly optim: RemoteNamespace<typeof import("../nn/optim.js")>;
  readonly safetensors: RemoteNamespace<typeof import("../nn/safetensors.js")>;
  readonly models: RemoteModels;
  readonly tasks: RemoteTasks<T>;

  tensor(
    data: TensorSource,
    shape?: readonly number[],
    dtype?: DType,
    call?: CallOptions,
  ): Promise<RemoteTensor>;
  attention<const O extends Given<AttentionOptions> = Record<never, never>>(
    q: RemoteTensor,
    k: RemoteTensor,
    v: RemoteTensor,
    options?: O & CallOptions & NothingElse<O, AttentionOptions & CallOptions>,
  ): Promise<Remote<AttentionResult<Wants<O, AttentionFlags> & PastOf<O>>>>;
  multiHeadAttention<const O extends Given<MultiHeadAttentionOptions>>(
    query: RemoteTensor,
    key: RemoteTensor,
    value: RemoteTensor,
    parameters: Given<MultiHeadAttentionParameters>,
    options: O & CallOptions & NothingElse<O, MultiHeadAttentionOptions & CallOptions>,
  ): Promise<Remote<MultiHeadAttentionResult<Wants<O, AttentionFlags> & { heads: number }>>>;

  /**
   * Runs a function with a facade of this engine, and then frees the objects that its calls made,
   * except for the objects in its result. A new object belongs to the scope of the receiver or the
   * arguments of its call.
   */
  scope<R>(run: (heed: RemoteHeed<T>) => Promise<R> | R): Promise<R>;
  /** Removes the objects in a value from the scope of this facade. */
  keep<V>(value: V): V;
  /** Ends the worker. Pending calls are rejected with a HeedError "worker". */
  dispose(): void;
  /**
   * Starts a new worker with a new engine, and ends the old one if it still runs. Objects of the
   * old worker can no longer be used.
   */
  restart(): Promise<void>;
};

type PastOf<O> = O extends { readonly past: { readonly key: RemoteTensor } }
  ? { past: { key: Tensor; value: Tensor } }
  : Record<never, never>;
