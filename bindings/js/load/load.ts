import { Border } from "../core/border.js";
import { Engine } from "../core/engine.js";
import { HeedError, refuse } from "../core/error.js";
import { LeakFinder } from "../core/leaks.js";
import type { HeedModule, ModuleOptions } from "../core/module.js";
import { checkOptions, isBoolean, isWholeNumber } from "../core/validate.js";
import { Heed } from "../heed.js";
import { type Binaries, type BinaryOptions, binaryChecks, fetchBinaries } from "./binaries.js";
import {
  chooseThreads,
  countCores,
  createMemory,
  isMemorySize,
  mostMemory,
  type Reserved,
} from "./features.js";
import { type Files, isAddress, resolve } from "./locate.js";
import { measureWide } from "./probe.js";
import { Threads } from "./threads.js";
import { touch, warmUp } from "./warmUp.js";

/** Options of `load`. All have defaults. */
export interface LoadOptions extends BinaryOptions {
  /** The number of threads, including the caller's; by default the number of cores, at most 8. */
  threads?: number;
  /**
   * The script of the threads: a copy of this package's heed-simd.mjs or heed-relaxed.mjs. By
   * default, it is the glue that `load` imports.
   */
  workerUrl?: string | URL;
  /**
   * Waits until the threads run, for at most some seconds: true by default. If false, the first
   * calls run on one thread, and the others join when the caller gives them time to start.
   */
  waitForThreads?: boolean;
  /** The limit of the engine's memory, in bytes; 4 GiB by default and at most. */
  maxMemory?: number;
  /**
   * Makes the first call fast: true by default. While the binary is fetched, this option takes 8 MB
   * of the engine's memory from the operating system. It then computes small attentions for some 10
   * ms, in slices, so that the first call runs optimised code. Without this option the first large
   * attention takes several times as long as the next.
   */
  warmUp?: boolean;
  /**
   * Finds leaks: false by default. A leak is an object that the garbage collector freed before the
   * program disposed of it. This option warns on the console, once for each place in the program,
   * and adds `sites` to `heed.memory()`. It captures a stack for each object, so it is for
   * development. (`debug` of `valueAndGrad` finds numbers that are not finite.)
   */
  debug?: boolean;
}

function checkLoadOptions(options: LoadOptions): void {
  checkOptions("load", options, {
    threads: isWholeNumber(1, 1024),
    ...binaryChecks,
    workerUrl: isAddress,
    waitForThreads: isBoolean,
    maxMemory: isMemorySize,
    warmUp: isBoolean,
    debug: isBoolean,
  });
}

async function start(
  { factory, module, name }: Binaries,
  wasmMemory: WebAssembly.Memory,
): Promise<HeedModule> {
  const messages: string[] = [];
  try {
    return await new Promise((resolve, reject) => {
      const options: ModuleOptions = {
        wasmMemory,
        cores: countCores(),
        locateFile: () => name,
        print: (text) => messages.push(text),
        printErr: (text) => messages.push(text),
        instantiateWasm: (imports, receive) => {
          WebAssembly.instantiate(module, imports)
            .then((instance) => receive(instance, module))
            .catch(reject);
          return {};
        },
      };
      factory(options).then(resolve, reject);
    });
  } catch (error) {
    const detail = messages.at(-1) ?? (error instanceof Error ? error.message : String(error));
    throw refuse("load", name, "to load the engine", detail, { cause: error });
  }
}

/**
 * Whether WebAssembly stopped in a call. JavaScriptCore sometimes does so in the first calls of a
 * new engine, when it replaces their code by faster code. This was seen once in WebKitGTK 2.50,
 * with one thread and memory that had not grown.
 */
function isTrap(error: unknown): error is Error {
  if (typeof WebAssembly === "undefined") return false;
  const { RuntimeError } = WebAssembly;
  if (error instanceof RuntimeError) return true;
  return (
    error instanceof HeedError && error.code === "internal" && error.cause instanceof RuntimeError
  );
}

/**
 * Loads an engine. Each call creates a new engine with its own memory and threads.
 *
 * @throws HeedError "unsupported", "load", "option", "memory"
 * @example
 * ```ts
 * const engine = await load({ threads: 1, maxMemory: 64 * 2 ** 20 });
 * console.log(engine.info.threads); // prints: 1
 * engine.dispose();
 * ```
 */
export async function load(options: LoadOptions = {}): Promise<Heed> {
  return loadFrom(options, undefined);
}

/**
 * @internal Does the same as `load`, in a worker whose page may have sent the addresses of the files and the memory.
 */
export async function loadFrom(
  options: LoadOptions,
  files: Files | undefined,
  reserved?: Reserved,
): Promise<Heed> {
  checkLoadOptions(options);
  const {
    workerUrl,
    waitForThreads = true,
    maxMemory = mostMemory,
    warmUp: warms = true,
  } = options;
  const address = workerUrl === undefined ? undefined : resolve("workerUrl", workerUrl);
  const { threads: wanted, reason: threadsReason } = chooseThreads(
    options.threads,
    countCores(),
    address !== undefined || options.glue === undefined,
  );
  let fetched: Promise<Binaries> | undefined;
  let glue: URL | undefined;

  /** Creates an engine. The first call fetches the files. */
  async function begin(given?: Reserved): Promise<Heed> {
    const { memory, most, reason: memoryReason } = given ?? (await createMemory(maxMemory));
    const threads = new Threads(wanted, address);
    let module: HeedModule | undefined;
    let engine: Engine | undefined;
    try {
      // The workers load their script while the binary is fetched and compiled.
      if (fetched) threads.start(glue);
      fetched ??= fetchBinaries({ ...options, files }, (found) => {
        glue = found;
        threads.start(found);
      });
      if (warms) touch(memory);
      const binaries = await fetched;
      module = await start(binaries, memory);
      await threads.load(module, waitForThreads);
      const { count } = threads;
      const border = new (options.debug ? LeakFinder : Border)(module, memory, most, count);
      engine = new Engine(border);
      const version = String(module.version);
      const running = () => border.runningThreads;
      if (waitForThreads) await threads.begin(running);
      const heed = new Heed(engine, () => ({
        version,
        variant: binaries.variant,
        threads: running(),
        crossOriginIsolated: globalThis.crossOriginIsolated === true,
        reason:
          [threadsReason ?? threads.reason(running()), memoryReason]
            .filter((reason) => reason !== null)
            .join("; ") || null,
      }));
      if (warms) await warmUp(heed);
      return heed;
    } catch (error) {
      threads.stop();
      module?.PThread.terminateAllThreads();
      engine?.dispose();
      throw error;
    }
  }

  const heed = await begin(reserved).catch((error: unknown) => {
    if (!isTrap(error)) throw error;
    console.warn(
      `heed: a new engine stopped in its first calls, so another is loaded: ${error.message}`,
    );
    return begin();
  });
  // If the measurement did not end while the files were fetched, it continues now, for the next load.
  if (!options.variant && !options.wasm && heed.info.variant === "relaxed") void measureWide();
  return heed;
}
