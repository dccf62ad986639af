/** Reads texts with the person's model: its tokens, its heads, and what may come next. */
import type { Heed, Tensor } from "heed";
import type { CausalLanguageModel, MaskedLanguageModel } from "heed/models";
import { candidatesOf, type Sampling, type SortedLogits } from "../../shared/candidates";
import { patternsOf } from "../../shared/headMeasures";
import { type HeadPlace, headKey, headPlaceOf } from "../../shared/layerHeads";
import { continuation } from "../../worker/continuation";
import {
  idsTensor,
  type LanguageModel,
  layerByLayer,
  pooled,
  readIn,
  sharesOfHead,
  smallWeightsOf,
} from "../../worker/languageHeads";
import type { SolverContext } from "../../worker/solver";
import { sortedLogits } from "../../worker/sortedLogits";
import type {
  CandidatesAt,
  News,
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
import { mostTokens } from "./state";

type Context = SolverContext<News>;

const refused = (why: string): Refused => ({ kind: "refused", why });

/** The tokens of a text, or why they cannot be read. */
function idsOf({ card, tokenizer }: Open, text: string): number[] | Refused {
  const { ids } = tokenizer.encode(text);
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

/** The pooled weights and the measures of all heads. */
function headsOf(model: LanguageModel, ids: readonly number[]): ReadHead[] {
  const { heed, config } = model;
  const { heads } = config;
  const [rows, columns] = [ids.length, ids.length];
  const size = rows * columns;
  const keep = (weights: Tensor) => {
    const data = weights.data as Float32Array;
    const measures = Array.from({ length: heads }, (_, head) =>
      patternsOf({ weights: data.subarray(head * size, (head + 1) * size), rows, columns }, true),
    );
    return { measures, small: pooled(heed, weights) };
  };
  const { kept } = layerByLayer(model, keep, () => readIn(model, ids));
  const small = smallWeightsOf(
    kept.map((layer) => layer.small),
    heads,
  );
  return kept.flatMap(({ measures }, layer) =>
    measures.map((own, head) => ({
      key: headKey({ layer, head }),
      small: (small[layer * heads + head] as (typeof small)[number]).weights,
      measures: own,
    })),
  );
}

/** What the model writes after a text. */
async function writtenAfter(
  { model }: Open,
  given: readonly number[],
  request: ReadRequest,
  { pause }: Context,
): Promise<number[]> {
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
  const ids = [...given, ...written];
  return {
    kind: "read",
    ...{ model: card.model, ids, given: given.length },
    tokens: tokenizer.tokensOf(ids),
    written: tokenizer
      .tokensOf(written)
      .map(({ piece }) => piece)
      .join(""),
    hasEnded: "readOut" in model && model.config.endTokens.includes(written.at(-1) as number),
    heads: headsOf(model, ids),
    milliseconds: performance.now() - begin,
  };
}

/** The logits [1, 1, V] at a place, sorted; frees them. */
async function firstOf(
  heed: Heed,
  logits: Tensor,
  pause: () => Promise<void>,
): Promise<SortedLogits> {
  try {
    for await (const row of sortedLogits(heed, logits, pause)) return row;
  } finally {
    logits.dispose();
  }
  throw new RangeError("there are no logits");
}

/** What may follow the token at a place. */
async function after(
  model: CausalLanguageModel,
  { ids, place, ...sampling }: Pick<NextRequest, "ids" | "place"> & Sampling,
  pause: () => Promise<void>,
) {
  const { heed } = model;
  const logits = heed.scope(
    () => model.forward(idsTensor(heed, ids.slice(0, place + 1)), { onlyLast: true }).logits,
  );
  return candidatesOf(await firstOf(heed, logits, pause), sampling, ids[place + 1] ?? null);
}

/** What the model would put in some places. */
async function inPlaces(
  model: MaskedLanguageModel,
  ids: readonly number[],
  places: readonly number[],
  pause: () => Promise<void>,
) {
  const { heed } = model;
  const rows = heed.scope(() => {
    const { logits } = model.forward(idsTensor(heed, ids), { needLogits: true });
    return places.map((start) =>
      heed.multiply(heed.slice(logits, { axis: 1, start, length: 1 }), 1),
    );
  });
  const found: SortedLogits[] = [];
  for (const row of rows) found.push(await firstOf(heed, row, pause));
  return found;
}

/** The most masks whose candidates are shown. */
const mostMasks = 6;

export async function next(
  { card, model, tokenizer }: Open,
  request: NextRequest,
  { pause }: Context,
): Promise<NextAnswer> {
  const { ids, place } = request;
  const { temperature, topK, topP } = request;
  const sampling = { temperature, topK, topP };
  const table = (place: number, isMask: boolean, candidates: CandidatesAt["candidates"]) => ({
    ...{ place, isMask, candidates },
    pieces: Array.from(candidates.ids, (id) => tokenizer.pieceOf(id)),
  });
  if ("readOut" in model)
    return {
      kind: "next",
      tables: [table(place, false, await after(model, { ids, place, ...sampling }, pause))],
    };
  const { mask } = card;
  if (!mask) return { kind: "next", tables: [] };
  const plain = { temperature: 1, topK: 0, topP: 1 };
  const masks = ids.flatMap((id, i) => (id === mask.id ? [i] : [])).slice(0, mostMasks);
  const filled = await inPlaces(model, ids, masks, pause);
  const tables = filled.map((row, i) =>
    table(masks[i] as number, true, candidatesOf(row, plain, null)),
  );
  if (ids[place] !== mask.id) {
    const hidden = ids.map((id, i) => (i === place ? mask.id : id));
    const [row] = await inPlaces(model, hidden, [place], pause);
    if (row) tables.push(table(place, false, candidatesOf(row, plain, ids[place] as number)));
  }
  return { kind: "next", tables };
}

export function other(open: Open, { text, head }: OtherRequest): OtherAnswer | Refused {
  const ids = idsOf(open, text);
  if ("why" in ids) return ids;
  return {
    ...{ kind: "other", head },
    tokens: open.tokenizer.tokensOf(ids),
    shares: sharesOfHead(open.model, ids, headPlaceOf(head) as HeadPlace),
  };
}
