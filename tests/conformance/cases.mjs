// Reads case files of both formats into one form.

import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

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
 * The case files of a list of files and folders, sorted by name. Of subfolders, only the ones in
 * `models` count: each has the case of one model. The folder `models` itself may also be in the
 * list.
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
  const names = (await readdir(folder)).sort();
  if (names.includes(modelCase)) return [join(folder, modelCase)];
  const cases = names.filter((name) => name.endsWith(".json")).map((name) => join(folder, name));
  const inModels = basename(resolve(folder)) === "models" ? folder : join(folder, "models");
  if (inModels === folder || names.includes("models"))
    for (const model of (await readdir(inModels)).sort())
      cases.push(join(inModels, model, modelCase));
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
  const names = (await readdir(dirname(file))).filter((name) => name !== modelCase);
  const contents = await Promise.all(names.map((name) => readFile(join(dirname(file), name))));
  const base64 = contents.map((bytes, i) => [names[i], bytes.toString("base64")]);
  return { ...raw, files: Object.fromEntries(base64) };
}
