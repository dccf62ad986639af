/** The entries of the package that have an API: package.json exports them with types and from TypeScript. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const rootOf = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** @returns {{ name: string, types: string, id: string }[]} the name "heed/nn", the declarations, and "nn" for addresses */
export function entries() {
  const { exports } = JSON.parse(readFileSync(rootOf("package.json"), "utf8"));
  return Object.entries(exports)
    .filter(([, target]) => target.types?.endsWith(".d.ts"))
    .map(([path, { types }]) => {
      const name = path.replace(/^\./, "heed");
      return { name, types: rootOf(types), id: name.replace("heed/", "").replaceAll("/", "-") };
    });
}
