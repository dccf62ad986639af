// The types of the WebAssembly module. The linker writes the types of the bound functions.

import type * as glue from "../heed-module.js";

// Types of the DOM library that this package's declarations name, for programs compiled without it.
// If the library or Node's types are present, these empty declarations add nothing to theirs.
declare global {
  interface AbortSignal {}
  interface Response {}
  interface URL {}
  namespace WebAssembly {
    interface Memory {}
    interface Module {}
  }
}

/** A Uint8Array with an ArrayBuffer that is not shared, in a form that TypeScript before 5.7 can read, too. */
export type Bytes = ReturnType<Uint8Array["slice"]>;

/** The address of a C++ object; 0 is none. */
export type Handle = number;

/** Reads `count` arguments from the numbers of an engine, and returns a status: see border.ts. */
export type Operation = (engine: Handle, count: number) => number;

/** The failure of a worker: an event in a browser, an error in Node. */
export interface Failure {
  name?: string;
  message?: string;
  preventDefault?(): void;
}

/** A worker of a browser or of Node that runs a thread. */
export interface ThreadWorker {
  /** Whether it has the module. The glue sets it. */
  loaded?: boolean;
  onerror: ((failure: Failure) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  terminate(): void;
  // Only in Node:
  on?(event: "error", handle: (failure: Failure) => void): void;
  on?(event: "message", handle: (message: unknown) => void): void;
  unref?(): void;
}

export type HeedModule = glue.MainModule & {
  PThread: {
    /** Workers for the next threads. */
    unusedWorkers: ThreadWorker[];
    loadWasmModuleToWorker(worker: ThreadWorker): Promise<unknown>;
    terminateAllThreads(): void;
  };
};

/** @internal The options of the glue's factory. */
export interface ModuleOptions {
  wasmMemory: WebAssembly.Memory;
  /** The number of threads that can run in parallel. */
  cores: number;
  locateFile(name: string): string;
  /** Instantiates the module in the glue's place. */
  instantiateWasm(
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object;
  print(text: string): void;
  printErr(text: string): void;
}

/** @internal */
export type ModuleFactory = (options: ModuleOptions) => Promise<HeedModule>;

/** The export of heed-simd.mjs and heed-relaxed.mjs, for `load` to call. */
export type Glue = (options: never) => Promise<unknown>;

/**
 * The stand-in for a module whose engine is disposed of: the same names without content, so that the module
 * and its memory can be collected while the engine is still referenced.
 */
export function emptied(module: HeedModule): HeedModule {
  const remains = Object.entries(module).map(([name, value]) => {
    if (typeof value === "function") return [name, () => 0];
    return [name, typeof value === "object" ? {} : value];
  });
  return Object.fromEntries(remains);
}
