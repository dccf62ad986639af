/**
 * The entries of the package that have an API: those that package.json exports with types and from TypeScript. The parts
 * of the elements are for views of one's own, and may change with every version: only their source describes them.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const rootOf = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** @returns {{ name: string, types: string, id: string }[]} "heed/nn", its declarations, and "nn" for addresses */
export function entries() {
  const { exports } = JSON.parse(readFileSync(rootOf("package.json"), "utf8"));
  return Object.entries(exports)
    .filter(([path, target]) => path !== "./view/parts" && target.types?.endsWith(".d.ts"))
    .map(([path, { types }]) => {
      const name = path.replace(/^\./, "heed");
      return { name, types: rootOf(types), id: name.replace("heed/", "").replaceAll("/", "-") };
    });
}
