/** The person's model, which is open in the worker: one at a time. */
import type { Heed } from "heed";
import {
  CausalLanguageModel,
  loadModel,
  MaskedLanguageModel,
  type ModelSource,
  Seq2SeqLanguageModel,
  VisionTransformer,
} from "heed/models";
import { nn } from "heed/nn";
import type { LanguageModel } from "../../../worker/languageHeads";
import { hubFilesIn } from "../../../worker/modelFiles";
import type { SolverContext } from "../../../worker/solver";
import type { Card, LoadRequest, News } from "./messages";
import type { Source } from "./source";
import { ReadableTokenizer } from "./tokens";

export interface Open {
  readonly card: Card;
  readonly model: LanguageModel;
  readonly tokenizer: ReadableTokenizer;
}

let open: Open | null = null;
let opened = 0;
/** The number of running requests of each model. */
const uses = new Map<Open, number>();

/** The open model; null if there is none. */
export function current(): Open | null {
  return open;
}

/** Runs a request of a model, which is freed after its last request even if it was closed before. */
export async function use<T>(used: Open, run: () => T | Promise<T>): Promise<T> {
  uses.set(used, (uses.get(used) ?? 0) + 1);
  try {
    return await run();
  } finally {
    const left = (uses.get(used) as number) - 1;
    if (left > 0) uses.set(used, left);
    else uses.delete(used);
    if (left === 0 && used !== open) used.model.dispose();
  }
}

export function close(): void {
  if (open && !uses.has(open)) open.model.dispose();
  open = null;
}

interface Weight {
  readonly shape: readonly number[];
  /** The type of a tensor. Packed weights have a format instead. */
  readonly dtype?: string;
  /** Of packed weights. */
  readonly bytes?: number;
}

const isWeight = (part: unknown): part is Weight =>
  typeof part === "object" && part !== null && "shape" in part;

/** All weights of a module, packed or not. */
function weightsIn(part: unknown): Weight[] {
  if (isWeight(part)) return [part];
  if (part instanceof nn.Module || Array.isArray(part))
    return Object.values(part).flatMap(weightsIn);
  return [];
}

const bytesPerElement: Readonly<Record<string, number>> = { float32: 4, float16: 2 };

function sizesOf(
  model: LanguageModel,
  dtype: Card["dtype"],
): { parameters: number; bytes: number } {
  const sizeOf = ({ shape }: Weight) => shape.reduce((size, length) => size * length, 1);
  const bytesOf = (weight: Weight) => {
    if (weight.dtype) return sizeOf(weight) * (bytesPerElement[weight.dtype] ?? 4);
    // A table of bytes has a scale for each row.
    return weight.bytes ?? sizeOf(weight) + 4 * (weight.shape[0] as number);
  };
  const all = weightsIn(model);
  const { config, lmHead } = model;
  // In int8 and int4 the table of the tokens is there twice, once packed for the logits.
  const isTied = (dtype === "int8" || dtype === "int4") && config.isTied;
  const twice = isTied ? weightsIn((lmHead as { weight?: unknown } | undefined)?.weight) : [];
  const sum = (weights: readonly Weight[], of: (weight: Weight) => number) =>
    weights.reduce((total, weight) => total + of(weight), 0);
  return { parameters: sum(all, sizeOf) - sum(twice, sizeOf), bytes: sum(all, bytesOf) };
}

function cardOf(
  { source, dtype }: LoadRequest,
  model: LanguageModel,
  tokenizer: ReadableTokenizer,
  milliseconds: number,
): Card {
  const { config } = model;
  const { layers, heads, headSize, size, context, kind } = config;
  const scale = 1 / Math.sqrt(headSize);
  const isCausal = config.kind === "causal";
  // Phi-3 may rotate a part of each head, or by other angles in longer texts.
  const rotatesApart =
    isCausal &&
    config.rotations?.some((each) => each.long || 2 * each.frequencies.length < headSize) === true;
  return {
    kind: "card",
    model: ++opened,
    name: source.name,
    address: source.kind === "address" ? source.address : null,
    ...{ dtype, architecture: config.modelType, predicts: kind },
    hasNetwork: isCausal && !config.hasOutputNorms && !rotatesApart,
    ...{ layers, heads, headSize, size, context, ...sizesOf(model, dtype) },
    groups: isCausal ? config.kvHeads : heads,
    vocabulary: config.vocabularySize,
    scales: isCausal ? config.scales : Array.from({ length: layers }, () => scale),
    softcap: (isCausal && config.scoresSoftcap) || null,
    windows: Array.from({ length: layers }, (_, i) => (isCausal && config.windows[i]) || null),
    mask: "readOut" in model || !model.lmHead ? null : tokenizer.mask,
    milliseconds,
  };
}

/** The page's own model is fetched as whole files, as by the room Write, so that the page can keep it. */
async function filesOf(source: Source): Promise<ModelSource> {
  if (source.kind === "files") return source.files;
  return source.isOwn ? hubFilesIn(source.address) : source.address;
}

/** The shortest time between two progress messages, in milliseconds. */
const often = 100;

/** Opens a model in place of the one that is open, which stays if this one cannot be loaded. */
export async function load(
  heed: Heed,
  request: LoadRequest,
  { signal, progress }: Pick<SolverContext<News>, "signal" | "progress">,
): Promise<Card> {
  const { source, dtype } = request;
  const begin = performance.now();
  let told = 0;
  const files = await filesOf(source);
  const keep = source.kind === "address" && source.keep;
  const { model, tokenizer } = await loadModel(heed, files, {
    ...{ dtype, signal, keep, tokenizer: ReadableTokenizer },
    onProgress({ loaded, total }) {
      const now = performance.now();
      if (now - told < often && loaded < total) return;
      told = now;
      progress({ loaded, total });
    },
  });
  try {
    signal.throwIfAborted();
    if (model instanceof VisionTransformer)
      throw new RangeError("it reads images, and this room takes text.");
    if (model instanceof Seq2SeqLanguageModel)
      throw new RangeError("it has an encoder and a decoder, and this room shows one of them.");
    if (!(model instanceof CausalLanguageModel || model instanceof MaskedLanguageModel))
      throw new RangeError("it is a model of Heed for one task, which other rooms show.");
    const card = cardOf(request, model, tokenizer, performance.now() - begin);
    close();
    open = { card, model, tokenizer };
    return card;
  } catch (error) {
    model.dispose();
    throw error;
  }
}
