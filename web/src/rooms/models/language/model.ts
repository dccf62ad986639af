/** The language models that are open in the worker: the page's own one, and one of the person. */
import type { Heed } from "heed";
import {
  CausalLanguageModel,
  type LoadedModel,
  loadModel,
  MaskedLanguageModel,
  type ModelSource,
  Seq2SeqLanguageModel,
  VisionTransformer,
} from "heed/models";
import { nn } from "heed/nn";
import { ReadableTokenizer } from "../../../shared/readableTokenizer";
import type { LanguageModel } from "../../../worker/languageHeads";
import { hubFilesIn, reportIn } from "../../../worker/modelFiles";
import type { SolverContext } from "../../../worker/solver";
import { Lifetime } from "../lifetime";
import type { Card, LoadRequest, News, Whose } from "./messages";
import type { Source } from "./source";

export interface Open extends Lifetime<LanguageModel> {
  readonly card: Card;
  readonly tokenizer: ReadableTokenizer;
}

const open = new Map<Whose, Open>();
let opened = 0;

/** The open model of the page or of the person; null if there is none. */
export function current(whose: Whose): Open | null {
  return open.get(whose) ?? null;
}

/** The open model with the number of its card; null if it is no longer open. */
export function numbered(model: number): Open | null {
  return [...open.values()].find(({ card }) => card.model === model) ?? null;
}

export function close(whose: Whose): void {
  open.get(whose)?.close();
  open.delete(whose);
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

/** Whether Phi-3 rotates only a part of each head, or by other angles in longer texts. */
function rotatesApart({ config }: LanguageModel): boolean {
  const { headSize } = config;
  return (
    config.kind === "causal" &&
    config.rotations?.some((each) => each.long || 2 * each.frequencies.length < headSize) === true
  );
}

function cardOf(
  { source, dtype }: LoadRequest,
  model: LanguageModel,
  tokenizer: ReadableTokenizer,
): Omit<Card, "perplexity"> {
  const { config } = model;
  const { layers, heads, headSize, context, kind } = config;
  const scale = 1 / Math.sqrt(headSize);
  const isCausal = config.kind === "causal";
  return {
    kind: "card",
    model: ++opened,
    name: source.name,
    whose: whoseIs(source),
    address: source.kind === "address" ? source.address : null,
    ...{ dtype, architecture: config.modelType, predicts: kind },
    hasNetwork: isCausal && !config.hasOutputNorms && !rotatesApart(model),
    ...{ layers, heads, headSize, context, ...sizesOf(model, dtype) },
    groups: isCausal ? config.kvHeads : heads,
    vocabulary: config.vocabularySize,
    scales: isCausal ? config.scales : Array.from({ length: layers }, () => scale),
    softcap: (isCausal && config.scoresSoftcap) || null,
    windows: Array.from({ length: layers }, (_, i) => (isCausal && config.windows[i]) || null),
    mask: "readOut" in model || !model.lmHead ? null : tokenizer.mask,
  };
}

const whoseIs = (source: Source): Whose =>
  source.kind === "address" && source.isOurs ? "ours" : "yours";

/** The page's own model is fetched as whole files, so that the page can keep it. */
async function filesOf(source: Source, hear: (loaded: number) => void): Promise<ModelSource> {
  if (source.kind === "files") return source.files;
  return source.isOurs ? hubFilesIn(source.address, hear) : source.address;
}

interface Report {
  readonly bytes: number;
  readonly heldOut: { readonly all: { readonly model: { readonly perplexity: number } } };
}

/** The report on the page's own model. */
async function reportOn(source: Source): Promise<Report | null> {
  return source.kind === "address" && source.isOurs ? reportIn<Report>(source.address) : null;
}

/** The shortest time between two progress messages, in milliseconds. */
const often = 100;

/** Passes on progress messages, except those that follow too soon. */
function seldom(progress: (news: News) => void): (news: News) => void {
  let told = 0;
  return (news) => {
    const now = performance.now();
    if (now - told < often && news.loaded < news.total) return;
    told = now;
    progress(news);
  };
}

/** The loaded model, if it is a language model that the page shows. */
function shownModel(model: LoadedModel): LanguageModel {
  if (model instanceof VisionTransformer)
    throw new RangeError("it reads images, and this room takes text.");
  if (model instanceof Seq2SeqLanguageModel)
    throw new RangeError("it has an encoder and a decoder, and this room shows one of them.");
  if (!(model instanceof CausalLanguageModel || model instanceof MaskedLanguageModel))
    throw new RangeError("it is a model of Heed for one task, which are listed above.");
  return model;
}

/** Opens a model in place of the one that is open, which stays if this one cannot be loaded. */
export async function load(
  heed: Heed,
  request: LoadRequest,
  { signal, progress }: Pick<SolverContext<News>, "signal" | "progress">,
): Promise<Card> {
  const { source, dtype } = request;
  const hear = seldom(progress);
  const report = await reportOn(source);
  const files = await filesOf(source, (loaded) => hear({ loaded, total: report?.bytes ?? loaded }));
  const keep = source.kind === "address" && source.keep;
  const { model: loaded, tokenizer } = await loadModel(heed, files, {
    ...{ dtype, signal, keep, tokenizer: ReadableTokenizer, onProgress: hear },
  });
  try {
    signal.throwIfAborted();
    const model = shownModel(loaded);
    const perplexity = report?.heldOut.all.model.perplexity ?? null;
    const card = { ...cardOf(request, model, tokenizer), perplexity };
    close(card.whose);
    open.set(card.whose, Object.assign(new Lifetime(model), { card, tokenizer }));
    return card;
  } catch (error) {
    loaded.dispose();
    throw error;
  }
}
