// Finds a browser of the system.

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The path in an environment variable, or of the first of these names on the PATH. */
export function programOf(variable, ...names) {
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
  throw new Error(`${names.join(" or ")}: expected on the PATH, or its path in ${variable}`);
}
