/** The page's side of a text: has the model read it, and asks for the selected head and for candidates. */
import { useMemo, useRef } from "preact/hooks";
import type { Ablated } from "../../../shared/ablation";
import type { Attention } from "../../../shared/attended";
import { type HeadKey, type HeadPlace, headPlaceOf } from "../../../shared/layerHeads";
import { label } from "../../../shared/pieces";
import { useAnswer } from "../../../worker/engineClient";
import type { Ids } from "../../../worker/languageHeads";
import { measuredTokens } from "./kinds";
import type {
  Card,
  HeadRequest,
  HeadsRequest,
  LanguageAnswer,
  NextRequest,
  OtherAnswer,
  OtherRequest,
  ReadAnswer,
  ReadRequest,
  SimilarityRequest,
} from "./messages";
import { firstText, line, ourFirstText, type State } from "./state";
import type { ShownHead, Span } from "./workspace";

/** The time after which a running request is cancelled for a newer one, in milliseconds. */
const patience = 600;

export function isHeadOf({ attentions }: Card, key: HeadKey): boolean {
  const place = headPlaceOf(key);
  if (!place) return false;
  const own = attentions.find(({ name }) => name === place.name);
  return own !== undefined && place.layer < own.layers && place.head < own.heads;
}

/** The selected head, or the one that attends most to the token before; of a translation the one with the largest weights. */
function headOf(card: Card, answer: ReadAnswer, wanted: HeadKey | null): HeadKey {
  if (wanted !== null && isHeadOf(card, wanted)) return wanted;
  const score = ({ key, measures }: ReadAnswer["heads"][number]) =>
    (card.predicts !== "seq2seq"
      ? measures.previous
      : headPlaceOf(key)?.name === "cross" && measures.largest) || 0;
  return answer.heads.reduce((best, head) => (score(head) > score(best) ? head : best)).key;
}

/** The selected token, or the first mask, or the last token that was typed, among the tokens of the rows. */
function placeOf({ mask }: Card, answer: ReadAnswer, wanted: number | null, rows: Span): number {
  const last = rows.start + rows.count - 1;
  // The token of a link may not be a row of the selected head.
  if (wanted !== null && wanted >= rows.start) return Math.min(wanted, last);
  const masked = mask ? answer.ids.indexOf(mask.id) : -1;
  return masked >= 0 ? masked : Math.min(answer.given - 1, last);
}

const firstTextOf = ({ whose, predicts, mask, architecture }: Card) =>
  whose === "ours" ? ourFirstText : firstText(predicts, mask?.text ?? null, architecture);

/** The tokens of a head's rows and of its columns. */
function spansOf(ids: number, sources: number, key: HeadKey): Record<"rows" | "columns", Span> {
  const { name } = headPlaceOf(key) as HeadPlace;
  const source = { start: 0, count: sources };
  const target = { start: sources, count: ids - sources };
  return {
    rows: name === "encoder" ? source : target,
    columns: name === "encoder" || name === "cross" ? source : target,
  };
}

/** The numbers of one head over a text of the open model. */
export function shownHead(
  { predicts, scales, softcap, windows, hasDistances }: Card,
  { tokens, shares }: Pick<OtherAnswer, "tokens" | "shares">,
  head: HeadKey,
  sources = 0,
): ShownHead {
  const { name = predicts === "causal" ? "decoder" : "encoder", layer } = headPlaceOf(
    head,
  ) as HeadPlace;
  const labels = tokens.map(({ piece }) => label(piece));
  const spans = spansOf(tokens.length, sources, head);
  const [columns, own] = [spans.columns, spans.rows].map(({ start, count }) =>
    labels.slice(start, start + count),
  ) as [string[], string[]];
  // A row of a target is also named by the token that it predicts.
  const rows =
    sources === 0 || name === "encoder"
      ? own
      : own.map((row, i) => (i + 1 < own.length ? `${own[i + 1]} after ${row}` : row));
  const scale = scales[layer];
  const attention: Attention = {
    ...{ path: head, name, layer, heads: 1, isCausal: name === "decoder", rows, columns },
    ...(scale !== undefined && { scale }),
    ...(softcap !== null && { softcap }),
    hasDistances: hasDistances && name !== "cross",
  };
  return { attention, shares, spans, window: windows[layer] ?? null };
}

const solver = "language";

/** The last value of an owner. It stays in view, so that nothing moves while the next one is computed. */
function useLast<T>(owner: unknown, value: T | null): T | null {
  const last = useRef<{ owner: unknown; value: T } | null>(null);
  if (value !== null) last.current = { owner, value };
  return last.current?.owner === owner ? (last.current?.value ?? null) : null;
}

/** Has the model read the text. The last text stays in view while the next one is read, or while it cannot be read. */
function useRead(state: State, card: Card | null, text: string | null) {
  const { from, to, temperature, topK, topP, seed, kept } = state;
  // A translation is written whole.
  const length = card?.predicts === "seq2seq" ? Math.max(line, state.length) : state.length;
  const request = useMemo<ReadRequest | null>(
    () =>
      card && text !== null
        ? {
            ...{ kind: "read", model: card.model, text, from, to },
            ...{ temperature, topK, topP, seed, length, kept },
          }
        : null,
    [card, text, from, to, temperature, topK, topP, seed, length, kept.join()],
  );
  const { answer: found, request: asked, isBusy, failure } = useAnswer(solver, request, patience);
  const isAsked =
    asked?.kind !== "read" || (asked.text === text && asked.from === from && asked.to === to);
  const isOfModel = found?.kind === "read" && found.model === card?.model;
  const answer = useLast(card?.model, isOfModel ? found : null);
  return {
    ...{ answer, isBusy, failure },
    /** Why the present text cannot be read. */
    why: found?.kind === "refused" ? found.why : null,
    /** Whether the answer is about another text or language than the present one. */
    isStale: answer !== null && !isAsked,
  };
}

type TextRequest = NextRequest | HeadsRequest | HeadRequest;
type About<Kind, Message> = Extract<Message, { kind: Kind }>;

/**
 * Asks about the text that the model has read; `found` answers `asked`, and both are null while only an answer about
 * another text is there.
 *
 * @param more the rest of the request; null asks nothing
 * @param deps the values that `more` depends on
 */
function useAboutText<Kind extends TextRequest["kind"]>(
  kind: Kind,
  answer: ReadAnswer | null,
  more: Omit<About<Kind, TextRequest>, "kind" | "model" | keyof Ids> | null,
  deps: readonly unknown[],
  wait?: number,
) {
  const request = useMemo(
    () =>
      answer &&
      more &&
      ({
        ...{ kind, model: answer.model, ids: answer.ids, sources: answer.sources },
        ...more,
      } as TextRequest),
    [answer, ...deps],
  );
  const { answer: found, request: asked, failure } = useAnswer(solver, request, wait);
  const isOwn = found?.kind === kind && asked?.kind === kind && asked.ids === answer?.ids;
  return {
    found: isOwn ? (found as About<Kind, LanguageAnswer>) : null,
    asked: isOwn ? (asked as About<Kind, TextRequest>) : null,
    failure,
  };
}

interface Which {
  readonly head: HeadKey | null;
  readonly ablating: Ablated;
}

/** The selected head. */
function useHead(card: Card | null, answer: ReadAnswer | null, { head, ablating }: Which) {
  const more = head === null ? null : { head, ...ablating };
  const { found, asked, failure } = useAboutText("head", answer, more, [head, ablating]);
  const shown = useMemo(
    () =>
      card && answer && found && asked
        ? shownHead(
            card,
            { tokens: answer.tokens, shares: found.shares },
            asked.head,
            answer.sources,
          )
        : null,
    [found, asked, card, answer],
  );
  return { shown: useLast(answer?.model, shown), failure };
}

/** The selected head on another text. */
function useOther(other: string | null, answer: ReadAnswer | null, { head, ablating }: Which) {
  const model = answer?.model;
  const request = useMemo<OtherRequest | null>(
    () =>
      model !== undefined && head && other !== null
        ? { kind: "other", model, text: other, head, ...ablating }
        : null,
    [model, head, other, ablating],
  );
  const { answer: found, failure } = useAnswer(solver, request, patience);
  return {
    other: found?.kind === "other" ? found : null,
    whyNotOther: found?.kind === "refused" ? found.why : null,
    failure,
  };
}

/** How similar two texts are to a model that compares texts; null until it is computed. */
function useSimilarity(
  card: Card | null,
  text: string | null,
  other: string | null,
  ablating: Ablated,
) {
  const model = card?.compares && card.model;
  const request = useMemo<SimilarityRequest | null>(
    () =>
      typeof model === "number" && text !== null && other !== null
        ? { kind: "similarity", model, texts: [text, other], ...ablating }
        : null,
    [model, text, other, ablating],
  );
  const { answer: found, request: asked, failure } = useAnswer(solver, request, patience);
  const isPresent = found?.kind === "similarity" && asked === request;
  return { similarity: isPresent ? found : null, failure };
}

/** The kind of each head; null until it is measured, and for models without kinds. */
function useKinds(card: Card | null, answer: ReadAnswer | null) {
  const applies = card?.predicts === "causal" && card.context >= measuredTokens;
  const model = applies && answer?.model === card.model ? card.model : null;
  const request = useMemo(
    () => (model === null ? null : ({ kind: "kinds", model } as const)),
    [model],
  );
  const { answer: kinds, failure } = useAnswer(solver, request);
  return { kinds: kinds?.kind === "kinds" ? kinds : null, failure };
}

export function useReading(state: State, card: Card | null) {
  const text = card && (state.text ?? firstTextOf(card));
  const reading = useRead(state, card, text);
  const { answer, why } = reading;
  // A link may name heads that the model does not have.
  const { ablation } = state;
  const ablating = useMemo<Ablated>(
    () => ({
      ablated: card ? state.ablated.filter((key) => isHeadOf(card, key)) : [],
      ablation,
    }),
    [card, state.ablated, ablation],
  );
  const head = card && answer ? headOf(card, answer, state.head) : null;
  const { rows } = spansOf(answer?.ids.length ?? 1, answer?.sources ?? 0, head ?? "1.1");
  const place = card && answer ? placeOf(card, answer, state.place, rows) : 0;
  const left = ablating.ablated.length > 0 ? ablating : null;
  const without = useAboutText("heads", answer, left, [ablating], patience);
  const { temperature, topK, topP } = state;
  const drawing = { place, temperature, topK, topP, ...ablating };
  const following = useAboutText("next", answer, drawing, Object.values(drawing), patience);
  const next = useLast(answer, following.found);
  const attending = useHead(card, answer, { head, ablating });
  const other = card?.predicts === "seq2seq" ? null : state.other;
  const comparing = useOther(other, answer, { head, ablating });
  const resembling = useSimilarity(card, text, comparing.other && other, ablating);
  const measuring = useKinds(card, answer);
  const answers = [reading, without, following, attending, comparing, resembling, measuring];
  return {
    ...{ text, answer, rows, place, head, ablating },
    ...{ heads: without.found?.heads ?? answer?.heads ?? [], shown: attending.shown, next },
    ...{ kinds: measuring.kinds, other: comparing.other, whyNotOther: comparing.whyNotOther },
    similarity: resembling.similarity,
    ...{ isBusy: reading.isBusy, isStale: reading.isStale, isUnread: why !== null },
    failures: [why, ...answers.map(({ failure }) => failure)].filter((each) => each !== null),
  };
}
