import { classOf, isInstance, mark, markKey } from "./copies.js";

/** Why a call was refused, or what went wrong. */
export type HeedErrorCode =
  | "shape" // a rank or a size does not fit
  | "dtype" // an element type does not fit
  | "option" // an option has a value outside its range, or is unknown
  | "memory" // there is not enough memory
  | "storage" // the browser has no room for a file that it is to keep
  | "disposed" // a tensor or an engine was used after dispose()
  | "unsupported" // this browser or runtime lacks something
  | "nan" // a loss, or with `debug` another result, is not a finite number
  | "load" // a file is missing or could not be fetched, or the module could not be started
  | "format" // a file, or the data for one, does not follow its format
  | "cancelled" // the call was cancelled: see heed/worker
  | "worker" // the worker has ended, or could not start
  | "internal"; // a defect of this library or of the WebAssembly engine

/**
 * The error that every function of this library throws. The message names the argument, the
 * expected value and the given value: `q: expected rank 3 or 4, got [2, 8]`. Nothing was written,
 * and the engine stays usable. Only if WebAssembly stopped in the middle of a call (code internal),
 * the engine has ended.
 *
 * @example
 * ```ts
 * try {
 *   heed.matmul(heed.ones([2, 3]), heed.ones([2, 3]));
 * } catch (error) {
 *   if (error instanceof HeedError) console.log(error.code, error.message); // prints: shape b: expected an axis of 3 to go with that of a [2, 3], got [2, 3]
 * }
 * ```
 */
export class HeedError extends Error {
  /** The kind of the error: see the guide "Errors by code". */
  readonly code: HeedErrorCode;

  constructor(code: HeedErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "HeedError";
    this.code = code;
  }

  /** @internal */
  get [markKey](): object {
    return mark;
  }

  static override readonly [Symbol.hasInstance] = isInstance;

  get [Symbol.toStringTag](): string {
    return "HeedError";
  }
}

/** The error for an argument that does not fit, or for something else that is not as expected. */
export function refuse(
  code: HeedErrorCode,
  argument: string,
  expected: string,
  got: string,
  options?: ErrorOptions,
): HeedError {
  return new HeedError(code, `${argument}: expected ${expected}, got ${got}`, options);
}

/** A class, in a message. U does not count as a vowel, because one says "a Uint8Array". */
export function withArticle(name: string): string {
  return `${/^[aeio]/i.test(name) ? "an" : "a"} ${name}`;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object";

/** A value, in a message. */
export function describe(value: unknown): string {
  try {
    return described(value, 0);
  } catch {
    return "an object that cannot be read";
  }
}

function described(value: unknown, depth: number): string {
  if (typeof value === "string")
    return value.length > 1000 ? `a text of ${value.length} characters` : JSON.stringify(value);
  if (Array.isArray(value)) {
    if (value.length > 100) return `a list of ${value.length}`;
    // A list may contain itself.
    if (depth === 4) return "[...]";
    return `[${Array.from(value, (item) => described(item, depth + 1)).join(", ")}]`;
  }
  if (isObject(value)) return withArticle(classOf(value));
  if (typeof value === "function") return "a function";
  if (typeof value === "bigint") return `${value}n`;
  return String(value);
}
