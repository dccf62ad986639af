/** Why a call was refused, or what went wrong. */
export type HeedErrorCode =
  | "shape" // a rank or a size does not fit
  | "dtype" // an element type does not fit
  | "option" // an option has a value outside its range, or is unknown
  | "memory" // there is not enough memory
  | "disposed" // a tensor or an engine was used after dispose()
  | "unsupported" // this browser or runtime lacks something
  | "nan" // a loss, or with `debug` another result, is not a finite number
  | "load" // the module's files could not be fetched or started
  | "format" // a file, or what is to be written into one, is not as its format has it
  | "internal"; // a defect of this library

/**
 * What every function of this library throws. The message names the argument, what was expected and
 * what came: `q: expected rank 3 or 4, got [2, 8]`. Nothing was written, and the engine stays usable.
 */
export class HeedError extends Error {
  readonly code: HeedErrorCode;

  constructor(code: HeedErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "HeedError";
    this.code = code;
  }
}

/** The error for an argument that is not what it should be. */
export function refuse(
  code: HeedErrorCode,
  argument: string,
  expected: string,
  got: string,
): HeedError {
  return new HeedError(code, `${argument}: expected ${expected}, got ${got}`);
}

/** A value, in a message. */
export function describe(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value) && value.length > 100) return `a list of ${value.length}`;
  if (Array.isArray(value)) return `[${value.map(describe).join(", ")}]`;
  if (value !== null && typeof value === "object")
    return `a ${value.constructor?.name ?? "object"}`;
  if (typeof value === "function") return "a function";
  return String(value);
}
