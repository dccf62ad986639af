// The types of the WebAssembly module. The linker writes those of the bound classes and functions.

import type * as glue from "./heed-module.js";

export type TensorHandle = glue.Tensor;
export type ContextHandle = glue.Context;
export type KvCacheHandle = glue.KvCache;
export type BlockMaskHandle = glue.BlockMask;

export type HeedModule = Omit<glue.MainModule, "getExceptionMessage"> & {
  getExceptionMessage(exception: WebAssembly.Exception): [type: string, message: string];
  decrementExceptionRefcount(exception: WebAssembly.Exception): void;
  PThread: { terminateAllThreads(): void };
  /** Memory kept for bad times: see guard.ts. */
  reserve: TensorHandle[];
  /** Set when its engine is disposed of. */
  isDisposed?: boolean;
};

/** What the glue's factory takes. */
export interface ModuleOptions {
  wasmMemory: WebAssembly.Memory;
  poolSize: number;
  locateFile(name: string): string;
  print(text: string): void;
  printErr(text: string): void;
}

export type ModuleFactory = (options: ModuleOptions) => Promise<HeedModule>;

declare global {
  namespace WebAssembly {
    // Not in TypeScript's DOM library yet.
    class Exception extends Error {}
  }
}
