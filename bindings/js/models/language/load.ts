// Loads language models from the files of Hugging Face's hub: config.json and safetensors, which are read
// tensor by tensor, so that no file is in memory as a whole.

import { describe, HeedError, refuse } from "../../core/error.js";
import { pause } from "../../core/pause.js";
import type { Tensor } from "../../core/tensor.js";
import { mostBytes } from "../../core/validate.js";
import type { Heed } from "../../heed.js";
import { headerLength, lengthBytes, type Place, readHeader } from "../../nn/safetensorsHeader.js";
import type { OpenSource } from "../fetched.js";
import { type Folder, missing, parseJson } from "../sources.js";
import { CausalLanguageModel } from "./causalModel.js";
import { type ExpectedTensor, expectedTensors, nameIn } from "./checkpoint.js";
import { type CausalConfig, type MaskedConfig, readConfig } from "./config.js";
import { MaskedLanguageModel } from "./maskedModel.js";
import { type OptionalPart, type ParameterSpecs, parameterSpecs } from "./parameters.js";
import { bytesOf, WeightStore, type WeightType, withRows } from "./weights.js";

/** How far the loading of a model is. */
export interface LoadProgress {
  /** The bytes of tensors that have been read, and those of all tensors of the model. */
  readonly loaded: number;
  readonly total: number;
  /** The tensor that is read, under its name in the file. */
  readonly tensor: string;
  /**
   * Whether the browser keeps the file of the tensor: false without the option `keep`, for files that do not
   * come from the network, and where it has no storage.
   */
  readonly kept: boolean;
}

export interface LoadModelOptions {
  /**
   * How the weights of a language model are stored: "float32", the default; "float16", in half of the memory,
   * from which each call converts what it needs; "int8", in a quarter, rounded for each row. Only float32
   * models can be trained.
   */
  dtype?: WeightType;
  /**
   * Whether the browser keeps the files of the network that are read, for the next time: in its private file
   * system or in Cache Storage. A complete file is not requested again; delete it (`deleteKept`) for a newer
   * version. A file whose download was stopped, even by closing the page, continues where it stopped if the
   * server still has the version that it had, by a strong ETag; else it begins anew. Where there is no such
   * storage, as in Node, files are read without being kept.
   */
  keep?: boolean;
  /** Stops the loading: the promise is then rejected with the signal's reason. What `keep` has stored stays. */
  signal?: AbortSignal;
  /** Called after each part that has been read. */
  onProgress?: (progress: LoadProgress) => void;
}

/** The number of elements that are read at a time: a page stays responsive, and few bytes wait to be freed. */
const mostRead = 2 ** 19;
/** The time after which loading pauses, one frame of a page, in milliseconds. */
const longestStep = 16;
const weightsName = "model.safetensors";
const indexName = "model.safetensors.index.json";
const bytesOfType: Readonly<Record<string, number>> = { float32: 4, float16: 2, bfloat16: 2 };

/** A tensor's place in one of the files. */
interface FoundTensor extends Place {
  readonly file: OpenFile;
}

interface OpenFile {
  readonly name: string;
  readonly source: OpenSource;
  /** The first byte after the header. */
  readonly dataStart: number;
}

/** Runs a function, and reports its errors as faults of a file. */
function within<T>(file: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof HeedError) || !["option", "format"].includes(error.code)) throw error;
    throw new HeedError("format", `${file}: ${error.message}`, { cause: error });
  }
}

/** Returns the file of each tensor by the index of a model in several files. */
function readIndex(index: Record<string, unknown>): string[] {
  const map = index.weight_map;
  if (map === null || typeof map !== "object" || Array.isArray(map))
    throw refuse("format", indexName, "a weight_map with the file of each tensor", describe(map));
  const files = new Set<string>();
  for (const [tensor, file] of Object.entries(map)) {
    if (typeof file !== "string" || !/^[^/\\]+\.safetensors$/.test(file))
      throw refuse(
        "format",
        `${indexName}: ${tensor}`,
        "the name of a safetensors file",
        describe(file),
      );
    files.add(file);
  }
  return [...files];
}

/** Opens the files of the weights: one, or those that an index names. */
async function weightFiles(folder: Folder, signal?: AbortSignal): Promise<[string, OpenSource][]> {
  const single = await folder.open(weightsName, signal);
  if (single !== undefined) return [[weightsName, single]];
  const index = await folder.open(indexName, signal);
  if (index === undefined) throw missing(folder, `${weightsName} or ${indexName}`);
  const names = readIndex(await parseJson(index, indexName, signal));
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
async function readPlaces(
  files: readonly [string, OpenSource][],
  signal?: AbortSignal,
): Promise<Map<string, FoundTensor>> {
  const found = new Map<string, FoundTensor>();
  for (const [name, source] of files) {
    const first = await source.read(0, Math.min(lengthBytes, source.size), signal);
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

/** Removes the optional parts of which a checkpoint has no tensor. */
function withoutAbsentParts(
  specs: ParameterSpecs,
  config: CausalConfig | MaskedConfig,
  names: ReadonlySet<string>,
): ParameterSpecs {
  const present = new Set<OptionalPart | undefined>([undefined]);
  for (const { name, parameters } of expectedTensors(config, specs))
    if (names.has(nameIn(names, config, name))) present.add(specs.get(parameters[0] ?? "")?.part);
  return new Map([...specs].filter(([, { part }]) => present.has(part)));
}

interface Wanted {
  readonly tensor: string;
  readonly expected: ExpectedTensor;
  readonly place: FoundTensor;
}

/** Returns the places of all tensors of the model; one error lists all that are missing or do not fit. */
function findTensors(
  config: CausalConfig | MaskedConfig,
  specs: ParameterSpecs,
  found: ReadonlyMap<string, FoundTensor>,
): Wanted[] {
  const names = new Set(found.keys());
  const absent: string[] = [];
  const unfit: string[] = [];
  const wanted: Wanted[] = [];
  for (const expected of expectedTensors(config, specs)) {
    const tensor = nameIn(names, config, expected.name);
    const place = found.get(tensor);
    if (place === undefined) absent.push(tensor);
    else if (bytesOfType[place.dtype] === undefined)
      unfit.push(`${tensor} (expected float32, float16 or bfloat16, got ${place.dtype})`);
    else if (place.shape.join() !== expected.shape.join()) {
      const shapes = [expected.shape, place.shape].map((shape) => `[${shape.join(", ")}]`);
      unfit.push(`${tensor} (expected ${shapes[0]}, got ${shapes[1]})`);
    } else wanted.push({ tensor, expected, place });
  }
  const faults = [
    ...(absent.length > 0 ? [`${absent.length} missing: ${absent.join(", ")}`] : []),
    ...(unfit.length > 0 ? [`${unfit.length} not fitting: ${unfit.join(", ")}`] : []),
  ];
  if (faults.length > 0)
    throw refuse("format", "weights", `the tensors of ${config.modelType}`, faults.join("; "));
  return wanted;
}

/** Converts elements of a file to a float32 tensor. */
function toFloats(heed: Heed, bytes: Uint8Array, dtype: string, shape: readonly number[]): Tensor {
  // Views need an address that is a multiple of the element's size.
  const isAligned = bytes.byteOffset % 4 === 0;
  const own = isAligned ? bytes : bytes.slice();
  const { buffer, byteOffset, length } = own;
  if (dtype === "float32")
    return heed.tensor(new Float32Array(buffer as ArrayBuffer, byteOffset, length / 4), shape);
  const bits = new Uint16Array(buffer as ArrayBuffer, byteOffset, length / 2);
  const halves = heed.tensor(bits, shape, dtype as "float16");
  try {
    return heed.cast(halves, "float32");
  } finally {
    halves.dispose();
  }
}

class Loading {
  readonly #heed: Heed;
  readonly #store: WeightStore;
  readonly #options: LoadModelOptions;
  readonly #total: number;
  #loaded = 0;
  #begin = performance.now();

  constructor(heed: Heed, store: WeightStore, total: number, options: LoadModelOptions) {
    this.#heed = heed;
    this.#store = store;
    this.#options = options;
    this.#total = total;
  }

  async load({ tensor, expected, place }: Wanted): Promise<void> {
    const { parameters, isTransposed } = expected;
    const [first = ""] = parameters;
    if (!isTransposed && parameters.length === 1) {
      await this.#read(tensor, place, (start, rows) => this.#store.add(first, start, rows));
      return;
    }
    let whole: Tensor | undefined;
    try {
      await this.#read(tensor, place, (start, rows) => {
        whole = withRows(this.#heed, whole, expected.shape, start, rows);
      });
    } catch (error) {
      whole?.dispose();
      throw error;
    }
    this.#divide(whole as Tensor, expected);
  }

  /** Lets the page handle its events between two frames: bytes that are in memory come without a wait. */
  async #rest(): Promise<void> {
    if (performance.now() - this.#begin < longestStep) return;
    await pause();
    this.#begin = performance.now();
  }

  /** Stores the parameters of which a tensor consists, and frees the tensor. */
  #divide(given: Tensor, { parameters, isTransposed }: ExpectedTensor): void {
    const heed = this.#heed;
    let whole = given;
    if (isTransposed) {
      whole = heed.transpose(given);
      given.dispose();
    }
    const [first = ""] = parameters;
    if (parameters.length === 1) {
      this.#store.add(first, 0, whole);
      return;
    }
    const parts = heed.split(whole, parameters.length);
    // Copies, because the parts share memory with the whole.
    for (const [i, name] of parameters.entries())
      this.#store.add(name, 0, heed.multiply(parts[i] as Tensor, 1));
    for (const each of [...parts, whole]) each.dispose();
  }

  /** Reads a tensor in blocks of rows. `take` owns them. */
  async #read(
    tensor: string,
    { file, dtype, shape, begin, end }: FoundTensor,
    take: (start: number, rows: Tensor) => void,
  ): Promise<void> {
    const { signal, onProgress } = this.#options;
    const [count = 1, columns = 1] = shape;
    const step = Math.max(1, Math.floor(mostRead / Math.max(1, columns)));
    const rowBytes = (end - begin) / Math.max(1, count);
    for (let start = 0; start < count; start += step) {
      signal?.throwIfAborted();
      const length = Math.min(step, count - start);
      const at = file.dataStart + begin + start * rowBytes;
      const bytes = await file.source.read(at, at + length * rowBytes, signal);
      const size = length * rowBytes;
      if (bytes.length !== size)
        throw refuse("format", `${file.name}: ${tensor}`, `${size} bytes`, `${bytes.length}`);
      const rows = toFloats(this.#heed, bytes, dtype, [length, ...shape.slice(1)]);
      if (!this.#heed.engine.isFinite(rows)) {
        const place = start * columns + rows.data.findIndex((number) => !Number.isFinite(number));
        rows.dispose();
        throw refuse(
          "format",
          `${file.name}: ${tensor}`,
          "finite numbers",
          `another at place ${place}`,
        );
      }
      take(start, rows);
      await this.#rest();
      this.#loaded += size;
      const { kept = false } = file.source;
      onProgress?.({ loaded: this.#loaded, total: this.#total, tensor, kept });
    }
  }
}

/**
 * Loads a language model.
 *
 * @param config the content of its config.json
 */
export async function loadLanguageModel(
  heed: Heed,
  folder: Folder,
  config: Record<string, unknown>,
  options: LoadModelOptions,
): Promise<CausalLanguageModel | MaskedLanguageModel> {
  const { dtype = "float32", signal } = options;
  const read = within("config.json", () => readConfig(config));
  const files = await weightFiles(folder, signal);
  let store: WeightStore | undefined;
  try {
    const found = await readPlaces(files, signal);
    const specs = withoutAbsentParts(parameterSpecs(read), read, new Set(found.keys()));
    const wanted = findTensors(read, specs, found);
    const hasTiedHead = read.kind === "causal" ? read.isTied : specs.has("lm_head.bias");
    const needed = bytesOf(specs, dtype, hasTiedHead);
    if (needed > mostBytes) {
      const message = `dtype: expected weights of at most ${mostBytes} bytes, got ${needed} as ${dtype}`;
      throw new HeedError("memory", message);
    }
    const total = wanted.reduce((sum, { place }) => sum + place.end - place.begin, 0);
    store = new WeightStore(heed, specs, dtype, hasTiedHead);
    const loading = new Loading(heed, store, total, options);
    for (const [, source] of files) {
      const own = wanted.filter(({ place }) => place.file.source === source);
      own.sort((a, b) => a.place.begin - b.place.begin);
      for (const each of own) await loading.load(each);
      await source.keepRest?.(signal);
      source.close?.();
    }
    const parameters = store.made;
    const Model = read.kind === "causal" ? CausalLanguageModel : MaskedLanguageModel;
    return new Model(heed, config, { parameters }).eval();
  } catch (error) {
    store?.dispose();
    throw error;
  } finally {
    for (const [, source] of files) source.close?.();
  }
}
