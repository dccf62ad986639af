// Files that are there as a whole or not at all.

import { access, constants, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
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

/**
 * Has a folder to itself: two trainings in one would put files in each other's places. Who has it is in a file,
 * which a process that was killed leaves behind.
 *
 * @returns what gives it up
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

/** Whether there is such a process, and not this one. */
function isOther(id) {
  if (!(id > 0) || id === process.pid) return false;
  try {
    return process.kill(id, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** Writes files beside their places, and puts them there only when all of them are whole. */
export async function writeFiles(folder, contents) {
  const files = Object.entries(contents).map(([name, content]) => [join(folder, name), content]);
  try {
    for (const [file, content] of files) await writeFile(`${file}.part`, content, { flush: true });
    for (const [file] of files) await rename(`${file}.part`, file);
  } catch (error) {
    // A full disk is not to be filled with halves.
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
