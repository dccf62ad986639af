// Reads case files of both formats into one form.

import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";

/**
 * @typedef {{ dtype: string, shape: number[], data: (number | boolean | string)[] }} CaseTensor
 * @typedef {object} Case
 * @property {string} name
 * @property {string} kind  the kind of a golden case, or "onnx Attention" and the like for an operator case
 * @property {Record<string, any>} options
 * @property {Record<string, CaseTensor>} inputs
 * @property {Record<string, CaseTensor>} outputs
 * @property {{ abs: number, rel: number }} tolerance
 */

/** The case files of a list of files and folders, sorted by name. Subfolders are ignored. */
export async function findCases(paths) {
  const files = [];
  for (const path of paths) {
    if ((await stat(path)).isDirectory()) {
      const names = (await readdir(path)).filter((name) => name.endsWith(".json")).sort();
      files.push(...names.map((name) => join(path, name)));
    } else {
      files.push(path);
    }
  }
  return Promise.all(files.map(readCase));
}

/** @returns {Promise<Case>} */
async function readCase(file) {
  const raw = JSON.parse(await readFile(file, "utf8"));
  if (raw.kind !== undefined) return raw;
  if (raw.op === undefined)
    throw new Error(`${basename(file)}: expected a case with a kind or an op`);
  const isHalf = Object.values(raw.inputs).some((tensor) => tensor.dtype === "float16");
  const bound = isHalf ? 2e-3 : 1e-5;
  return {
    name: raw.name,
    kind: `onnx ${raw.op}`,
    options: raw.attributes,
    inputs: raw.inputs,
    outputs: raw.outputs,
    tolerance: { abs: bound, rel: bound },
  };
}
