/** The language models that are open in the worker: the page's own one and one of the person. Also lists the kept ones. */
import type { Heed } from "heed";
import {
  CausalLanguageModel,
  deleteKept,
  type LoadedModel,
  listKept,
  loadModel,
  MaskedLanguageModel,
  type ModelSource,
  Seq2SeqLanguageModel,
  VisionTransformer,
} from "heed/models";
import { nn } from "heed/nn";
import { ReadableTokenizer } from "../../../shared/readableTokenizer";
import type { ShownModel } from "../../../worker/languageHeads";
import { differenceOf, setOpenModel, whyNotWalked } from "../../../worker/openModel";
import { type Held, holdOurs, type LoadContext, seldom } from "../../../worker/ourModel";
import { Lifetime } from "../lifetime";
import type { Card, KeptModel, LoadRequest, Whose } from "./messages";
import { filePath, linkOf, type Source } from "./source";
import { yourModel } from "./state";

export interface Open extends Lifetime<ShownModel> {
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
  if (whose === "yours") setOpenModel(null);
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

function sizesOf(model: ShownModel, dtype: Card["dtype"]): { parameters: number; bytes: number } {
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

type LayerFacts = Pick<Card, "attentions" | "scales" | "hasDistances" | "softcap" | "windows">;

/** The sizes of a model's layers, and its rules for scores. */
function layersOf({ config }: ShownModel): LayerFacts {
  if (config.kind === "seq2seq") {
    const { encoder, decoder, positions } = config;
    const hasDistances = positions === "distances";
    const sizesOf = ({ layers, heads, headSize }: typeof encoder) => ({
      ...{ layers, heads, headSize, groups: heads },
    });
    return {
      ...{ hasDistances, softcap: null, windows: [] },
      attentions: [
        { name: "encoder", ...sizesOf(encoder) },
        { name: "decoder", ...sizesOf(decoder) },
        { name: "cross", ...sizesOf(decoder) },
      ],
      // T5 does not divide its scores.
      scales: hasDistances ? Array(Math.max(encoder.layers, decoder.layers)).fill(1) : [],
    };
  }
  const { layers, heads, headSize } = config;
  if (config.kind === "masked")
    return {
      attentions: [{ layers, heads, headSize, groups: heads }],
      ...{ hasDistances: config.distances > 0, softcap: null, scales: [] },
      windows: config.windows.map((side) => (side === undefined ? null : side + 1)),
    };
  const { kvHeads: groups, scoresSoftcap: softcap = null, scales } = config;
  return {
    attentions: [{ layers, heads, headSize, groups }],
    ...{ hasDistances: false, softcap, scales },
    windows: config.windows.map((each) => each ?? null),
  };
}

/** The predictions of an encoder's head, or why it has none that the room shows. */
function predictionsOf(
  model: ShownModel,
  tokenizer: ReadableTokenizer,
): Pick<Card, "mask" | "classifier" | "compares" | "whyNoPredictions"> {
  const none = { mask: null, classifier: null, compares: null, whyNoPredictions: null };
  if (!("sentence" in model)) return none;
  const whyNot = (why: string) => ({
    ...{ ...none, whyNoPredictions: `${why}: only its attention can be shown.` },
  });
  const { config, lmHead, sentence } = model;
  const { task, problem } = config.classifier ?? {};
  const { similarity, maxTokens } = sentence.config;
  if (task === "question")
    return whyNot("This checkpoint answers questions, and this room reads texts without questions");
  if (problem === "regression")
    return whyNot("The head of this checkpoint gives values, and not labels with probabilities");
  if (config.classifier) return { ...none, classifier: config.classifier };
  if (!lmHead)
    return {
      ...{ ...none, compares: { by: similarity, tokens: maxTokens ?? null } },
      whyNoPredictions:
        "This checkpoint has no head that predicts. It computes a vector for each text: compare two texts below.",
    };
  const { mask } = tokenizer;
  return mask
    ? { ...none, mask }
    : whyNot("The tokenizer of this checkpoint has no token for masked words");
}

function cardOf(
  { source, dtype }: LoadRequest,
  model: ShownModel,
  tokenizer: ReadableTokenizer,
): Omit<Card, "perplexity"> {
  const { config } = model;
  const { context, kind } = config;
  return {
    kind: "card",
    model: ++opened,
    name: source.name,
    whose: whoseIs(source),
    link: source.kind === "address" ? linkOf(source.address) : yourModel,
    ...{ dtype, architecture: config.modelType, predicts: kind },
    writes: kind !== "masked",
    whyNoNetwork: whyNoNetwork(model),
    whyNotWalked: whyNotWalked(model),
    ...{ ...layersOf(model), context, ...sizesOf(model, dtype) },
    vocabulary: config.vocabularySize,
    languages: [...tokenizer.languages].flatMap(([name, id]) =>
      kind === "seq2seq" && id < config.vocabularySize ? name : [],
    ),
    marksLanguage: tokenizer.ownLanguage !== null,
    ...predictionsOf(model, tokenizer),
  };
}

/** Why the page does not show the whole network; null if it does. */
const whyNoNetwork = (model: ShownModel): string | null =>
  "decode" in model ? "it has an encoder and a decoder" : (differenceOf(model)?.layers ?? null);

const whoseIs = (source: Source): Whose =>
  source.kind === "address" && source.isOurs ? "ours" : "yours";

/** The loaded model, if it is a language model that the page shows. */
function shownModel(model: LoadedModel): ShownModel {
  if (model instanceof VisionTransformer)
    throw new RangeError("it reads images, and this room takes text.");
  const isShown = [CausalLanguageModel, MaskedLanguageModel, Seq2SeqLanguageModel].some(
    (each) => model instanceof each,
  );
  if (!isShown) throw new RangeError("it is a model of Heed for one task, which are listed above.");
  return model as ShownModel;
}

/** A model from files or from another address. */
async function loadOther(
  heed: Heed,
  source: Source,
  dtype: Card["dtype"],
  { signal, progress }: LoadContext,
): Promise<Held> {
  const files: ModelSource = source.kind === "files" ? source.files : source.address;
  const keep = source.kind === "address" && source.keep;
  const { model, tokenizer } = await loadModel(heed, files, {
    ...{ dtype, signal, keep, tokenizer: ReadableTokenizer, onProgress: seldom(progress) },
  });
  return { model, tokenizer, perplexity: null, free: () => model.dispose() };
}

/** Opens a model in place of the one that is open, which stays if this one cannot be loaded. */
export async function load(heed: Heed, request: LoadRequest, context: LoadContext): Promise<Card> {
  const { source, dtype } = request;
  const isOurs = source.kind === "address" && source.isOurs;
  const held = isOurs
    ? await holdOurs(heed, source.address, dtype, context)
    : await loadOther(heed, source, dtype, context);
  try {
    context.signal.throwIfAborted();
    const model = shownModel(held.model);
    const { tokenizer, perplexity } = held;
    const card = { ...cardOf(request, model, tokenizer), perplexity };
    close(card.whose);
    const own = Object.assign(new Lifetime(model, held.free), { card, tokenizer });
    open.set(card.whose, own);
    if (card.whose === "yours") setOpenModel(own);
    return card;
  } catch (error) {
    held.free();
    throw error;
  }
}

/** The address of a model, from the address of one of its files. */
function modelOf(file: string): string {
  const folder = filePath.exec(file)?.[1] as string;
  return folder.replace(/\/resolve\/main$/, "");
}

/** @param deleted the address of a model whose files are deleted first */
export async function keptModels(deleted: string | null): Promise<KeptModel[]> {
  if (deleted !== null) await deleteKept(deleted);
  const models = new Map<string, KeptModel>();
  for (const { address: file, bytes, size } of await listKept()) {
    const address = modelOf(file);
    const sum = models.get(address);
    models.set(address, {
      address,
      bytes: (sum?.bytes ?? 0) + bytes,
      size: (sum?.size ?? 0) + size,
    });
  }
  return [...models.values()];
}
