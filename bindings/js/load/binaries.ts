// The sources of the engine's two files: the glue, which is a JavaScript module, and the binary.

import { ownAddresses } from "../addresses.js";
import { version } from "../core/copies.js";
import { HeedError, refuse } from "../core/error.js";
import type { Bytes, Glue, ModuleFactory } from "../core/module.js";
import { type Check, isFunction, oneOf } from "../core/validate.js";
import { builtin, chooseVariant, isNode, type Variant } from "./features.js";
import {
  classOf,
  type EngineFile,
  type Files,
  fileNames,
  isAddress,
  locate,
  resolve,
} from "./locate.js";
import { isWideFaster, knownWide, measureWide, refuseWide } from "./probe.js";

/** Options of `load` for the addresses of the engine's files. */
export interface BinaryOptions {
  /**
   * The binary; by default the binary of `wasm`. Without `wasm`, it is "relaxed" if WebAssembly has
   * relaxed SIMD, and "simd" otherwise. "wide" replaces "relaxed" if the engine merges pairs of
   * vectors into vectors of 256 bits. A measurement during the download, or an earlier one, finds
   * this out.
   */
  variant?: Variant;
  /**
   * The folder with heed-simd.mjs, heed-simd.wasm, heed-relaxed.mjs, heed-relaxed.wasm and, for
   * engines that are faster with it, heed-wide.wasm; by default the folder of this package. A
   * relative address is relative to the page, and in Node a path from the working directory.
   */
  wasmUrl?: string | URL;
  /** The binary: its bytes, a response, a compiled module, or the address of a file of any name. */
  wasm?: string | URL | ArrayBuffer | Uint8Array | (WebAssembly.Module & object) | Response;
  /**
   * The default export of "heed/heed-simd.mjs" or "heed/heed-relaxed.mjs" (each works with all
   * binaries), where `import()` is not allowed, as in a service worker. Threads then need
   * `workerUrl`.
   */
  glue?: Glue;
}

/** @internal */
export interface Places {
  readonly wasmUrl?: string | URL;
  /** The addresses that the page of this worker sent. */
  readonly files: Files | undefined;
}

interface Binary {
  readonly variant: Variant;
  readonly module: WebAssembly.Module;
  /** The address of the binary, or the name of its option if it was given in another form. */
  readonly name: string;
}

/** @internal */
export interface Binaries extends Binary {
  readonly factory: ModuleFactory;
}

const glueExport = "the default export of heed-simd.mjs or heed-relaxed.mjs";

export const binaryChecks: Readonly<Record<keyof BinaryOptions, Check>> = {
  variant: oneOf("wide", "relaxed", "simd"),
  wasmUrl: isAddress,
  wasm: {
    expected: "bytes, a response, a WebAssembly.Module or an address",
    accepts: (value) =>
      isAddress.accepts(value) ||
      ["ArrayBuffer", "Uint8Array", "WebAssembly.Module", "Response"].includes(classOf(value)),
  },
  glue: { ...isFunction, expected: glueExport },
};

/** The address of a file. A worker whose script has no address for it uses the address that its page sent. */
function addressOf(name: EngineFile, { wasmUrl, files }: Places): URL {
  try {
    return locate(name, ownAddresses[name], wasmUrl);
  } catch (error) {
    const sent = wasmUrl === undefined ? files?.[name] : undefined;
    if (sent === undefined) throw error;
    return new URL(sent);
  }
}

function fetchBinary(address: URL, signal?: AbortSignal): Promise<Response | Bytes> {
  if (isNode && address.protocol === "file:")
    return builtin("node:fs").promises.readFile(builtin("node:url").fileURLToPath(address.href));
  return fetch(address, { credentials: "same-origin", ...(signal && { signal }) });
}

async function compile(
  source: ArrayBuffer | Uint8Array | WebAssembly.Module | Response,
): Promise<WebAssembly.Module> {
  if (classOf(source) === "WebAssembly.Module") return source as WebAssembly.Module;
  if (classOf(source) !== "Response") return WebAssembly.compile(source as BufferSource);
  const response = source as Response;
  if (!response.ok) throw new Error(`${response.status} for ${response.url}`);
  // Compilation during the download requires this type of response.
  return response.headers.get("Content-Type") === "application/wasm"
    ? WebAssembly.compileStreaming(response)
    : WebAssembly.compile(await response.arrayBuffer());
}

/** The variant of a binary, from its custom section: see bindings/embind.cpp. */
function variantOf(name: string, module: WebAssembly.Module, wanted: Variant | undefined): Variant {
  const [section] = WebAssembly.Module.customSections(module, "heed");
  const expected = `the ${wanted ?? "simd, relaxed or wide"} binary of heed ${version}`;
  if (section === undefined) throw refuse("load", name, expected, "another module");
  const [own, variant] = String.fromCharCode(...new Uint8Array(section)).split(" ");
  if (own !== version || (wanted !== undefined && variant !== wanted))
    throw refuse("load", name, expected, `the ${variant} binary of heed ${own}`);
  return variant as Variant;
}

function failure(name: string, cause: unknown, advice = ""): HeedError {
  if (cause instanceof HeedError) return cause;
  const got = cause instanceof Error ? cause.message : String(cause);
  return refuse("load", name, "to load the engine", got + advice, { cause });
}

/** Loads the binary of the option `wasm`. */
async function givenBinary(
  given: NonNullable<BinaryOptions["wasm"]>,
  wanted: Variant | undefined,
): Promise<Binary> {
  const address = isAddress.accepts(given) ? resolve("wasm", given as string | URL) : undefined;
  const name = address?.href ?? "wasm";
  try {
    const source = address === undefined ? (given as Response) : await fetchBinary(address);
    const module = await compile(source);
    return { variant: variantOf(name, module, wanted), module, name };
  } catch (cause) {
    throw failure(name, cause);
  }
}

/** The error for a file of the engine's folder that cannot be loaded. */
const missing = ({ href }: URL, cause: unknown) =>
  failure(
    href,
    cause,
    `; ${fileNames} of the package's dist folder must be in ${href.replace(/[^/]*$/, "")} or in the folder of wasmUrl`,
  );

/** Loads a binary from the engine's folder. */
async function ownBinary(variant: Variant, places: Places, signal?: AbortSignal): Promise<Binary> {
  const wasm = addressOf(`heed-${variant}.wasm`, places);
  try {
    const module = await compile(await fetchBinary(wasm, signal));
    return { variant: variantOf(wasm.href, module, variant), module, name: wasm.href };
  } catch (cause) {
    throw missing(wasm, cause);
  }
}

/**
 * Loads the relaxed binary, or the wide one if a measurement shows that it is faster before the
 * relaxed one is compiled.
 */
async function fasterBinary(places: Places): Promise<Binary> {
  let isCompiled = false;
  // Node with jsdom has two kinds of signals, of which fetch accepts only one.
  const abandoned = isNode ? undefined : new AbortController();
  if (!isWideFaster()) {
    const relaxed = ownBinary("relaxed", places, abandoned?.signal).finally(() => {
      isCompiled = true;
    });
    const known = knownWide();
    const found = measureWide(() => !isCompiled);
    // A binary from the browser's cache may be compiled before the kept answer of an earlier page is read.
    if (!(await Promise.race([relaxed.then(() => known), found]))) return relaxed;
    abandoned?.abort();
    relaxed.catch(() => {});
  }
  return ownBinary("wide", places).catch(() => {
    // A folder may lack this binary. It is then not requested again at each load.
    refuseWide();
    return ownBinary("relaxed", places);
  });
}

/**
 * Fetches the missing files in parallel. Throws for a binary of another version of the package.
 *
 * @internal
 * @param onGlue called when the glue is loaded, with its address unless the caller gave the glue
 */
export async function fetchBinaries(
  options: BinaryOptions & Places,
  onGlue: (address: URL | undefined) => void,
): Promise<Binaries> {
  const chosen = chooseVariant(options.variant);
  const given =
    options.wasm === undefined ? undefined : await givenBinary(options.wasm, options.variant);
  const givenFactory = options.glue as ModuleFactory | undefined;
  if (givenFactory === undefined && "ServiceWorkerGlobalScope" in globalThis) {
    const expected = `${glueExport}, because a service worker has no import()`;
    throw refuse("option", "glue", expected, "none");
  }
  if (givenFactory) onGlue(undefined);
  if (given && givenFactory) return { ...given, factory: givenFactory };
  const variant = given?.variant ?? chosen;
  const glue = addressOf(variant === "simd" ? "heed-simd.mjs" : "heed-relaxed.mjs", options);
  const isChosen = options.variant !== undefined || variant === "simd";
  const binary = given ?? (isChosen ? ownBinary(variant, options) : fasterBinary(options));
  Promise.resolve(binary).catch(() => {}); // reported below, unless the glue fails first
  if (givenFactory) return { ...(await binary), factory: givenFactory };
  let factory: ModuleFactory;
  try {
    factory = (await import(/* @vite-ignore */ /* webpackIgnore: true */ glue.href)).default;
    if (typeof factory !== "function")
      throw new TypeError("a module without its default export: a bundler changed the file");
  } catch (cause) {
    throw missing(glue, cause);
  }
  onGlue(glue);
  return { ...(await binary), factory };
}
