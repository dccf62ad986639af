/** Reads texts with a language model: its tokens, its heads, and the candidates for the next token. */

import type { Tensor } from "heed";
import { embed, similarity as similarityIn, withoutHeads } from "heed/models";
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
  SimilarityAnswer,
  SimilarityRequest,
} from "./messages";
import type { Open } from "./model";
import { line, maxCharacters, mostTokens, referenceText } from "./state";

type Context = SolverContext<News>;

const refused = (why: string): Refused => ({ kind: "refused", why });

/** The tokens of a text, or why they cannot be read. */
function idsOf(open: Open, text: string, to: string | null = null): number[] | Refused {
  const { card, tokenizer } = open;
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
  // There is room for an answer.
  const most =
    card.predicts === "seq2seq" ? mostTokens - startsOf(open, to).length - line : mostTokens;
  if (length > most)
    return refused(
      `The text has ${length} tokens, and this room shows ${most} at most: leave out ${length - most}.`,
    );
  const unknown = ids.find((id) => id >= vocabulary);
  if (unknown !== undefined)
    return refused(
      `The tokenizer does not belong to this model: it gives token ${unknown}, and the model knows ${vocabulary}.`,
    );
  return ids;
}

/** The token of a language; undefined for null, and for one that the model does not have. */
const languageId = ({ card, tokenizer }: Open, language: string | null): number | undefined =>
  language !== null && card.languages.includes(language)
    ? tokenizer.languages.get(language)
    : undefined;

/** The tokens of a text, with a language in place of the one that the tokenizer puts before or after them. */
function readFrom(open: Open, ids: readonly number[], from: string | null): readonly number[] {
  const id = languageId(open, from);
  const own = open.tokenizer.ownLanguage;
  if (id === undefined || own === null) return ids;
  const at = ids[own.start] === own.id ? own.start : ids.length + own.end;
  return ids.map((each, i) => (i === at && each === own.id ? id : each));
}

/**
 * The first tokens of a target, of which the decoder predicts the next; none in other models.
 *
 * @param to the language to write, whose token is among them or the last one
 */
function startsOf(open: Open, to: string | null = null): readonly number[] {
  const { model, tokenizer } = open;
  if (!("decode" in model)) return [];
  const { startTokens } = model.config;
  const id = languageId(open, to);
  if (id === undefined) return startTokens;
  const all = [...tokenizer.languages.values()];
  const starts = startTokens.map((each) => (all.includes(each) ? id : each));
  return starts.includes(id) ? starts : [...starts, id];
}

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

/** The text that the model writes after a text, or after the start tokens of its target. */
async function writtenAfter(
  open: Open,
  given: readonly number[],
  request: ReadRequest,
  { pause }: Context,
): Promise<number[]> {
  const { model } = open;
  if (!("readOut" in model || "decode" in model) || request.length === 0) return [];
  const { context, vocabularySize, endTokens } = model.config;
  const { temperature, topK, topP, seed } = request;
  const [source, begun] = "decode" in model ? [given, startsOf(open, request.to)] : [[], given];
  const room = Math.min(context, mostTokens - source.length) - begun.length;
  const kept = request.kept.filter((id) => id < vocabularySize);
  return continuation(
    model,
    begun,
    {
      ...{ temperature, topK, topP, seed, kept, source, endTokens },
      length: Math.min(request.length, room),
    },
    pause,
  );
}

/** The text of tokens, without special ones such as the end. */
const plainText = (tokens: readonly ReadToken[]) =>
  tokens.flatMap(({ piece, isSpecial }) => (isSpecial ? [] : piece)).join("");

export async function read(
  open: Open,
  request: ReadRequest,
  context: Context,
): Promise<ReadAnswer | Refused> {
  const begin = performance.now();
  const { card, model, tokenizer } = open;
  const typed = idsOf(open, request.text, request.to);
  if ("why" in typed) return typed;
  const given = readFrom(open, typed, request.from);
  const { kind } = model.config;
  const written = await writtenAfter(open, given, request, context);
  const starts = startsOf(open, request.to);
  const ids = [...given, ...starts, ...written];
  const { config } = model;
  const sources = kind === "seq2seq" ? given.length : 0;
  const [source, target] = [ids.slice(0, sources), ids.slice(sources)].map((part) =>
    tokenizer.tokensOf(part),
  ) as [ReadToken[], ReadToken[]];
  const answer = plainText(target.slice(starts.length));
  // The page names the token with which every target begins.
  if (sources > 0) target[0] = { ...(target[0] as ReadToken), piece: "start", isSpecial: true };
  return {
    kind: "read",
    ...{ model: card.model, ids, sources, given: given.length + starts.length },
    tokens: [...source, ...target],
    ...(sources > 0
      ? { text: `${plainText(source)} → ${answer}`, written: answer }
      : { text: tokenizer.textOf(ids), written: tokenizer.textOf(written) }),
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
  if (card.writes) return [{ place, isMask: false, ids: ids.slice(0, place + 1), next }];
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
      if ("decode" in model) return [lastLogits(model, { ids, sources: sources ?? 0 })];
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
  const found = similarityIn(model, ...(vectors as [Tensor, Tensor]));
  const [value] = found.data as Float32Array;
  for (const each of [...vectors, found]) each.dispose();
  return value as number;
}

export async function similarity(
  open: Open,
  request: SimilarityRequest,
): Promise<SimilarityAnswer> {
  const { texts, ablated, ablation } = request;
  const all = await similarityOf(open, texts, { ablated: [], ablation });
  return {
    ...{ kind: "similarity", ablated, ablation, all },
    without: ablated.length > 0 ? await similarityOf(open, texts, request) : null,
  };
}

export async function other(open: Open, request: OtherRequest): Promise<OtherAnswer | Refused> {
  const ids = idsOf(open, request.text);
  if ("why" in ids) return ids;
  return {
    ...{ kind: "other", head: request.head, text: open.tokenizer.textOf(ids) },
    tokens: open.tokenizer.tokensOf(ids),
    shares: await sharesWithout(open, { ids }, request),
  };
}
