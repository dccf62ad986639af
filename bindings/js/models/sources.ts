// The sources of a model's files: memory, files of the user, the file system of Node, or a reader
// of ranges of bytes. Files of the network are in fetched.ts.

import { describe, type HeedError, refuse } from "../core/error.js";
import { parseJson } from "../core/objects.js";
import { isObject } from "../core/validate.js";
import { builtin, hasScheme, isNode } from "../load/features.js";
import { type ByteSource, FetchedFile, folderAddress, type OpenSource } from "./fetched.js";
import { openKept } from "./kept.js";

/** Shows bytes in memory as a file. */
export const sourceOfBytes = (bytes: Uint8Array): ByteSource => ({
  size: bytes.length,
  read: async (start, end) => bytes.subarray(start, end),
});

/** The members of a Blob or a File that are used here. */
export interface BlobLike {
  readonly size: number;
  slice(start: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

/** The member of a FileSystemFileHandle that is used here. */
export interface FileHandleLike {
  getFile(): Promise<BlobLike>;
}

/** The members of a FileSystemDirectoryHandle that are used here. */
export interface FolderHandleLike {
  /** Optional, because some versions of the DOM's types lack it. */
  keys?(): AsyncIterable<string>;
  getFileHandle(name: string): Promise<FileHandleLike>;
  /** For files in folders within it, such as "1_Pooling/config.json". */
  getDirectoryHandle?(name: string): Promise<FolderHandleLike>;
}

/** A file: its bytes, a Blob or File, a handle of a file, an address, a path in Node, or a reader of ranges. */
export type FileSource =
  | Uint8Array
  | ArrayBuffer
  | BlobLike
  | FileHandleLike
  | ByteSource
  | string
  | URL;

/** A File from a folder or a list that the user chose, or a handle of a file. */
export type NamedFile = (BlobLike | FileHandleLike) & {
  readonly name: string;
  readonly webkitRelativePath?: string;
};

/**
 * The files of a model, in one of these forms:
 * - the address of their folder, such as "https://huggingface.co/gpt2"; in Node also its path or
 *   `file:` URL
 * - the address or path of the safetensors file, with config.json in the same folder
 * - a GGUF file, which holds the config, the tokenizer and the weights, or a folder with one
 * - a folder that the user opened, or a list of files
 * - files by name, such as { "config.json": file, ... }
 */
export type ModelSource =
  | FileSource
  | FolderHandleLike
  | Iterable<NamedFile>
  | Readonly<Record<string, FileSource>>;

/** The files of a model, opened by their names. */
export interface Folder {
  /** The names of all files; undefined if they are not known, as on a server. */
  readonly names: readonly string[] | undefined;
  /** Opens a file; undefined if it does not exist. */
  open(name: string, signal?: AbortSignal): Promise<OpenSource | undefined>;
  /** Ends the request of the file that contains all others, such as a GGUF file. */
  close?(): void;
}

const has = <Name extends string>(value: unknown, name: Name): value is Record<Name, unknown> =>
  isObject(value) && name in value;
const hasFunction = (value: unknown, name: string) =>
  has(value, name) && typeof value[name] === "function";

const isAddress = (value: unknown): value is string | URL =>
  typeof value === "string" || value instanceof URL;
const isBlob = (value: unknown): value is BlobLike =>
  hasFunction(value, "slice") && hasFunction(value, "arrayBuffer") && has(value, "size");
const isFileHandle = (value: unknown): value is FileHandleLike => hasFunction(value, "getFile");
const isFolderHandle = (value: unknown): value is FolderHandleLike =>
  hasFunction(value, "getFileHandle") && hasFunction(value, "keys");
const isReader = (value: unknown): value is ByteSource =>
  hasFunction(value, "read") && has(value, "size");
const isFile = (value: unknown) =>
  value instanceof Uint8Array ||
  value instanceof ArrayBuffer ||
  [isAddress, isBlob, isFileHandle, isReader].some((fits) => fits(value));
const isNamedFile = (value: unknown): value is NamedFile =>
  (isBlob(value) || isFileHandle(value)) && has(value, "name");

const sourceOfBlob = (blob: BlobLike): ByteSource => ({
  size: blob.size,
  read: async (start, end) => new Uint8Array(await blob.slice(start, end).arrayBuffer()),
});

/** The path in an address of Node's file system; undefined for an address of the network. */
function pathOf(address: string): string | undefined {
  if (!isNode) return undefined;
  if (/^file:/i.test(address)) {
    try {
      return builtin("node:url").fileURLToPath(address);
    } catch {
      throw refuse("option", "files", "a file: URL of this computer", describe(address));
    }
  }
  return hasScheme(address) ? undefined : address;
}

/** Opens the file at a path for each read, so that there is nothing to close. */
async function sourceOfPath(path: string): Promise<ByteSource | undefined> {
  const { open, stat } = builtin("node:fs").promises;
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return undefined;
  return {
    size: found.size,
    async read(start, end) {
      const bytes = new Uint8Array(end - start);
      if (bytes.length === 0) return bytes;
      const file = await open(path);
      try {
        const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
        return bytes.subarray(0, bytesRead);
      } finally {
        await file.close();
      }
    },
  };
}

/** Opens a file of the file system or of the network. The browser may be asked to keep a file of the network. */
function openAddress(
  address: string,
  keep: boolean,
  signal?: AbortSignal,
): Promise<OpenSource | undefined> {
  const path = pathOf(address);
  if (path !== undefined) return sourceOfPath(path);
  return keep ? openKept(address, signal) : FetchedFile.open(address, signal);
}

async function openFile(
  name: string,
  file: FileSource,
  keep: boolean,
  signal?: AbortSignal,
): Promise<OpenSource> {
  if (file instanceof Uint8Array) return sourceOfBytes(file);
  if (file instanceof ArrayBuffer) return sourceOfBytes(new Uint8Array(file));
  if (isAddress(file)) {
    const opened = await openAddress(`${file}`, keep, signal);
    if (opened === undefined) throw refuse("load", name, `a file at ${file}`, "none there");
    return opened;
  }
  if (isBlob(file)) return sourceOfBlob(file);
  if (isFileHandle(file)) return sourceOfBlob(await file.getFile());
  return file;
}

/**
 * The folder of a list of files. If two files have the same name, the file in fewer folders is
 * used. A file one folder deeper than the others has this folder in its name, too.
 */
function folderOfList(files: readonly NamedFile[]): Folder {
  const pathOf = ({ webkitRelativePath = "" }: NamedFile) => webkitRelativePath.split("/");
  const depth = (file: NamedFile) => pathOf(file).length;
  const sorted = [...files].sort((a, b) => depth(b) - depth(a));
  const least = Math.min(...files.map(depth));
  const inner = files.filter((file) => depth(file) === least + 1);
  return folderOfRecord(
    Object.fromEntries([
      ...sorted.map((file) => [file.name, file]),
      ...inner.map((file) => [pathOf(file).slice(-2).join("/"), file]),
    ]),
    false,
  );
}

function folderOfRecord(files: Readonly<Record<string, FileSource>>, keep: boolean): Folder {
  return withWeights({
    names: Object.keys(files),
    open: async (name, signal) =>
      Object.hasOwn(files, name)
        ? openFile(name, files[name] as FileSource, keep, signal)
        : undefined,
  });
}

async function folderOfHandle(handle: FolderHandleLike): Promise<Folder> {
  const names: string[] = [];
  for await (const name of handle.keys?.() ?? []) names.push(name);
  return withWeights({
    names,
    async open(name) {
      const [first = "", second] = name.split("/");
      if (!names.includes(first)) return undefined;
      if (second === undefined) return openFile(name, await handle.getFileHandle(name), false);
      const inner = await handle.getDirectoryHandle?.(first);
      const file = await inner?.getFileHandle(second).catch(() => undefined);
      return file && openFile(name, file, false);
    },
  });
}

/** The weights of a model in one file. */
export const weightsName = "model.safetensors";

/**
 * A folder whose weights may have another name: the given name, or the name of its only safetensors
 * file. Weights in several files have an index, which names them.
 */
function withWeights({ names, open }: Folder, given?: string): Folder {
  const found = names?.filter((name) => /^[^/]+\.safetensors$/.test(name)) ?? [];
  const weights = given ?? (found.length === 1 ? found[0] : undefined);
  if (weights === undefined || /-\d+-of-\d+\.safetensors$/.test(weights)) return { names, open };
  return { names, open: (name, signal) => open(name === weightsName ? weights : name, signal) };
}

const isWeights = (name: string) => /\.safetensors$/i.test(name);
const isGguf = (name: string) => /\.gguf$/i.test(name);

/** Shows the only GGUF file of a folder without config.json, or the given one, as a folder. */
async function withGguf(folder: Folder, given?: string, signal?: AbortSignal): Promise<Folder> {
  const { names = [] } = folder;
  const found = names.includes("config.json") ? [] : names.filter(isGguf);
  const name = given ?? (found.length === 1 ? found[0] : undefined);
  if (name === undefined) return folder;
  const file = await folder.open(name, signal);
  if (file === undefined) throw missing(folder, name);
  const { ggufFolder } = await import("./gguf/folder.js");
  return ggufFolder(file, name, signal);
}

/** The address of a folder, or of one of its files. */
async function folderOfAddress(
  address: string,
  keep: boolean,
  signal?: AbortSignal,
): Promise<Folder> {
  const [, parent, file] =
    /^([^?#]*\/)?([^/?#]+\.(?:safetensors|json|gguf))(?:[?#].*)?$/i.exec(address) ?? [];
  const folder = folderAddress(file === undefined ? address : (parent ?? "."));
  const open: Folder["open"] = (name, signal) => openAddress(`${folder}/${name}`, keep, signal);
  if (file && isGguf(file)) return withGguf({ names: undefined, open }, file, signal);
  return withWeights({ names: undefined, open }, file && isWeights(file) ? file : undefined);
}

async function folderOfPath(path: string): Promise<Folder> {
  const { readdir, stat } = builtin("node:fs").promises;
  const { basename, dirname, join } = builtin("node:path");
  const found = await stat(path).catch((cause: Error) => {
    const hub = /^[\w.-]+\/[\w.-]+$/.test(path)
      ? `; on the hub it is https://huggingface.co/${path}`
      : "";
    const expected = `a folder or a file of a model at "${path}"`;
    throw refuse("load", "files", expected, `none there${hub}`, { cause });
  });
  const isFolder = found.isDirectory();
  if (!isFolder && !/\.(safetensors|json|gguf)$/i.test(path))
    throw refuse("load", "files", "a folder, or a file of safetensors or GGUF", describe(path));
  const folder = isFolder ? path : dirname(path);
  const names = await readdir(folder);
  const open: Folder["open"] = async (name) =>
    names.includes(name.split("/")[0] as string) ? sourceOfPath(join(folder, name)) : undefined;
  const given = isFolder ? undefined : basename(path);
  if (given && isGguf(given)) return withGguf({ names, open }, given);
  return withWeights({ names, open }, given && isWeights(given) ? given : undefined);
}

/** Whether a file begins with the mark of GGUF. */
async function isMarked(file: ByteSource, signal?: AbortSignal): Promise<boolean> {
  const [g, second, u, f] = await file.read(0, Math.min(4, file.size), signal);
  return String.fromCharCode(g ?? 0, second ?? 0, u ?? 0, f ?? 0) === "GGUF";
}

/**
 * @param keep whether the browser is asked to keep files of the network
 * @param single the name of a file that may be given alone, if the weights are not needed
 * @throws HeedError "option" for a value that is not a source of a model
 */
export async function openFolder(
  source: ModelSource,
  keep = false,
  single?: string,
  signal?: AbortSignal,
): Promise<Folder> {
  const folder = await withGguf(await openSource(source, keep, single, signal), undefined, signal);
  // Without the weights, all that was shown of a GGUF file is in memory.
  if (single !== undefined) folder.close?.();
  return folder;
}

async function openSource(
  source: ModelSource,
  keep: boolean,
  single: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Folder> {
  if (isAddress(source)) {
    const path = pathOf(`${source}`);
    return path === undefined ? folderOfAddress(`${source}`, keep, signal) : folderOfPath(path);
  }
  if (isFolderHandle(source)) return folderOfHandle(source);
  if (isFile(source)) {
    const file = source as FileSource;
    if (await isMarked(await openFile("file", file, keep, signal), signal))
      return folderOfRecord({ "model.gguf": file }, keep);
    if (single !== undefined) return folderOfRecord({ [single]: source as FileSource }, keep);
    const expected = `a GGUF file, or config.json and ${weightsName} together, in a folder, a list of files or an object of files`;
    throw refuse("option", "files", expected, `${describe(source)} alone`);
  }
  const isList = isObject(source) && Symbol.iterator in source;
  const files: unknown[] = isList ? [...(source as Iterable<unknown>)] : [];
  if (isList && files.every(isNamedFile)) return folderOfList(files);
  if (!isList && isObject(source) && Object.values(source).every(isFile))
    return folderOfRecord(source as Record<string, FileSource>, keep);
  const expected = "an address, a folder, a list of files, or files by name";
  throw refuse("option", "files", expected, describe(source));
}

/** The largest file of text that is read. */
const mostText = 2 ** 26;

/** Reads a file in JSON; undefined if it does not exist. */
export async function findJson(
  folder: Folder,
  name: string,
  signal?: AbortSignal,
): Promise<Record<string, unknown> | undefined> {
  const file = await folder.open(name, signal);
  return file && parseJson(await readText(file, name, signal), name);
}

/**
 * Reads a file in JSON.
 *
 * @throws HeedError "load" if it does not exist, "format" if it is not an object in JSON
 */
export async function readJson(
  folder: Folder,
  name: string,
  signal?: AbortSignal,
): Promise<Record<string, unknown>> {
  const found = await findJson(folder, name, signal);
  if (found === undefined) throw missing(folder, name);
  return found;
}

/** Reads a file of text that is open. */
export async function readText(
  file: ByteSource,
  name: string,
  signal?: AbortSignal,
): Promise<string> {
  if (file.size > mostText)
    throw refuse("format", name, `at most ${mostText} bytes`, `${file.size}`);
  return new TextDecoder().decode(await file.read(0, file.size, signal));
}

/** The error for a file that does not exist. */
export function missing({ names }: Folder, name: string): HeedError {
  const got = names === undefined ? "none there" : names.length === 0 ? "no file" : undefined;
  const listed = names && names.length > 20 ? `${names.length} other files` : names?.join(", ");
  return refuse("load", "files", name, `${got ?? listed}`);
}
