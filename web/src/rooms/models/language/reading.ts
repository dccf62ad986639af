/** Reads texts with a language model: its tokens, its heads, and the candidates for the next token. */

import type { Tensor } from "heed";
import { embed, type Seq2SeqLanguageModel, similarity, withoutHeads } from "heed/models";
import { patternsOf, viewOn } from "#parts";
import type { Ablated } from "../../../shared/ablation";
import { candidatesOf, insteadOf, type SortedLogits } from "../../../shared/candidates";
import { type HeadPlace, headPlaceOf } from "../../../shared/layerHeads";
import type { News } from "../../../shared/loading";
import type { ReadToken } from "../../../shared/readableTokenizer";
import { ablatedHeads } from "../../../worker/ablating";
import { continuation } from "../../../worker/continuation";
import {
  type HeadShares,
  headAt,
  headByHead,
  type Ids,
  idsTensor,
  lastLogits,
  pooled,
  readIn,
  type ShownModel,
  sharesOfHead,
} from "../../../worker/languageHeads";
import type { SolverContext } from "../../../worker/solver";
import type {
  CandidatesAt,
  HeadAnswer,
  HeadRequest,
  HeadsAnswer,
  HeadsRequest,
  NextAnswer,
  NextRequest,
  OtherAnswer,
  OtherRequest,
  ReadAnswer,
  ReadHead,
  ReadRequest,
  Refused,
} from "./messages";
import type { Open } from "./model";
import { maxCharacters, mostTokens, referenceText } from "./state";

type Context = SolverContext<News>;

const refused = (why: string): Refused => ({ kind: "refused", why });

/** The tokens of a text, or why they cannot be read. */
function idsOf({ card, tokenizer }: Open, text: string): number[] | Refused {
  if (text.length > maxCharacters)
    return refused(
      `The text has ${text.length.toLocaleString("en")} characters, and this room reads ${maxCharacters.toLocaleString("en")} at most.`,
    );
  const ids = tokenizer.idsOf(text);
  const { length } = ids;
  const { context, vocabulary } = card;
  if (length === 0) return refused("Type something: the text has no token.");
  if (length > context)
    return refused(
      `The text has ${length} tokens, and the model reads ${context} at most: leave out ${length - context}.`,
    );
  if (length > mostTokens)
    return refused(
      `The text has ${length} tokens, and this room shows ${mostTokens} at most: leave out ${length - mostTokens}.`,
    );
  const unknown = ids.find((id) => id >= vocabulary);
  if (unknown !== undefined)
    return refused(
      `The tokenizer does not belong to this model: it gives token ${unknown}, and the model knows ${vocabulary}.`,
    );
  return ids;
}

/** The first tokens of a target, of which the decoder predicts the next; none in other models. */
const startsOf = ({ model }: Open): readonly number[] =>
  "decode" in model ? model.config.startTokens : [];

/** The tokens that a model reads for a text. A model with a decoder also gets the text as its target. */
function readOf(open: Open, text: readonly number[]): Ids {
  if (!("decode" in open.model)) return { ids: text };
  return { ids: [...text, ...startsOf(open), ...text], sources: text.length };
}

/** Runs a function without the ablated heads. */
export function without<T>(open: Open, { ablated, ablation }: Ablated, run: () => T): Promise<T> {
  const { model, tokenizer, card } = open;
  const readReference = () => {
    const known = tokenizer.idsOf(referenceText).filter((id) => id < card.vocabulary);
    const most = Math.min(card.context, mostTokens) - startsOf(open).length;
    if (known.length > 0) readIn(model, readOf(open, known.slice(0, most)));
  };
  const heads = ablatedHeads(model, ablated.map(headAt), ablation, readReference);
  return withoutHeads(model, heads, run);
}

/** The pooled weights and the measures of all heads. */
function headsOf(model: ShownModel, read: Ids): ReadHead[] {
  return headByHead(model, read, (weights, name) => {
    const all = pooled(model.heed, weights);
    const data = weights.data as Float32Array;
    const [rows, columns] = weights.shape.slice(1) as [number, number];
    return all.map((small, head) => ({
      small,
      measures: patternsOf(viewOn(data, rows, columns, head * rows * columns), name !== "cross"),
    }));
  });
}

/** The target that the model writes for a source, after its start tokens. */
async function targetOf(
  model: Seq2SeqLanguageModel,
  source: readonly number[],
  { kept: begun, length, temperature, topK, topP, seed }: ReadRequest,
  signal: AbortSignal,
): Promise<number[]> {
  const { context, startTokens, endTokens, vocabularySize } = model.config;
  const most = Math.min(context, mostTokens - source.length) - startTokens.length;
  const kept = begun.filter((id) => id < vocabularySize).slice(0, most);
  const maxLength = Math.min(length, most) - kept.length;
  if (maxLength <= 0 || endTokens.includes(kept.at(-1) as number)) return kept;
  const [written = []] = await model.generate([source], {
    ...{ maxLength, temperature, topP, seed, signal, ...(topK > 0 && { topK }) },
    startTokens: [...startTokens, ...kept],
  });
  return [...kept, ...written];
}

/** The text that the model writes after a text. */
async function writtenAfter(
  { model }: Open,
  given: readonly number[],
  request: ReadRequest,
  { pause, signal }: Context,
): Promise<number[]> {
  if ("decode" in model) return targetOf(model, given, request, signal);
  if (!("readOut" in model) || request.length === 0) return [];
  const { config } = model;
  const { temperature, topK, topP, seed } = request;
  const room = Math.min(config.context, mostTokens) - given.length;
  const kept = request.kept.filter((id) => id < config.vocabularySize);
  return continuation(
    model,
    given,
    {
      ...{ temperature, topK, topP, seed, kept },
      length: Math.min(request.length, room),
      endTokens: config.endTokens,
    },
    pause,
  );
}

export async function read(
  open: Open,
  request: ReadRequest,
  context: Context,
): Promise<ReadAnswer | Refused> {
  const begin = performance.now();
  const { card, model, tokenizer } = open;
  const given = idsOf(open, request.text);
  if ("why" in given) return given;
  const written = await writtenAfter(open, given, request, context);
  const starts = startsOf(open);
  const ids = [...given, ...starts, ...written];
  const { config } = model;
  const sources = config.kind === "seq2seq" ? given.length : 0;
  const target = tokenizer.tokensOf(ids.slice(sources));
  // The page names the token with which every target begins.
  if (sources > 0) target[0] = { ...(target[0] as ReadToken), piece: "start" };
  return {
    kind: "read",
    ...{ model: card.model, ids, sources, given: given.length + starts.length },
    tokens: [...tokenizer.tokensOf(ids.slice(0, sources)), ...target],
    text: `${sources > 0 ? `${tokenizer.textOf(given)} → ` : ""}${tokenizer.textOf(ids.slice(sources))}`,
    written: tokenizer.textOf(written),
    hasEnded: config.kind !== "masked" && config.endTokens.includes(written.at(-1) as number),
    heads: headsOf(model, { ids, sources }),
    milliseconds: performance.now() - begin,
  };
}

/** A place whose candidates are shown. */
interface Asked {
  readonly place: number;
  readonly isMask: boolean;
  /** The tokens that the model reads for this place. */
  readonly ids: readonly number[];
  /** The token of the text that is among its candidates. */
  readonly next: number | null;
}

/** The most masks whose candidates are shown. */
const mostMasks = 6;

/** The places to predict: after a token; each mask, and the token as if it were hidden; or the label. */
function askedOf({ card }: Open, { ids, sources = 0, place: wanted }: NextRequest): Asked[] {
  // Of a translation the first token of the target is the first that predicts another one.
  const place = Math.max(wanted, sources);
  const next = ids[place + 1] ?? null;
  if (card.predicts !== "masked")
    return [{ place, isMask: false, ids: ids.slice(0, place + 1), next }];
  const { mask, classifier } = card;
  if (classifier) return [{ place, isMask: false, ids, next: null }];
  if (!mask) return [];
  const masks = ids.flatMap((id, place) =>
    id === mask.id ? [{ place, isMask: true, ids, next: null }] : [],
  );
  if (ids[place] === mask.id) return masks.slice(0, mostMasks);
  const hidden = ids.map((id, i) => (i === place ? mask.id : id));
  const own = { place, isMask: false, ids: hidden, next: ids[place] as number };
  return [...masks.slice(0, mostMasks), own];
}

/** The logits [1, 1, V] at each place, or [1, V] of a text. */
function logitsOf(model: ShownModel, asked: readonly Asked[], { sources }: NextRequest): Tensor[] {
  const { heed } = model;
  const texts = [...new Set(asked.map(({ ids }) => ids))];
  return heed.scope(() =>
    texts.flatMap((ids) => {
      if ("decode" in model) return [lastLogits(model, { ids, ...(sources && { sources }) })];
      const tensor = idsTensor(heed, ids);
      if ("readOut" in model) return [model.forward(tensor, { onlyLast: true }).logits];
      const { logits } = model.forward(tensor, { needLogits: true });
      if (model.config.classifier?.task === "sequence") return [logits];
      const places = asked.filter((each) => each.ids === ids).map(({ place }) => place);
      return places.map((start) =>
        heed.multiply(heed.slice(logits, { axis: 1, start, length: 1 }), 1),
      );
    }),
  );
}

/** Sorts logits, the largest first, and frees them. */
async function sortedOf(
  { model, card }: Open,
  all: readonly Tensor[],
  pause: () => Promise<void>,
): Promise<SortedLogits[]> {
  const { heed } = model;
  const areSeparate = card.classifier?.problem === "multiple";
  const found: SortedLogits[] = [];
  try {
    for (const logits of all) {
      heed.scope(() => {
        const { values, indices } = heed.topK(logits, logits.size);
        const ids = indices.data.slice() as Int32Array;
        found.push({ values: values.data.slice() as Float32Array, ids, areSeparate });
      });
      await pause();
    }
  } finally {
    for (const logits of all) logits.dispose();
  }
  return found;
}

export async function next(
  open: Open,
  request: NextRequest,
  { pause }: Context,
): Promise<NextAnswer> {
  const { model, tokenizer, card } = open;
  const labels = card.classifier?.labels;
  const pieceOf = (id: number) => labels?.[id] ?? tokenizer.pieceOf(id);
  const { temperature, topK, topP, ablated, ablation } = request;
  const sampling =
    card.predicts === "masked" ? { temperature: 1, topK: 0, topP: 1 } : { temperature, topK, topP };
  const asked = askedOf(open, request);
  const rows = await sortedOf(open, logitsOf(model, asked, request), pause);
  const logits =
    ablated.length > 0 ? await without(open, request, () => logitsOf(model, asked, request)) : [];
  const others = await sortedOf(open, logits, pause);
  const tables = asked.map(({ place, isMask, next }, i): CandidatesAt => {
    const candidates = candidatesOf(rows[i] as SortedLogits, sampling, next, request.most);
    const other = others[i] && insteadOf(candidates, others[i]);
    return {
      ...{ place, isMask, candidates },
      pieces: Array.from(candidates.ids, pieceOf),
      instead: other ? { ...other, bestPiece: pieceOf(other.best.id) } : null,
    };
  });
  return { kind: "next", ablated, ablation, tables };
}

/** The attention of all heads, with the ablated heads left out of the computation. */
export async function heads(open: Open, request: HeadsRequest): Promise<HeadsAnswer> {
  const run = () => headsOf(open.model, request);
  return { kind: "heads", heads: await without(open, request, run) };
}

function sharesWithout(
  open: Open,
  read: Ids,
  request: HeadRequest | OtherRequest,
): Promise<HeadShares> {
  const place = headPlaceOf(request.head) as HeadPlace;
  return without(open, request, () => sharesOfHead(open.model, read, place));
}

export async function head(open: Open, request: HeadRequest): Promise<HeadAnswer> {
  return { kind: "head", shares: await sharesWithout(open, request, request) };
}

/** The similarity of two texts without the ablated heads, as the model compares its vectors of them. */
async function similarityOf(
  open: Open,
  texts: readonly string[],
  ablated: Ablated,
): Promise<number> {
  const { model, tokenizer } = open;
  // `embed` computes a single text before its first pause, so no other request sees the ablated heads.
  const begun = await without(open, ablated, () =>
    texts.map((each) => embed(model, tokenizer, [each])),
  );
  const vectors = await Promise.all(begun);
  const found = similarity(model, ...(vectors as [Tensor, Tensor]));
  const [value] = found.data as Float32Array;
  for (const each of [...vectors, found]) each.dispose();
  return value as number;
}

/** The similarity of a text to the first one, with all heads and without the ablated ones. */
async function similaritiesIn(open: Open, request: OtherRequest): Promise<number[]> {
  const { first, text, ablated, ablation } = request;
  if (first === null || !open.card.compares || "why" in idsOf(open, first)) return [];
  const whole = await similarityOf(open, [first, text], { ablated: [], ablation });
  return ablated.length === 0 ? [whole] : [whole, await similarityOf(open, [first, text], request)];
}

export async function other(open: Open, request: OtherRequest): Promise<OtherAnswer | Refused> {
  const ids = idsOf(open, request.text);
  if ("why" in ids) return ids;
  const { head, ablated, ablation } = request;
  return {
    ...{ kind: "other", head, ablated, ablation, text: open.tokenizer.textOf(ids) },
    tokens: open.tokenizer.tokensOf(ids),
    shares: await sharesWithout(open, readOf(open, ids), request),
    similarities: await similaritiesIn(open, request),
  };
}
