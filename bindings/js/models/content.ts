// The content of files, which is not trusted: HeedError "format" names the file.

import { describe, HeedError, refuse } from "../core/error.js";
import { isRecord } from "../core/objects.js";

/** @throws HeedError "format" for a text that is not JSON */
export function parseText(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refuse("format", name, "JSON", error instanceof Error ? error.message : "none");
  }
}

/** @throws HeedError "format" for a text that is not an object in JSON */
export function parseJson(text: string, name: string): Record<string, unknown> {
  const given = parseText(text, name);
  if (isRecord(given)) return given;
  throw refuse("format", name, "an object", describe(given));
}

/** Reports what a file's content violates as HeedError "format" with the file's name. */
export function within<T>(file: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    const isRefusal =
      error instanceof HeedError && ["option", "shape", "dtype", "format"].includes(error.code);
    if (!isRefusal) throw error;
    throw new HeedError("format", `${file}: ${error.message}`, { cause: error });
  }
}
