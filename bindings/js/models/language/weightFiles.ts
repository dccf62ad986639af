// The safetensors files of a model, one or several with an index, and the places of their tensors.

import { describe, refuse } from "../../core/error.js";
import { isRecord, within } from "../../core/objects.js";
import { headerLength, lengthBytes, type Place, readHeader } from "../../core/safetensorsHeader.js";
import type { OpenSource } from "../fetched.js";
import { type Folder, findJson, missing, weightsName } from "../sources.js";

const indexName = "model.safetensors.index.json";

/** The position of a tensor in one of the files. */
export interface FoundTensor extends Place {
  readonly file: OpenFile;
}

interface OpenFile {
  readonly name: string;
  readonly source: OpenSource;
  /** The first byte after the header. */
  readonly dataStart: number;
}

/** Returns the file of each tensor by the index of a model in several files. */
function readIndex(index: Record<string, unknown>): string[] {
  const map = index.weight_map;
  if (!isRecord(map))
    throw refuse("format", indexName, "a weight_map with the file of each tensor", describe(map));
  const files = new Set<string>();
  for (const [tensor, file] of Object.entries(map)) {
    if (typeof file !== "string" || !/^[^/\\]+\.safetensors$/.test(file)) {
      const expected = "the name of a safetensors file";
      throw refuse("format", `${indexName}: ${tensor}`, expected, describe(file));
    }
    files.add(file);
  }
  return [...files];
}

/** Opens the files of the weights: one file, or all files that an index names. */
export async function weightFiles(
  folder: Folder,
  signal?: AbortSignal,
): Promise<[string, OpenSource][]> {
  const single = await folder.open(weightsName, signal);
  if (single !== undefined) return [[weightsName, single]];
  const index = await findJson(folder, indexName, signal);
  if (index === undefined) throw missing(folder, `${weightsName} or ${indexName}`);
  const names = readIndex(index);
  const files: [string, OpenSource][] = [];
  for (const name of names) {
    const source = await folder.open(name, signal);
    if (source === undefined) throw missing(folder, name);
    files.push([name, source]);
    source.close?.();
  }
  return files;
}

/** Reads the headers of all files. */
export async function readPlaces(
  files: readonly [string, OpenSource][],
  signal?: AbortSignal,
): Promise<Map<string, FoundTensor>> {
  const found = new Map<string, FoundTensor>();
  for (const [name, source] of files) {
    const first = await source.read(0, Math.min(lengthBytes, source.size), signal);
    if (new TextDecoder().decode(first) === "version ")
      throw refuse("format", name, "a file of safetensors", "its pointer in Git LFS");
    const dataStart = lengthBytes + within(name, () => headerLength(first, source.size));
    const encoded = await source.read(lengthBytes, dataStart, signal);
    const { places } = within(name, () => readHeader(encoded, source.size - dataStart));
    const file = { name, source, dataStart };
    for (const [tensor, place] of places) {
      const other = found.get(tensor);
      if (other !== undefined)
        throw refuse("format", tensor, "to be in one file", `${other.file.name} and ${name}`);
      found.set(tensor, { ...place, file });
    }
    if (files.length > 1) source.close?.();
  }
  return found;
}
