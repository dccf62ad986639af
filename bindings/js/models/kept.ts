// Files of the network that the browser keeps. They are stored in parts as they arrive, so that a
// page that is closed loses at most one part.

import { describe, HeedError, refuse } from "../core/error.js";
import type { Bytes } from "../core/module.js";
import { FetchedFile, folderAddress, type OpenSource } from "./fetched.js";
import {
  bytesOf,
  isStored,
  largestFile,
  newRecord,
  partCount,
  partLength,
  partName,
  partSize,
  putRecord,
  readRecord,
  recordName,
  records,
  remove,
  type Stored,
  storedPart,
  storedParts,
} from "./keptRecords.js";
import { type BlobStore, isFull, openStore } from "./storage.js";

/** A file that the browser keeps. */
export interface KeptFile {
  /** The address from which it was loaded. */
  readonly address: string;
  /** The number of bytes that are stored. */
  readonly bytes: number;
  /** The size of the whole file, in bytes. */
  readonly size: number;
  /** Whether the whole file is stored. */
  readonly isComplete: boolean;
  /** The time at which its download began. */
  readonly date: Date;
}

/** The absolute address of a file of the network, without a fragment; undefined for any other address. */
function absolute(address: string): string | undefined {
  try {
    const url = new URL(address, globalThis.document?.baseURI ?? globalThis.location?.href);
    url.hash = "";
    return /^https?:$/.test(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** A frozen page keeps its locks. Others wait at most this long for a lock, in milliseconds. */
const patience = 20_000;

/** The reason of a rejection by `locked`: another page or worker did not release the lock in time. */
const busy = new Error("another page has the lock");

/**
 * Runs a function while no other page or worker changes the stored data of an address.
 *
 * @throws `busy`, or the signal's reason, before the function runs
 */
async function locked<T>(
  address: string,
  signal: AbortSignal | undefined,
  run: () => Promise<T>,
): Promise<T> {
  const locks = globalThis.navigator?.locks;
  if (!locks) return run();
  signal?.throwIfAborted();
  const waiting = new AbortController();
  const stop = () => waiting.abort(signal?.reason);
  const timer = setTimeout(() => waiting.abort(busy), patience);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    return await locks.request(`heed: ${address}`, { signal: waiting.signal }, () => {
      clearTimeout(timer);
      return run();
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

/** Does the same as `locked`, but returns undefined instead of throwing `busy`. */
async function lockedInTime<T>(...given: Parameters<typeof locked<T>>): Promise<T | undefined> {
  return locked(...given).catch((error: unknown) => {
    if (error !== busy) throw error;
    return undefined;
  });
}

/** The error for a storage without room for the rest of a file. */
function full(address: string, needed: number, free: number | undefined): HeedError {
  const got = free === undefined ? "less" : `${free}`;
  const expected = `${needed} bytes of free storage to keep the file`;
  return refuse("storage", address, expected, got);
}

async function freeBytes(): Promise<number | undefined> {
  const estimate = await navigator.storage?.estimate?.().catch(() => undefined);
  if (estimate?.quota === undefined) return undefined;
  return Math.max(0, estimate.quota - (estimate.usage ?? 0));
}

/**
 * Whether a stored version and a response have the same bytes. Only strong ETags guarantee it, not
 * weak ones (RFC 9110, section 8.8.1).
 */
const isSameFile = (version: Stored, { size, tag }: FetchedFile) =>
  version.size === size && version.tag === tag && tag !== null && !tag.startsWith("W/");

/**
 * Records the server's version of the file, unless this version is stored already, and returns it;
 * undefined if the storage fails. The caller holds the lock of the address.
 */
async function begin(
  store: BlobStore,
  name: string,
  fetched: FetchedFile,
): Promise<Stored | undefined> {
  const { url: address, size, tag } = fetched;
  const known = await readRecord(store, name);
  const isSame = isStored(known) && isSameFile(known, fetched);
  if (size > largestFile) return undefined;
  const version = isSame ? known : { ...newRecord(address), size, tag };
  const needed = size - (isSame ? bytesOf(known, await storedParts(store, known)) : 0);
  const free = await freeBytes();
  if (free !== undefined && free < needed) throw full(address, needed, free);
  try {
    if (known && !isSame) await remove(store, name);
    if (!isSame) await putRecord(store, name, version);
  } catch (error) {
    if (!isFull(error)) return undefined;
    throw full(address, needed, free);
  }
  return version;
}

/** A file of the network that is stored while it is read. Bytes that are stored are not requested again. */
class StoredFile implements OpenSource {
  readonly #store: BlobStore;
  readonly #record: string;
  readonly #version: Stored;
  #fetched: FetchedFile | undefined;
  #last: { part: number; blob: Blob } | undefined;
  /**
   * Whether the file is kept. It becomes false after another page deleted the file, started to keep
   * another version, or held the lock for too long. This page then reads the file without storing
   * it.
   */
  kept = true;

  constructor(store: BlobStore, record: string, version: Stored, fetched?: FetchedFile) {
    this.#store = store;
    this.#record = record;
    this.#version = version;
    this.#fetched = fetched;
  }

  get size(): number {
    return this.#version.size;
  }

  async read(start: number, end: number, signal?: AbortSignal): Promise<Uint8Array> {
    const found = new Uint8Array(end - start);
    for (let at = start; at < end; ) {
      const part = Math.floor(at / partSize);
      const first = part * partSize;
      const to = Math.min(end, first + partSize);
      found.set(await this.#read(part, at - first, to - first, signal), at - start);
      at = to;
    }
    return found;
  }

  async keepRest(signal?: AbortSignal): Promise<void> {
    for (let part = 0; this.kept && part < partCount(this.#version); ++part)
      await this.#blob(part, signal);
  }

  close(): void {
    this.#fetched?.close();
    this.#last = undefined;
  }

  /** Reads bytes of one part. */
  async #read(part: number, from: number, to: number, signal?: AbortSignal): Promise<Uint8Array> {
    const blob = await this.#blob(part, signal);
    try {
      if (blob) return new Uint8Array(await blob.slice(from, to).arrayBuffer());
    } catch {
      // Another page deleted the file a moment ago.
      this.kept = false;
    }
    const first = part * partSize;
    return this.#fetch(first + from, first + to, signal);
  }

  /** Returns a part, and stores it first if necessary; undefined if the file is not kept. */
  async #blob(part: number, signal?: AbortSignal): Promise<Blob | undefined> {
    signal?.throwIfAborted();
    if (!this.kept) return undefined;
    if (this.#last?.part === part) return this.#last.blob;
    const version = this.#version;
    const stored = () => storedPart(this.#store, version, part);
    const blob =
      (await stored()) ??
      (await lockedInTime(
        version.address,
        signal,
        async () => (await stored()) ?? this.#add(part, signal),
      ));
    this.kept = blob !== undefined;
    this.#last = blob && { part, blob };
    return blob;
  }

  /** Downloads and stores a part. The caller holds the lock of the address. */
  async #add(part: number, signal?: AbortSignal): Promise<Blob | undefined> {
    const version = this.#version;
    if ((await readRecord(this.#store, this.#record))?.id !== version.id) return undefined;
    const first = part * partSize;
    const bytes = await this.#fetch(first, first + partLength(version, part), signal);
    try {
      await this.#store.put(partName(version, part), bytes);
    } catch (error) {
      if (!isFull(error)) return undefined;
      const needed = version.size - bytesOf(version, await storedParts(this.#store, version));
      throw full(version.address, needed, await freeBytes());
    }
    return storedPart(this.#store, version, part);
  }

  async #fetch(start: number, end: number, signal?: AbortSignal): Promise<Bytes> {
    const { address, size, tag } = this.#version;
    this.#fetched ??= await FetchedFile.open(address, signal, { start, isKept: true });
    if (this.#fetched === undefined) throw refuse("load", address, "the file", "status 404");
    if (this.#fetched.size !== size || this.#fetched.tag !== tag)
      throw new HeedError("format", `${address}: the file changed while it was read`);
    return this.#fetched.read(start, end, signal);
  }
}

/**
 * Opens a file of the network and keeps it, if this page or worker can. A complete file is not
 * requested. An incomplete file is continued if the server still has the same version, which a
 * strong ETag shows (RFC 9110, section 8.8.3). Otherwise its download starts again.
 *
 * @returns undefined if the server has no such file
 * @throws HeedError "load"; "storage" if the storage has no room; or the signal's reason
 */
export async function openKept(url: string, signal?: AbortSignal): Promise<OpenSource | undefined> {
  const address = absolute(url);
  const store = address === undefined ? undefined : await openStore();
  if (address === undefined || store === undefined) return FetchedFile.open(url, signal);
  const name = await recordName(address);
  const known = await readRecord(store, name);
  const parts = isStored(known) ? await storedParts(store, known) : [];
  const first = parts.indexOf(false);
  if (isStored(known) && first < 0) return new StoredFile(store, name, known);
  let fetched: FetchedFile | undefined;
  try {
    const start = Math.max(0, first) * partSize;
    fetched = await FetchedFile.open(address, signal, { start, isKept: true });
  } catch (error) {
    signal?.throwIfAborted();
    // Without a network, the last answer of the server is used: most models lack some of the files that are requested.
    if (known && !isStored(known)) return undefined;
    throw error;
  }
  try {
    const opened = await lockedInTime(address, signal, async () => {
      if (fetched) {
        const version = await begin(store, name, fetched);
        return version ? new StoredFile(store, name, version, fetched) : fetched;
      }
      // Without this record, only the use without a network is lost.
      await remove(store, name)
        .then(() => putRecord(store, name, newRecord(address)))
        .catch(() => {});
      return undefined;
    });
    return opened ?? fetched;
  } catch (error) {
    fetched?.close();
    throw error;
  }
}

/**
 * Lists the files of the network that the browser keeps for this origin because of the option
 * `keep` of `loadModel` and `loadTokenizer`. The list is empty without a storage, as in Node.
 *
 * @example
 * ```ts
 * const files = await listKept();
 * // in Node nothing is kept
 * console.log(files.map(({ address, bytes, size }) => `${address}: ${bytes} of ${size} bytes`)); // prints: []
 * ```
 */
export async function listKept(): Promise<KeptFile[]> {
  const store = await openStore();
  if (store === undefined) return [];
  const files: KeptFile[] = [];
  for (const [, version] of await records(store)) {
    if (!isStored(version)) continue;
    const { address, size, date } = version;
    const bytes = bytesOf(version, await storedParts(store, version));
    files.push({ address, bytes, size, isComplete: bytes === size, date: new Date(date) });
  }
  return files.sort((a, b) => (a.address < b.address ? -1 : 1));
}

/**
 * Deletes a file that the browser keeps, or all files below the address of a folder, such as a
 * model's folder. Waits at most 20 seconds while another page stores a part of one of them.
 *
 * @returns the number of files that were deleted
 * @throws HeedError "storage" if another page still stores one of them
 * @example
 * ```ts
 * // in Node nothing is kept
 * console.log(await deleteKept("https://huggingface.co/openai-community/gpt2/")); // prints: 0
 * ```
 */
export async function deleteKept(address: string | URL): Promise<number> {
  const isAddress = typeof address === "string" || address instanceof URL;
  const file = isAddress ? absolute(`${address}`) : undefined;
  const store = await openStore();
  if (!isAddress || (store && file === undefined))
    throw refuse("option", "address", "an address", describe(address));
  if (store === undefined || file === undefined) return 0;
  const folder = `${folderAddress(file)}/`;
  let deleted = 0;
  for (const [name, version] of await records(store)) {
    if (version.address !== file && !version.address.startsWith(folder)) continue;
    const { address } = version;
    await locked(address, undefined, () => remove(store, name)).catch((error: unknown) => {
      if (error !== busy) throw error;
      throw refuse("storage", address, "a file that no page loads", "one");
    });
    if (isStored(version)) ++deleted;
  }
  return deleted;
}
