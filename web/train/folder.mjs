// Files that are there as a whole or not at all.

import { access, constants, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/** Makes a folder, unless it is there, that files can be written into. */
export async function makeFolder(folder) {
  await makeUnlessThere(resolve(folder));
  // Of a file it tells that it is no folder.
  await access(`${folder}/`, constants.W_OK);
}

/** As mkdir's `recursive`, which never ends where the system lets nobody make folders (/proc). */
async function makeUnlessThere(folder) {
  try {
    await mkdir(folder);
  } catch (error) {
    if (error.code === "EEXIST") return;
    if (error.code !== "ENOENT" || dirname(folder) === folder) throw error;
    await makeUnlessThere(dirname(folder));
    await mkdir(folder);
  }
}

/** Writes files beside their places, and puts them there only when all of them are whole. */
export async function writeFiles(folder, contents) {
  const files = Object.entries(contents).map(([name, content]) => [join(folder, name), content]);
  for (const [file, content] of files) await writeFile(`${file}.part`, content, { flush: true });
  for (const [file] of files) await rename(`${file}.part`, file);
}

/** The bytes of a file; undefined if there is none. */
export async function readIfThere(file) {
  try {
    return new Uint8Array(await readFile(file));
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}
