// The features of this browser or runtime, and the binary that fits it.

import { refuse } from "../core/error.js";
import type { Bytes, ThreadWorker } from "../core/module.js";
import { isWholeNumber } from "../core/validate.js";

/**
 * The three binaries. "wide" and "relaxed" use relaxed SIMD (fused multiply-add); "wide" is for
 * engines that merge pairs of vectors into one of 256 bits. "simd" does not use relaxed SIMD.
 */
export type Variant = "wide" | "relaxed" | "simd";

/** A module with one function () -> v128 of the given instructions. */
function moduleWith(instructions: readonly number[]): Bytes {
  const body = [0, ...instructions, 0x0b];
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00], // magic, version
    ...[0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b], // one type: () -> v128
    ...[0x03, 0x02, 0x01, 0x00], // one function of that type
    ...[0x0a, body.length + 2, 0x01, body.length, ...body],
  ]);
}

const splat = [0x41, 0x00, 0xfd, 0x0f]; // i32.const 0, i8x16.splat
const relaxedMadd = [0xfd, 0x85, 0x02]; // f32x4.relaxed_madd

export function supports(variant: Variant): boolean {
  const instructions = variant === "simd" ? splat : [...splat, ...splat, ...splat, ...relaxedMadd];
  return WebAssembly.validate(moduleWith(instructions));
}

/** The binary that this engine can run, by validation. The measurement in probe.ts shows whether "wide" is faster. */
export function chooseVariant(wanted: Variant | undefined): Variant {
  if (!supports("simd")) {
    throw refuse("unsupported", "WebAssembly", "SIMD", "an engine without it");
  }
  if (wanted !== undefined && !supports(wanted)) {
    const expected = '"simd", because this WebAssembly engine has no relaxed SIMD';
    throw refuse("unsupported", "variant", expected, `"${wanted}"`);
  }
  return wanted ?? (supports("relaxed") ? "relaxed" : "simd");
}

interface Builtins {
  "node:fs": {
    existsSync(path: string): boolean;
    promises: {
      readFile(path: string): Promise<Bytes>;
      readdir(path: string): Promise<string[]>;
      stat(path: string): Promise<{ size: number; isFile(): boolean; isDirectory(): boolean }>;
      open(path: string): Promise<{
        read(
          bytes: Bytes,
          offset: number,
          length: number,
          position: number,
        ): Promise<{ bytesRead: number }>;
        close(): Promise<void>;
      }>;
    };
  };
  "node:path": {
    basename(path: string): string;
    dirname(path: string): string;
    join(...parts: string[]): string;
  };
  "node:module": { createRequire(path: string): { resolve(name: string): string } };
  "node:os": { availableParallelism(): number };
  "node:url": { fileURLToPath(url: string): string; pathToFileURL(path: string): URL };
  "node:worker_threads": {
    Worker: new (address: URL, options: object) => ThreadWorker;
    /** Null on the main thread. */
    parentPort: {
      on(event: "message", handle: (message: never) => void): void;
      postMessage(message: unknown, transfer: unknown[]): void;
    } | null;
  };
}

/** The members of Node's `process` that are used here; undefined in a browser. */
const node = (
  globalThis as unknown as {
    process?: {
      arch?: string;
      versions?: { node?: string; bun?: string };
      cwd(): string;
      getBuiltinModule<Name extends keyof Builtins>(name: Name): Builtins[Name];
    };
  }
).process;
export const isNode = node?.versions?.node !== undefined;

/** Whether a text is an address and not a path. A scheme of one letter is a Windows drive. */
export const hasScheme = (text: string): boolean => /^[a-z][a-z\d+.-]+:/i.test(text);

/** A builtin module, in Node only. With an import, bundlers for the web would look for the module. */
export function builtin<Name extends keyof Builtins>(name: Name): Builtins[Name] {
  return (node as NonNullable<typeof node>).getBuiltinModule(name);
}

/** The working directory, in Node only. */
export const workingDirectory = (): string => (node as NonNullable<typeof node>).cwd();

/**
 * Whether this engine may merge pairs of vectors into wider ones: only V8 does, on x86-64. In a
 * browser, this function can exclude only other engines and phones. Bun looks like Node, but runs
 * JavaScriptCore.
 */
export function mayMergeVectors(): boolean {
  if (isNode) return node?.arch === "x64" && node.versions?.bun === undefined;
  const userAgent = globalThis.navigator?.userAgent ?? "";
  return /Chrom(e|ium)\//.test(userAgent) && !/Android/.test(userAgent);
}

/**
 * Whether a memory can be shared with a worker. The test posts a shared memory.
 * `crossOriginIsolated` is not sufficient: WebKit may have no SharedArrayBuffer on an isolated
 * page. structuredClone is not a test either: in WebKit it refuses memories that postMessage
 * accepts.
 */
export function canShareMemory(): boolean {
  if (isNode) return true;
  let channel: MessageChannel | undefined;
  try {
    channel = new MessageChannel();
    channel.port1.postMessage(new WebAssembly.Memory({ initial: 0, maximum: 1, shared: true }));
    return true;
  } catch {
    return false;
  } finally {
    channel?.port1.close();
  }
}

/** The reason why this page or worker cannot have threads; null if it can. */
function whyNoThreads(): string | null {
  if (!isNode && typeof Worker === "undefined") {
    return "workers cannot be started here, for example in a service worker";
  }
  if (canShareMemory()) return null;
  if (globalThis.crossOriginIsolated !== true) {
    return (
      "the page is not cross-origin isolated: serve it with the headers " +
      "Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp"
    );
  }
  return typeof SharedArrayBuffer === "undefined"
    ? "this browser has no SharedArrayBuffer, although the page is cross-origin isolated"
    : "this browser does not share memory with workers, although the page is cross-origin isolated";
}

/** The number of threads that can run in parallel. In Deno, Node's module needs a permission for it. */
export function countCores(): number {
  return (
    globalThis.navigator?.hardwareConcurrency ??
    (isNode ? builtin("node:os").availableParallelism() : 1)
  );
}

/** More threads than this rarely speed up one attention, and each needs a worker. */
const mostThreadsByDefault = 8;

/**
 * The number of threads to start, and the reason if it is lower than requested or than the number
 * of cores.
 *
 * @param hasAddress whether the address of their script is known
 */
export function chooseThreads(
  wanted: number | undefined,
  cores: number,
  hasAddress: boolean,
): { threads: number; reason: string | null } {
  const threads = wanted ?? Math.min(cores, mostThreadsByDefault);
  if (threads === 1) return { threads, reason: null };
  const unknown = "the address of the given glue is not known, and no workerUrl is given";
  const obstacle = whyNoThreads() ?? (hasAddress ? null : unknown);
  return obstacle === null
    ? { threads, reason: null }
    : { threads: 1, reason: `1 thread, because ${obstacle}` };
}

const pageSize = 65536;
const initialPages = 256; // as linked: -sINITIAL_MEMORY=16MB
export const mostMemory = 4 * 2 ** 30;
export const isMemorySize = isWholeNumber(initialPages * pageSize, mostMemory);

/** The memory of an engine. */
export interface Reserved {
  readonly memory: WebAssembly.Memory;
  /** Its maximum in bytes. */
  readonly most: number;
  /** The reason why this is less than requested; null if it is not. */
  readonly reason: string | null;
}

/**
 * The time limit in milliseconds. The workers of a disposed engine reserve its addresses until the
 * browser has ended them.
 */
const patience = 2000;
const interval = 50;

/**
 * Creates the module's memory, which is shared and grows up to `maximum` bytes. The system reserves
 * the maximum of a shared memory as address space immediately. If that fails (iOS), a half and a
 * quarter are tried, and all again for some time, because disposed engines may still end. Then any
 * smaller maximum is taken.
 */
export async function createMemory(maximum: number): Promise<Reserved> {
  const most = Math.floor(maximum / pageSize);
  for (let waited = 0; ; waited += interval) {
    const isLast = waited >= patience;
    const least = isLast ? initialPages : Math.max(most / 4, initialPages);
    for (let pages = most; pages >= least; pages = Math.floor(pages / 2)) {
      const memory = tryMemory(pages);
      if (memory === undefined) continue;
      const size = pages * pageSize;
      const reason =
        size <= maximum - pageSize
          ? `at most ${size / 2 ** 20} MiB of memory, because the system refused more`
          : null;
      return { memory, most: size, reason };
    }
    if (isLast) throw refuse("memory", "maxMemory", "room for 16 MiB or more", "none");
    await new Promise((resolve) => setTimeout(resolve, interval));
  }
}

/** Creates a memory; undefined if there is no room for it. */
function tryMemory(pages: number): WebAssembly.Memory | undefined {
  try {
    return new WebAssembly.Memory({ initial: initialPages, maximum: pages, shared: true });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw refuse("unsupported", "WebAssembly", "shared memory", "none", { cause: error });
  }
}
