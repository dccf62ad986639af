// Where the bytes of a model's files come from: memory, files of the user, or another place that can read
// ranges of bytes. fetched.ts has those of the network.

import { describe, HeedError, refuse } from "../core/error.js";
import { isObject, isRecord } from "../core/validate.js";
import { type ByteSource, FetchedFile, folderAddress, type OpenSource } from "./fetched.js";
import { openKept } from "./kept.js";

/** What a Blob and a File have of use here. */
export interface BlobLike {
  readonly size: number;
  slice(start: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

/** What a FileSystemFileHandle has of use here. */
export interface FileHandleLike {
  getFile(): Promise<BlobLike>;
}

/** What a FileSystemDirectoryHandle has of use here. */
export interface FolderHandleLike {
  /** Not every version of the DOM's types has it. */
  keys?(): AsyncIterable<string>;
  getFileHandle(name: string): Promise<FileHandleLike>;
}

/** A file: its bytes, a Blob or File, a handle of one, an address, or a reader of ranges. */
export type FileSource = Uint8Array | BlobLike | FileHandleLike | ByteSource | string | URL;

/** A File of a folder or of a list that the user chose. */
export type NamedFile = BlobLike & { readonly name: string; readonly webkitRelativePath?: string };

/**
 * The files of a model: the address of their folder, such as "https://huggingface.co/gpt2"; a folder that
 * the user opened; a list of files; or files by name, such as { "config.json": file, ... }.
 */
export type ModelSource =
  | string
  | URL
  | FolderHandleLike
  | Iterable<NamedFile>
  | Readonly<Record<string, FileSource>>;

/** The files of a model, opened by their names. */
export interface Folder {
  /** The names of all files; undefined if they are not known, as on a server. */
  readonly names: readonly string[] | undefined;
  /** Opens a file; undefined if it does not exist. */
  open(name: string, signal?: AbortSignal): Promise<OpenSource | undefined>;
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
  [isAddress, isBlob, isFileHandle, isReader].some((fits) => fits(value));

const sourceOfBytes = (bytes: Uint8Array): ByteSource => ({
  size: bytes.length,
  read: async (start, end) => bytes.subarray(start, end),
});

const sourceOfBlob = (blob: BlobLike): ByteSource => ({
  size: blob.size,
  read: async (start, end) => new Uint8Array(await blob.slice(start, end).arrayBuffer()),
});

/** Opens a file of the network, which the browser may be asked to keep. */
const openAddress = (address: string, keep: boolean, signal?: AbortSignal) =>
  keep ? openKept(address, signal) : FetchedFile.open(address, signal);

async function openFile(
  file: FileSource,
  keep: boolean,
  signal?: AbortSignal,
): Promise<OpenSource | undefined> {
  if (file instanceof Uint8Array) return sourceOfBytes(file);
  if (isAddress(file)) return await openAddress(`${file}`, keep, signal);
  if (isBlob(file)) return sourceOfBlob(file);
  if (isFileHandle(file)) return sourceOfBlob(await file.getFile());
  return file as ByteSource;
}

/** The folder of a list of files. Of two files with one name, the one in fewer folders counts. */
function folderOfList(files: readonly NamedFile[]): Folder {
  const depth = ({ webkitRelativePath = "" }: NamedFile) => webkitRelativePath.split("/").length;
  const sorted = [...files].sort((a, b) => depth(b) - depth(a));
  return folderOfRecord(Object.fromEntries(sorted.map((file) => [file.name, file])), false);
}

function folderOfRecord(files: Readonly<Record<string, FileSource>>, keep: boolean): Folder {
  return {
    names: Object.keys(files),
    open: async (name, signal) =>
      Object.hasOwn(files, name) ? openFile(files[name] as FileSource, keep, signal) : undefined,
  };
}

async function folderOfHandle(handle: FolderHandleLike): Promise<Folder> {
  const names: string[] = [];
  for await (const name of handle.keys?.() ?? []) names.push(name);
  return {
    names,
    open: async (name) =>
      names.includes(name) ? openFile(await handle.getFileHandle(name), false) : undefined,
  };
}

function folderOfAddress(address: string, keep: boolean): Folder {
  const folder = folderAddress(address);
  return {
    names: undefined,
    open: (name, signal) => openAddress(`${folder}/${name}`, keep, signal),
  };
}

/**
 * @param keep whether the browser is asked to keep files of the network
 * @throws HeedError "option" for a value that is no source of a model
 */
export async function openFolder(source: ModelSource, keep = false): Promise<Folder> {
  if (isAddress(source)) return folderOfAddress(`${source}`, keep);
  if (isFolderHandle(source)) return folderOfHandle(source);
  const isList = isObject(source) && Symbol.iterator in source;
  const files: unknown[] = isList ? [...(source as Iterable<unknown>)] : [];
  if (isList && files.every((file) => isBlob(file) && has(file, "name")))
    return folderOfList(files as NamedFile[]);
  if (!isList && isObject(source) && Object.values(source).every(isFile))
    return folderOfRecord(source as Record<string, FileSource>, keep);
  const expected = "an address, a folder, a list of files, or files by name";
  throw refuse("option", "files", expected, describe(source));
}

/** The largest file of text that is read. */
const mostText = 2 ** 26;

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
  const file = await folder.open(name, signal);
  if (file === undefined) throw missing(folder, name);
  return parseJson(file, name, signal);
}

/** The same of a file that is open. */
export async function parseJson(
  file: ByteSource,
  name: string,
  signal?: AbortSignal,
): Promise<Record<string, unknown>> {
  if (file.size > mostText)
    throw new HeedError("format", `${name}: expected at most ${mostText} bytes, got ${file.size}`);
  const bytes = await file.read(0, file.size, signal);
  let given: unknown;
  try {
    given = JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    const got = error instanceof Error ? error.message : "none";
    throw new HeedError("format", `${name}: expected JSON, got ${got}`);
  }
  if (isRecord(given)) return given;
  throw new HeedError("format", `${name}: expected an object, got ${describe(given)}`);
}

/** The error for a file that does not exist. */
export function missing({ names }: Folder, name: string): HeedError {
  const got = names === undefined ? "none there" : names.length === 0 ? "no file" : undefined;
  const listed = names && names.length > 20 ? `${names.length} other files` : names?.join(", ");
  return new HeedError("load", `files: expected ${name}, got ${got ?? listed}`);
}
