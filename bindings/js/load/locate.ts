// The complete addresses of the engine's files. Addresses are resolved only in this file: a bundler
// or a caller may give only a path, and a worker that was started from a blob has no location for
// relative addresses.

import { ownAddresses } from "../addresses.js";
import { describe, HeedError, refuse } from "../core/error.js";
import type { Check } from "../core/validate.js";
import { builtin, hasScheme, isNode, workingDirectory } from "./features.js";

export type EngineFile = keyof typeof ownAddresses;
export type Files = Readonly<Partial<Record<EngineFile, string>>>;

/** The files that a folder of `wasmUrl` must contain. */
export const fileNames =
  "heed-simd.mjs, heed-simd.wasm, heed-relaxed.mjs, heed-relaxed.wasm and heed-wide.wasm";

/** The name of a value's class. The class may be from another realm, such as a frame or a test environment. */
export const classOf = (value: unknown): string =>
  Object.prototype.toString.call(value).slice(8, -1);

export const isAddress: Check = {
  expected: "an address",
  accepts: (value) => typeof value === "string" || classOf(value) === "URL",
};

/** Completes an address or, in Node, a path. */
function complete(given: string | URL): URL {
  // The text is used, not the property `href`: Next.js creates address objects without an origin, whose text is a path.
  const text = String(given);
  if (isNode && !hasScheme(text)) return new URL(builtin("node:url").pathToFileURL(text).href);
  if (/^[a-z]:/i.test(text)) throw new TypeError("a path is no address");
  const { location } = globalThis;
  return new URL(text, location?.protocol === "blob:" ? location.origin : location?.href);
}

/** The complete address in an option. The address of a folder ends with a slash. */
export function resolve(option: "wasm" | "wasmUrl" | "workerUrl", given: string | URL): URL {
  try {
    const url = complete(given);
    if (option === "wasmUrl") {
      // An address without a hierarchy, such as "mailto:a", cannot be a base: this throws.
      new URL("", url);
      if (!url.pathname.endsWith("/")) url.pathname += "/";
    }
    return url;
  } catch {
    throw refuse("option", option, isAddress.expected, describe(String(given)));
  }
}

/** The file of the installed package, for a program in Node whose bundle does not contain the file. */
function installed(name: string): URL | undefined {
  try {
    const { createRequire } = builtin("node:module");
    const path = createRequire(`${workingDirectory()}/`).resolve(`heed/${name}`);
    return complete(path);
  } catch {
    return undefined;
  }
}

const isMissing = ({ protocol, href }: URL) =>
  protocol === "file:" && !builtin("node:fs").existsSync(builtin("node:url").fileURLToPath(href));

/**
 * The folder in which the development servers of Vite 5 to 7 keep their bundles of packages. The
 * other files of the packages are not in this folder, but the same server has them in the packages'
 * folders.
 */
const viteBundles = /\/node_modules\/\.[^?#]*\/deps\/(?=[^/]+$)/;

/**
 * The address of a file of the engine.
 *
 * @param own returns the address from the bundler; throws if there is none
 * @param folder the option `wasmUrl`
 */
export function locate(name: string, own: () => URL, folder?: string | URL): URL {
  if (folder !== undefined) return new URL(name, resolve("wasmUrl", folder));
  let address: URL | undefined;
  let cause: unknown;
  try {
    address = complete(own());
    address.pathname = address.pathname.replace(viteBundles, "/node_modules/heed/dist/");
  } catch (error) {
    cause = error;
  }
  if (isNode && (address === undefined || isMissing(address))) {
    const found = installed(name);
    if (found) return found;
    if (address)
      throw refuse(
        "load",
        name,
        `a file of the engine on this server, or the package heed in ${workingDirectory()}`,
        `${address.href}, which is missing; Next.js needs serverExternalPackages: ["heed"] in its ` +
          "configuration, other tools the option wasmUrl",
      );
  }
  if (address === undefined)
    throw new HeedError(
      "load",
      "wasmUrl: expected the address of the engine's files, because this bundle does not know its own " +
        `(import.meta.url is missing), got none; copy ${fileNames}, with heed/worker also workerThread.js, from the dist folder of the package ` +
        "heed, and pass the address of their folder",
      { cause },
    );
  return address;
}

/** The addresses that this page or program has, for its worker, which has none. */
export function locateAll(): Files {
  const found: Partial<Record<EngineFile, string>> = {};
  for (const [name, own] of Object.entries(ownAddresses)) {
    try {
      found[name as EngineFile] = locate(name, own).href;
    } catch {
      // The worker throws this error if it needs the file and does not find it either.
    }
  }
  return found;
}
