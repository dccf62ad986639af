// Loads models of text and of images from the files of Hugging Face's hub: config.json and
// safetensors files. They are read tensor by tensor, so that the memory never contains a whole
// file.

import { refuse } from "../../core/error.js";
import { within } from "../../core/objects.js";
import { pause } from "../../core/pause.js";
import type { Tensor } from "../../core/tensor.js";
import type { Heed } from "../../heed.js";
import { type Folder, findJson } from "../sources.js";
import { VisionTransformer } from "../vision/visionTransformer.js";
import { CausalLanguageModel } from "./causalModel.js";
import { type ExpectedTensor, expectedTensors, namesIn } from "./checkpoint.js";
import { type HubModelConfig, readConfig } from "./config.js";
import { MaskedLanguageModel } from "./maskedModel.js";
import { type OptionalPart, type ParameterSpecs, parameterSpecs } from "./parameters.js";
import { sentenceHeadIn } from "./sentenceFiles.js";
import type { SentenceHead } from "./sentences.js";
import { Seq2SeqLanguageModel } from "./seq2seqModel.js";
import { type FoundTensor, readPlaces, weightFiles } from "./weightFiles.js";
import { bytesOf, WeightStore, type WeightType, weightTypes, withColumns } from "./weights.js";

/** The progress of loading a model. */
export interface LoadProgress {
  /** The bytes of the tensors that have been read. */
  readonly loaded: number;
  /** The bytes of all tensors. */
  readonly total: number;
  /** The name in the file of the tensor that is being read. */
  readonly tensor: string;
  /**
   * Whether the browser keeps the file of the tensor: false without the option `keep`, for files
   * that do not come from the network, and if the browser has no storage.
   */
  readonly kept: boolean;
}

/** Options of `loadModel` for the models of the hub. */
export interface LoadModelOptions {
  /**
   * How the matrices of a model of the hub are stored: "float32", the default; "float16", in half of
   * the memory; "int8", in a quarter, rounded for each row; "int4", in a seventh, rounded for each
   * 32 numbers of a row. With int8 and int4 the table of tokens takes a quarter, and if the model
   * computes its logits with this table, it is packed a second time. Only float32 models can be
   * trained.
   */
  dtype?: WeightType;
  /**
   * Whether the browser keeps the files of the network that are read, for the next time: in its
   * private file system or in Cache Storage. A complete file is not requested again; delete it
   * (`deleteKept`) to get a newer version. A stopped download, even by closing the page, continues
   * if the server still has the same version, which a strong ETag shows. Otherwise the download
   * starts again. Without such a storage, as in Node, files are read but not kept.
   */
  keep?: boolean;
  /**
   * Stops the loading: the promise is then rejected with the signal's reason. Parts that `keep` has
   * stored are not deleted.
   */
  signal?: AbortSignal;
  /** Called after each part that has been read. */
  onProgress?: (progress: LoadProgress) => void;
}

/** The number of elements that are read at a time: a page stays responsive, and few bytes wait to be freed. */
const mostRead = 2 ** 19;
/** The time after which loading pauses, one frame of a page, in milliseconds. */
const longestStep = 16;
const bytesOfType: Readonly<Record<string, number>> = { float32: 4, float16: 2, bfloat16: 2 };

/** Removes the optional parts for which a checkpoint has no tensor. */
function withoutAbsentParts(
  specs: ParameterSpecs,
  config: HubModelConfig,
  names: ReadonlySet<string>,
): ParameterSpecs {
  const present = new Set<OptionalPart | undefined>([undefined]);
  const nameOf = namesIn(names, config);
  for (const { name, parameters } of expectedTensors(config, specs))
    if (names.has(nameOf(name))) present.add(specs.get(parameters[0] ?? "")?.part);
  return new Map([...specs].filter(([, { part }]) => present.has(part)));
}

/** A tensor that is read, or the rows of one parameter in it. */
interface Wanted extends Pick<ExpectedTensor, "parameters" | "isTransposed"> {
  readonly tensor: string;
  readonly place: FoundTensor;
  /** The row of the tensor with which the place begins. */
  readonly first: number;
}

/** Divides a tensor into its parameters, which are rows one after the other unless it is transposed. */
function partsOf(
  { rows, parameters, isTransposed }: ExpectedTensor,
  specs: ParameterSpecs,
  tensor: string,
  place: FoundTensor,
): Wanted[] {
  if (isTransposed) return [{ tensor, parameters, isTransposed, place, first: 0 }];
  const [count = 1, ...rest] = rows;
  const rowBytes = (place.end - place.begin) / Math.max(1, count);
  let first = 0;
  return parameters.map((name) => {
    const length = specs.get(name)?.shape[0] ?? 0;
    const begin = place.begin + first * rowBytes;
    const own = { ...place, shape: [length, ...rest], begin, end: begin + length * rowBytes };
    first += length;
    return { tensor, parameters: [name], isTransposed, place: own, first: first - length };
  });
}

/** Throws for weights that the engine cannot hold, and names the types of weights that fit. */
function checkSize(bytesAs: (dtype: WeightType) => number, dtype: WeightType, most: number): void {
  const needed = bytesAs(dtype);
  if (needed <= most) return;
  const fitting = weightTypes.filter((each) => bytesAs(each) <= most);
  const others = fitting.map((each) => `${each} takes ${bytesAs(each)}`).join(", ");
  const got = `${needed} as ${dtype}; ${others || "no dtype fits"}`;
  throw refuse("memory", "dtype", `weights of at most ${most} bytes`, got);
}

/** The number of tensors that an error names. */
const mostNamed = 50;

/** Returns the first names, and the number of the others. */
function listOf(names: readonly string[]): string {
  const more = names.length - mostNamed;
  return names.slice(0, mostNamed).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** Returns the positions of all tensors of the model. One error lists all tensors that are missing or do not fit. */
function findTensors(
  config: HubModelConfig,
  specs: ParameterSpecs,
  found: ReadonlyMap<string, FoundTensor>,
): Wanted[] {
  const nameOf = namesIn(new Set(found.keys()), config);
  const absent: string[] = [];
  const unfit: string[] = [];
  const wanted: Wanted[] = [];
  for (const expected of expectedTensors(config, specs)) {
    const tensor = nameOf(expected.name);
    const place = found.get(tensor);
    if (place === undefined) absent.push(tensor);
    else if (bytesOfType[place.dtype] === undefined)
      unfit.push(`${tensor} (expected float32, float16 or bfloat16, got ${place.dtype})`);
    else if (place.shape.join() !== expected.shape.join()) {
      const shapes = [expected.shape, place.shape].map((shape) => `[${shape.join(", ")}]`);
      unfit.push(`${tensor} (expected ${shapes[0]}, got ${shapes[1]})`);
    } else wanted.push(...partsOf(expected, specs, tensor, { ...place, shape: expected.rows }));
  }
  const faults = [
    ...(absent.length > 0 ? [`${absent.length} missing: ${listOf(absent)}`] : []),
    ...(unfit.length > 0 ? [`${unfit.length} not fitting: ${listOf(unfit)}`] : []),
  ];
  if (faults.length > 0)
    throw refuse("format", "weights", `the tensors of ${config.modelType}`, faults.join("; "));
  return wanted;
}

/** Converts elements of a file to a float32 tensor. */
function toFloats(heed: Heed, bytes: Uint8Array, dtype: string, shape: readonly number[]): Tensor {
  // Views need an address that is a multiple of the element's size.
  const isAligned = bytes.byteOffset % 4 === 0;
  // `slice` of Node's Buffer does not copy.
  const own = isAligned ? bytes : new Uint8Array(bytes);
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

  async load(wanted: Wanted): Promise<void> {
    const { parameters, isTransposed, place } = wanted;
    const [count = 1, columns = 1] = place.shape;
    const [name = ""] = parameters;
    if (!isTransposed) {
      await this.#read(wanted, (start, rows) => this.#store.add(name, start, rows));
      return;
    }
    let whole: Tensor | undefined;
    try {
      await this.#read(wanted, (start, rows) => {
        whole = withColumns(this.#heed, whole, [columns, count], start, rows);
      });
    } catch (error) {
      whole?.dispose();
      throw error;
    }
    this.#divide(whole as Tensor, parameters);
  }

  /** Lets the page handle its events between two frames, because reading bytes from memory never waits. */
  async #rest(): Promise<void> {
    if (performance.now() - this.#begin < longestStep) return;
    await pause();
    this.#begin = performance.now();
  }

  /** Stores the parameters that a tensor contains, and frees the tensor. */
  #divide(whole: Tensor, parameters: readonly string[]): void {
    const heed = this.#heed;
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

  /** Reads a tensor in blocks of rows. `take` becomes the owner of each block. */
  async #read(
    { tensor, place: { file, dtype, shape, begin, end }, first }: Wanted,
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
        const place =
          (first + start) * columns + rows.data.findIndex((number) => !Number.isFinite(number));
        rows.dispose();
        const got = `another at place ${place}`;
        throw refuse("format", `${file.name}: ${tensor}`, "finite numbers", got);
      }
      take(start, rows);
      await this.#rest();
      this.#loaded += size;
      const { kept = false } = file.source;
      onProgress?.({ loaded: this.#loaded, total: this.#total, tensor, kept });
    }
  }
}

/** The fields of generation_config.json that replace the same fields of config.json. */
const generationFields = [
  ...["bad_words_ids", "decoder_start_token_id", "eos_token_id"],
  ...["forced_bos_token_id", "forced_eos_token_id", "pad_token_id"],
];

/** Returns a config with the fields of generation_config.json, if the folder has this file. */
async function withGeneration(
  folder: Folder,
  config: Record<string, unknown>,
  signal: AbortSignal | undefined,
): Promise<Record<string, unknown>> {
  const name = "generation_config.json";
  const given = await findJson(folder, name, signal);
  if (given === undefined) return config;
  const names = generationFields.filter((each) => given[each] != null);
  const joined = { ...config, ...Object.fromEntries(names.map((each) => [each, given[each]])) };
  within(name, () => readConfig(joined));
  return joined;
}

const models = {
  causal: CausalLanguageModel,
  masked: MaskedLanguageModel,
  seq2seq: Seq2SeqLanguageModel,
  vision: VisionTransformer,
};

/** A model in the layout of Hugging Face's hub. */
export type HubModel =
  | CausalLanguageModel
  | MaskedLanguageModel
  | Seq2SeqLanguageModel
  | VisionTransformer;

/**
 * Loads a model of text or of images.
 *
 * @param given the content of its config.json
 */
export async function loadHubModel(
  heed: Heed,
  folder: Folder,
  given: Record<string, unknown>,
  options: LoadModelOptions,
): Promise<HubModel> {
  const { dtype = "float32", signal } = options;
  const read = within("config.json", () => readConfig(given));
  const isWriter = read.kind === "causal" || read.kind === "seq2seq";
  const config = isWriter ? await withGeneration(folder, given, signal) : given;
  const files = await weightFiles(folder, signal);
  let store: WeightStore | undefined;
  let sentence: SentenceHead | undefined;
  try {
    // Read first, because these files are small. A classifier makes no vectors.
    if (read.kind === "masked" && !read.classifier)
      sentence = await sentenceHeadIn(heed, folder, read, signal);
    const found = await readPlaces(files, signal);
    const specs = withoutAbsentParts(parameterSpecs(read), read, new Set(found.keys()));
    const wanted = findTensors(read, specs, found);
    const hasWords = read.kind !== "masked" || specs.has("lm_head.dense.weight");
    const hasTiedHead = read.kind !== "vision" && read.isTied && hasWords;
    checkSize((each) => bytesOf(specs, each, hasTiedHead), dtype, heed.engine.border.most);
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
    const own = { parameters: store.made, ...(sentence && { sentence }) };
    return new models[read.kind](heed, config, own).eval();
  } catch (error) {
    sentence?.dispose();
    store?.dispose();
    throw error;
  } finally {
    for (const [, source] of files) source.close?.();
  }
}
