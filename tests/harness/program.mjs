// Finds a browser of the system.

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The path in an environment variable, or of the first of these names on the PATH. */
function found(variable, ...names) {
  const given = process.env[variable];
  if (given) return given;
  for (const name of names)
    for (const folder of (process.env.PATH ?? "").split(delimiter)) {
      const program = join(folder, name);
      try {
        accessSync(program, constants.X_OK);
        return program;
      } catch {
        // Not in this folder.
      }
    }
}

/** The same, or an error. */
export function programOf(variable, ...names) {
  const program = found(variable, ...names);
  if (!program)
    throw new Error(`${names.join(" or ")}: expected on the PATH, or its path in ${variable}`);
  return program;
}

// The first is the same browser without its own windows, whose pages take a fifth less processor time.
const chromiums = [
  "HEED_CHROMIUM",
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome-stable",
  "google-chrome",
];

export const chromium = () => programOf(...chromiums);

/** Without an error, because not all tests need a browser. */
export const chromiumIfFound = () => found(...chromiums);
