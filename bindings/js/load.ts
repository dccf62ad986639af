import { HeedError } from "./error.js";
import { chooseThreads, chooseVariant, createMemory, type Variant } from "./features.js";
import type { HeedModule, ModuleFactory } from "./module.js";
import { Heed } from "./ops.js";
import { checkOptions, isWholeNumber, oneOf } from "./validate.js";

export interface LoadOptions {
  /** Threads that compute; by default as many as there are cores, 8 at most. */
  threads?: number;
  /** The binary; by default "relaxed" where the browser has relaxed SIMD, else "simd". */
  variant?: Variant;
  /**
   * The folder that serves heed-simd.mjs, heed-simd.wasm, heed-relaxed.mjs and heed-relaxed.wasm; by
   * default the one this package's own entry comes from.
   */
  wasmUrl?: string | URL;
  /** The most memory that the engine may grow to, in bytes; 4 GiB by default and at most. */
  maxMemory?: number;
}

/** What was loaded. */
export interface HeedInfo {
  readonly version: string;
  readonly variant: Variant;
  readonly threads: number;
  readonly crossOriginIsolated: boolean;
  /** Why there are fewer threads or less memory than asked for; null when all is as asked. */
  readonly reason: string | null;
}

const mostMemory = 4 * 2 ** 30;

// Bundlers know files by this form of their address, and copy them.
const files: Record<Variant, { glue: URL; wasm: URL }> = {
  simd: {
    glue: new URL("./heed-simd.mjs", import.meta.url),
    wasm: new URL("./heed-simd.wasm", import.meta.url),
  },
  relaxed: {
    glue: new URL("./heed-relaxed.mjs", import.meta.url),
    wasm: new URL("./heed-relaxed.wasm", import.meta.url),
  },
};

function addresses(variant: Variant, folder: string | URL | undefined): { glue: URL; wasm: URL } {
  if (folder === undefined) return files[variant];
  const here = globalThis.location?.href ?? import.meta.url;
  const base = new URL(folder, here);
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  return {
    glue: new URL(`heed-${variant}.mjs`, base),
    wasm: new URL(`heed-${variant}.wasm`, base),
  };
}

function checkLoadOptions(options: LoadOptions): void {
  checkOptions("load", options, {
    threads: isWholeNumber(1, 1024),
    variant: oneOf("relaxed", "simd"),
    wasmUrl: {
      expected: "an address",
      accepts: (value) => typeof value === "string" || value instanceof URL,
    },
    maxMemory: isWholeNumber(16 * 2 ** 20, mostMemory),
  });
}

async function start(
  variant: Variant,
  wasmUrl: string | URL | undefined,
  wasmMemory: WebAssembly.Memory,
  poolSize: number,
): Promise<HeedModule> {
  const { glue, wasm } = addresses(variant, wasmUrl);
  const messages: string[] = [];
  try {
    const imported = await import(/* @vite-ignore */ /* webpackIgnore: true */ glue.href);
    return await (imported.default as ModuleFactory)({
      wasmMemory,
      poolSize,
      locateFile: (name) => (name.endsWith(".wasm") ? wasm.href : name),
      print: (text) => messages.push(text),
      printErr: (text) => messages.push(text),
    });
  } catch (error) {
    const detail = messages.at(-1) ?? (error instanceof Error ? error.message : String(error));
    throw new HeedError("load", `${glue.href}: expected to load the engine, got ${detail}`, {
      cause: error,
    });
  }
}

/**
 * Loads the engine. Each call makes an engine of its own, with its own memory and threads.
 *
 * @throws HeedError "unsupported", "load", "option", "memory"
 */
export async function load(options: LoadOptions = {}): Promise<Heed> {
  checkLoadOptions(options);
  const variant = chooseVariant(options.variant);
  const { threads, reason: threadsReason } = chooseThreads(options.threads);
  const { memory, reason: memoryReason } = createMemory(options.maxMemory ?? mostMemory);
  const module = await start(variant, options.wasmUrl, memory, threads - 1);
  const info: HeedInfo = {
    version: String(module.version),
    variant,
    threads,
    crossOriginIsolated: globalThis.crossOriginIsolated === true,
    reason: [threadsReason, memoryReason].filter((reason) => reason !== null).join("; ") || null,
  };
  return new Heed(module, memory, info);
}
