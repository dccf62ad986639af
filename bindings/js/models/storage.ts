// The storage of a browser for the files of an origin: the origin private file system (File System
// Standard, WHATWG), or otherwise Cache Storage (Service Workers, W3C). Both need a secure context.

import type { Bytes } from "../core/module.js";

/** Blobs by name. Names consist of letters, digits, "-" and ".". */
export interface BlobStore {
  names(): Promise<string[]>;
  /** Returns undefined if the blob does not exist or cannot be read. */
  get(name: string): Promise<Blob | undefined>;
  /** Stores bytes under a name: all of them or, if it fails, none. */
  put(name: string, bytes: Bytes): Promise<void>;
  delete(name: string): Promise<void>;
}

const nameOf = (error: unknown) => (error instanceof Error ? error.name : undefined);

/** Whether a storage refused to store because it is full. */
export const isFull = (error: unknown): boolean => nameOf(error) === "QuotaExceededError";

const nothing = () => undefined;

async function fileSystem(): Promise<BlobStore | undefined> {
  // Safari before 26 can write such files only in workers, with createSyncAccessHandle. Safari has
  // Cache Storage, which takes about as long. For 64 MiB in Chromium 156, Cache Storage takes 1.4
  // s, createWritable 1.9 s, and createSyncAccessHandle 1.3 to 2.2 s.
  if (!("createWritable" in FileSystemFileHandle.prototype)) return undefined;
  const root = await navigator.storage.getDirectory();
  const folder = await root.getDirectoryHandle("heed", { create: true });
  // Some versions of the DOM's types lack `keys`.
  const listed = folder as unknown as { keys(): AsyncIterable<string> };
  const get = async (name: string) => {
    const handle = await folder.getFileHandle(name).catch(nothing);
    const file = await handle?.getFile().catch(nothing);
    // A file is empty until its first bytes are complete.
    return file?.size === 0 ? undefined : file;
  };
  const remove = async (name: string) => {
    await folder.removeEntry(name).catch((error: unknown) => {
      if (nameOf(error) !== "NotFoundError") throw error;
    });
  };
  return {
    names: async () => {
      const names: string[] = [];
      for await (const name of listed.keys()) names.push(name);
      return names;
    },
    get,
    put: async (name, bytes) => {
      const handle = await folder.getFileHandle(name, { create: true });
      const writable = await handle.createWritable();
      try {
        await writable.write(bytes);
        await writable.close();
      } catch (error) {
        await writable.abort().catch(nothing);
        if ((await get(name)) === undefined) await remove(name).catch(nothing);
        throw error;
      }
    },
    delete: remove,
  };
}

/** The prefix of the stored addresses. No request is ever sent to it. */
const cacheAddress = "https://heed.invalid/";

async function cacheStorage(): Promise<BlobStore | undefined> {
  const cache = await caches.open("heed files");
  // Deno before 2.9 could not list the stored files, and two loads would not wait for each other.
  if (!("keys" in cache) || !navigator.locks) return undefined;
  return {
    names: async () => (await cache.keys()).map(({ url }) => url.slice(cacheAddress.length)),
    get: async (name) => {
      const response = await cache.match(cacheAddress + name).catch(nothing);
      return response?.blob().catch(nothing);
    },
    put: (name, bytes) => cache.put(cacheAddress + name, new Response(bytes)),
    delete: async (name) => {
      await cache.delete(cacheAddress + name);
    },
  };
}

/** Returns the storage of this page or worker; undefined if there is none, as in Node, or if its use is not allowed. */
export async function openStore(): Promise<BlobStore | undefined> {
  for (const open of [fileSystem, cacheStorage]) {
    try {
      const store = await open();
      if (store !== undefined) return store;
    } catch {
      // The storage fails without a secure context or permission, and in private windows of some browsers.
    }
  }
  return undefined;
}
