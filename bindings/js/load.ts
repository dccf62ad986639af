import { HeedError } from "./error.js";
import { chooseThreads, chooseVariant, createMemory, isNode, type Variant } from "./features.js";
import type { HeedModule, ModuleFactory, ModuleOptions } from "./module.js";
import { Heed } from "./ops.js";
import { checkOptions, isBoolean, isWholeNumber, oneOf } from "./validate.js";
import { warmUp } from "./warmUp.js";

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
  /**
   * Computes something small for some 10 ms, in slices, so that the first call finds optimised code: true
   * by default. Without it the first large attention takes three times as long as the next.
   */
  warmUp?: boolean;
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
    warmUp: isBoolean,
  });
}

async function compile(address: URL): Promise<WebAssembly.Module> {
  const response = await fetch(address, { credentials: "same-origin" });
  if (!response.ok) throw new Error(`${response.status} for ${address.href}`);
  // What a server sends as another type must be there before it can be compiled.
  return response.headers.get("Content-Type") === "application/wasm"
    ? WebAssembly.compileStreaming(response)
    : WebAssembly.compile(await response.arrayBuffer());
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
    // The glue would fetch it only once it is there itself; in Node it reads a file.
    const compiled = isNode ? undefined : compile(wasm);
    compiled?.catch(() => {}); // is told below, unless the glue is missing, too
    const imported = await import(/* @vite-ignore */ /* webpackIgnore: true */ glue.href);
    return await new Promise((resolve, reject) => {
      const options: ModuleOptions = {
        wasmMemory,
        poolSize,
        locateFile: (name) => (name.endsWith(".wasm") ? wasm.href : name),
        print: (text) => messages.push(text),
        printErr: (text) => messages.push(text),
      };
      if (compiled !== undefined) {
        options.instantiateWasm = (imports, receive) => {
          compiled
            .then(async (module) => receive(await WebAssembly.instantiate(module, imports), module))
            .catch(reject);
          return {};
        };
      }
      (imported.default as ModuleFactory)(options).then(resolve, reject);
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
  const heed = new Heed(module, memory, info);
  if (options.warmUp ?? true) await warmUp(heed);
  return heed;
}
