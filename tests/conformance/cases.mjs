// Reads case files of both formats into one form.

import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";

/**
 * @typedef {{ dtype: string, shape: number[], data: (number | boolean | string)[] }} CaseTensor
 * @typedef {object} Case
 * @property {string} name
 * @property {string} kind  the kind of a golden case, or "onnx Attention" and the like for an operator case
 * @property {Record<string, any>} options
 * @property {Record<string, CaseTensor>} inputs
 * @property {Record<string, CaseTensor>} outputs
 * @property {{ abs: number, rel: number }} tolerance
 * @property {Record<string, string>} [files]  of a whole model: config.json and the like, in base64
 */

/** The file of a whole model's case, in a separate folder together with the model's files. */
const modelCase = "expected.json";

/**
 * The case files of a list of files and folders, sorted by name. A subfolder with a model's files has the case of
 * this model; the subfolder `models` has subfolders of models.
 *
 * @throws Error for a folder without cases
 */
export async function findCases(paths) {
  const files = [];
  for (const path of paths) {
    const found = (await stat(path)).isDirectory() ? await casesIn(path) : [path];
    if (found.length === 0) throw new Error(`${path}: expected a folder with cases, got none`);
    files.push(...found);
  }
  return Promise.all(files.map(readCase));
}

async function casesIn(folder) {
  const entries = await readdir(folder, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  if (entries.some(({ name }) => name === modelCase)) return [join(folder, modelCase)];
  const cases = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) cases.push(...(await casesIn(path)));
    else if (entry.name.endsWith(".json")) cases.push(path);
  }
  return cases;
}

/**
 * Reads a case, and the files of its model if it has one.
 *
 * @returns {Promise<Case>}
 */
async function readCase(file) {
  const raw = JSON.parse(await readFile(file, "utf8"));
  if (raw.kind !== undefined) return basename(file) === modelCase ? withFiles(raw, file) : raw;
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

async function withFiles(raw, file) {
  const entries = await readdir(dirname(file), { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && entry.name !== modelCase)
    .map((entry) => relative(dirname(file), join(entry.parentPath, entry.name)));
  const contents = await Promise.all(names.map((name) => readFile(join(dirname(file), name))));
  const base64 = contents.map((bytes, i) => [names[i], bytes.toString("base64")]);
  return { ...raw, files: Object.fromEntries(base64) };
}
