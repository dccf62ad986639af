// Writes files completely or not at all.

import { access, constants, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/** Makes a folder unless it exists, and checks that files can be written into it. */
export async function makeFolder(folder) {
  await makeUnlessThere(resolve(folder));
  // Throws if the path is a file.
  await access(`${folder}/`, constants.W_OK);
}

/** Like `recursive` of mkdir, which never returns in a file system where no process may make folders (/proc). */
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

/**
 * Locks a folder: two trainings in one folder would overwrite each other's files. The lock is a file with the id of the
 * process. A killed process leaves it behind.
 *
 * @returns a function that releases the folder
 */
export async function occupy(folder) {
  const file = join(folder, "process");
  for (;;) {
    try {
      await writeFile(file, `${process.pid}\n`, { flag: "wx" });
      return () => rm(file, { force: true });
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    const owner = Number(new TextDecoder().decode(await readIfThere(file)));
    if (isOther(owner))
      throw Object.assign(new Error(`another training is writing there, process ${owner}`), {
        code: "EBUSY",
      });
    await rm(file, { force: true });
  }
}

/** Whether this process exists and is not the current one. */
function isOther(id) {
  if (!(id > 0) || id === process.pid) return false;
  try {
    return process.kill(id, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** Writes files under temporary names, and renames them only when all are complete. */
export async function writeFiles(folder, contents) {
  const files = Object.entries(contents).map(([name, content]) => [join(folder, name), content]);
  try {
    for (const [file, content] of files) await writeFile(`${file}.part`, content, { flush: true });
    for (const [file] of files) await rename(`${file}.part`, file);
  } catch (error) {
    // Removes incomplete files, so that they do not fill a full disk.
    for (const [file] of files) await rm(`${file}.part`, { force: true }).catch(() => {});
    const { code, message } = error;
    throw Object.assign(new Error(`${folder}: ${message}`, { cause: error }), { code });
  }
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
