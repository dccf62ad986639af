// The types of the WebAssembly module. The linker writes those of the bound functions.

import type * as glue from "./heed-module.js";

/** The address of a C++ object; 0 is none. */
export type Handle = number;

/** Runs on the numbers of an engine, so many of which are arguments, and says how: see border.ts. */
export type Operation = (engine: Handle, count: number) => number;

export type HeedModule = glue.MainModule & { PThread: { terminateAllThreads(): void } };

/** What the glue's factory takes. */
export interface ModuleOptions {
  wasmMemory: WebAssembly.Memory;
  poolSize: number;
  locateFile(name: string): string;
  /** Instantiates the module in the glue's place. */
  instantiateWasm?(
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object;
  print(text: string): void;
  printErr(text: string): void;
}

export type ModuleFactory = (options: ModuleOptions) => Promise<HeedModule>;
