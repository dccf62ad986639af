// The messages between a page and its worker.

import type { HeedErrorCode } from "../core/error.js";
import type { DType } from "../core/tensor.js";
import type { HeedInfo } from "../heed.js";
import type { Reserved } from "../load/features.js";
import type { LoadOptions } from "../load/load.js";
import type { Files } from "../load/locate.js";
import type { Packed } from "./values.js";

/** Options of `load` that a message can carry. */
export type StartOptions = Omit<LoadOptions, "glue" | "wasm" | "wasmUrl" | "workerUrl"> & {
  readonly wasm?: string | ArrayBuffer | Uint8Array | (WebAssembly.Module & object);
  readonly wasmUrl?: string;
  readonly workerUrl?: string;
};

/** The number of an object in the worker. */
export type ObjectId = number;
/** The object with all namespaces and tasks. It always exists. */
export const rootId: ObjectId = 0;
/** The engine. It always exists. */
export const engineId: ObjectId = 1;

/** An argument that is not copied. */
export type SentReference = { readonly object: ObjectId } | { readonly callback: number };

/** An object of the worker in a result. A tensor's type and shape never change, so they are sent with it. */
export interface ReceivedReference {
  readonly object: ObjectId;
  /** Whether the call made the object, so that it belongs to the caller. All other objects are borrowed. */
  readonly isOwned: boolean;
  /** Whether the object may need the receiver or an argument of the call. */
  readonly needsGiven: boolean;
  readonly tensor?: { readonly dtype: DType; readonly shape: readonly number[] };
}

/** The method or property of a call: its object, and the names that lead to it from there. */
export interface Target {
  readonly object: ObjectId;
  readonly path: readonly string[];
}

export interface CallMessage extends Target {
  readonly id: number;
  /** Undefined to read a property. */
  readonly args?: Packed<SentReference>;
  /**
   * The index of the argument that contained the caller's signal. Functions with an option `signal`
   * get a signal of the worker there.
   */
  readonly signalAt?: number;
  /** The number of the callback that gets the weights of every attention. */
  readonly onWeights?: number;
  /** The number of the callback that gets the progress of a task. */
  readonly onProgress?: number;
}

export type ToWorker =
  | {
      readonly start: StartOptions;
      /** The addresses of the engine's files that the page has. */
      readonly files: Files;
      readonly lock: string | undefined;
      /** The engine's memory, if the page can share it. */
      readonly reserved: Reserved | undefined;
    }
  | CallMessage
  | { readonly cancel: number }
  | {
      /** The objects to free. They keep their numbers, so that later calls get the error of a disposed object. */
      readonly dispose: readonly ObjectId[];
      /** The objects whose handles the page's garbage collector has freed. */
      readonly forget: readonly ObjectId[];
    };

export interface SentError {
  /** Undefined for an error of a task. */
  readonly code?: HeedErrorCode;
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
}

export interface Ready {
  readonly info: HeedInfo;
  /** Whether the worker holds the lock whose name the page chose. */
  readonly isLocked: boolean;
  /** The address of the running call's word, if the engine has the memory of the page. */
  readonly word?: number;
}

export type FromWorker =
  /** The worker's script listens now. Earlier messages may get lost. */
  | { readonly listens: true }
  | { readonly ready: Ready }
  | { readonly failed: SentError }
  | { readonly id: number; readonly value: Packed<ReceivedReference> }
  | { readonly id: number; readonly error: SentError }
  | {
      readonly id: number;
      readonly callback: number;
      readonly args: Packed<ReceivedReference>;
    };
