// The stored data of a file of the network: a JSON record that describes the server's version, and
// the bytes of that version in parts of 4 MiB.

import { isRecord } from "../core/validate.js";
import type { BlobStore } from "./storage.js";

export const partSize = 2 ** 22;

/** The known state of an address: a version of the file, or the fact that the server had none. */
export interface Version {
  readonly address: string;
  /** The size in bytes; undefined if the server had no such file. */
  readonly size?: number;
  readonly tag: string | null;
  /** The beginning of the names of its parts. */
  readonly id: string;
  /** The beginning of the download, in milliseconds since 1970. */
  readonly date: number;
}

export type Stored = Version & { readonly size: number };

const recordEnding = ".json";

/** The name of a record. It is a hash, because an address may be too long for a file name. */
export async function recordName(address: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(address));
  const digits = Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0"));
  return digits.join("") + recordEnding;
}

/** Reads a record. Other programs of the origin can write there, so it is checked. */
export async function readRecord(store: BlobStore, name: string): Promise<Version | undefined> {
  let given: unknown;
  try {
    const text = await (await store.get(name))?.text();
    given = JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
  if (!isRecord(given)) return undefined;
  const { address, size, tag, id, date } = given;
  const isVersion =
    typeof address === "string" &&
    (size === undefined ||
      (Number.isSafeInteger(size) && (size as number) >= 0 && (size as number) <= largestFile)) &&
    (tag === null || typeof tag === "string") &&
    typeof id === "string" &&
    /^[\da-f-]{36}$/.test(id) &&
    Number.isFinite(date);
  return isVersion ? (given as unknown as Version) : undefined;
}

/** The largest file in bytes. A server may declare any size, but the list of parts must fit into the memory. */
export const largestFile = 2 ** 40;

export const isStored = (version: Version | undefined): version is Stored =>
  version?.size !== undefined;

export const partCount = ({ size }: Stored) => Math.ceil(size / partSize);
export const partLength = ({ size }: Stored, part: number) =>
  Math.min(partSize, size - part * partSize);
export const partName = ({ id }: Version, part: number) => `${id}.${part}`;

/** Returns a part if all of its bytes are stored. */
export async function storedPart(
  store: BlobStore,
  version: Stored,
  part: number,
): Promise<Blob | undefined> {
  const blob = await store.get(partName(version, part));
  return blob?.size === partLength(version, part) ? blob : undefined;
}

const numbersOfParts = (version: Stored) => Array.from({ length: partCount(version) }, (_, i) => i);

/** Which parts of a file are stored. */
export async function storedParts(store: BlobStore, version: Stored): Promise<boolean[]> {
  const parts = numbersOfParts(version).map((part) => storedPart(store, version, part));
  return (await Promise.all(parts)).map((blob) => blob !== undefined);
}

export const bytesOf = (version: Stored, stored: readonly boolean[]) =>
  stored.reduce((sum, isThere, part) => sum + (isThere ? partLength(version, part) : 0), 0);

/** Deletes the parts of a record, and then the record: without the record, the parts could not be found. */
export async function remove(store: BlobStore, name: string): Promise<void> {
  const version = await readRecord(store, name);
  const parts = isStored(version) ? numbersOfParts(version) : [];
  await Promise.all(parts.map((part) => store.delete(partName(version as Stored, part))));
  await store.delete(name);
}

/** The record of an address whose server has no such file. */
export const newRecord = (address: string): Version => ({
  address,
  tag: null,
  id: crypto.randomUUID(),
  date: Date.now(),
});

export const putRecord = (store: BlobStore, name: string, version: Version) =>
  store.put(name, new TextEncoder().encode(JSON.stringify(version)));

/** The stored records, with their names. */
export async function records(store: BlobStore): Promise<[string, Version][]> {
  const found: [string, Version][] = [];
  for (const name of await store.names()) {
    const version = name.endsWith(recordEnding) ? await readRecord(store, name) : undefined;
    if (version) found.push([name, version]);
  }
  return found;
}
