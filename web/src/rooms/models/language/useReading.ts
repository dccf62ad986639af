/** The page's side of a text: has the model read it, and asks for the selected head and for candidates. */
import { useMemo, useRef } from "preact/hooks";
import type { Ablated } from "../../../shared/ablation";
import { attentionOf, type HeadKey, headPlaceOf } from "../../../shared/layerHeads";
import { useAnswer } from "../../../worker/engineClient";
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
} from "./messages";
import { firstText, type State } from "./state";
import type { ShownHead } from "./workspace";

/** The time after which a running request is cancelled for a newer one, in milliseconds. */
const patience = 600;

function isHeadOf({ layers, heads }: Card, key: HeadKey): boolean {
  const place = headPlaceOf(key);
  return place !== null && place.layer < layers && place.head < heads;
}

/** The selected head, or the one that attends most to the token before. */
function headOf(card: Card, answer: ReadAnswer, wanted: HeadKey | null): HeadKey {
  if (wanted !== null && isHeadOf(card, wanted)) return wanted;
  const score = (head: ReadAnswer["heads"][number]) => head.measures.previous ?? 0;
  return answer.heads.reduce((best, head) => (score(head) > score(best) ? head : best)).key;
}

/** The selected token, or the first mask, or the last token that was typed. */
function placeOf({ mask }: Card, { ids, given }: ReadAnswer, wanted: number | null): number {
  if (wanted !== null) return Math.min(wanted, ids.length - 1);
  const masked = mask ? ids.indexOf(mask.id) : -1;
  return masked >= 0 ? masked : given - 1;
}

const firstTextOf = ({ whose, predicts, mask }: Card) =>
  firstText(whose === "ours", predicts, mask?.text ?? null);

/** The numbers of one head over a text of the open model. */
export function shownHead(
  { predicts, scales, softcap, windows }: Card,
  { tokens, shares }: Pick<OtherAnswer, "tokens" | "shares">,
  head: HeadKey,
): ShownHead {
  const pieces = tokens.map(({ piece }) => piece);
  const { layer } = headPlaceOf(head) as { layer: number };
  const attention = attentionOf(pieces, head, predicts === "causal");
  const scale = scales[layer];
  return {
    attention: {
      ...attention,
      ...(scale !== undefined && { scale }),
      ...(softcap !== null && { softcap }),
    },
    ...{ shares, window: windows[layer] ?? null },
  };
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
  const { temperature, topK, topP, seed, length, kept } = state;
  const request = useMemo<ReadRequest | null>(
    () =>
      card && text !== null
        ? {
            ...{ kind: "read", model: card.model, text },
            ...{ temperature, topK, topP, seed, length, kept },
          }
        : null,
    [card, text, temperature, topK, topP, seed, length, kept.join()],
  );
  const { answer: found, request: asked, isBusy, failure } = useAnswer(solver, request, patience);
  const isOfModel = found?.kind === "read" && found.model === card?.model;
  const answer = useLast(card?.model, isOfModel ? found : null);
  return {
    ...{ answer, isBusy, failure },
    /** Why the present text cannot be read. */
    why: found?.kind === "refused" ? found.why : null,
    /** Whether the answer is about another text than the present one. */
    isStale: answer !== null && asked?.kind === "read" && asked.text !== text,
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
  more: Omit<About<Kind, TextRequest>, "kind" | "model" | "ids"> | null,
  deps: readonly unknown[],
  wait?: number,
) {
  const request = useMemo(
    () =>
      answer && more && ({ kind, model: answer.model, ids: answer.ids, ...more } as TextRequest),
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
        ? shownHead(card, { tokens: answer.tokens, shares: found.shares }, asked.head)
        : null,
    [found, asked, card, answer],
  );
  return { shown: useLast(answer?.model, shown), failure };
}

/**
 * The selected head on another text.
 *
 * @param first the text to compare its vector with; null for none
 */
function useOther(
  other: string | null,
  first: string | null,
  answer: ReadAnswer | null,
  { head, ablating }: Which,
) {
  const model = answer?.model;
  const request = useMemo<OtherRequest | null>(
    () =>
      model !== undefined && head && other !== null
        ? { kind: "other", model, text: other, first, head, ...ablating }
        : null,
    [model, head, other, first, ablating],
  );
  const { answer: found, failure } = useAnswer(solver, request, patience);
  return {
    other: found?.kind === "other" ? found : null,
    whyNotOther: found?.kind === "refused" ? found.why : null,
    failure,
  };
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
  const place = card && answer ? placeOf(card, answer, state.place) : 0;
  const head = card && answer ? headOf(card, answer, state.head) : null;
  const left = ablating.ablated.length > 0 ? ablating : null;
  const without = useAboutText("heads", answer, left, [ablating], patience);
  const { temperature, topK, topP } = state;
  const drawing = { place, temperature, topK, topP, ...ablating };
  const following = useAboutText("next", answer, drawing, Object.values(drawing), patience);
  const next = useLast(answer, following.found);
  const attending = useHead(card, answer, { head, ablating });
  const comparing = useOther(state.other, card?.compares ? text : null, answer, { head, ablating });
  const measuring = useKinds(card, answer);
  const answers = [reading, without, following, attending, comparing, measuring];
  return {
    ...{ text, answer, place, head, ablating },
    ...{ heads: without.found?.heads ?? answer?.heads ?? [], shown: attending.shown, next },
    ...{ kinds: measuring.kinds, other: comparing.other, whyNotOther: comparing.whyNotOther },
    ...{ isBusy: reading.isBusy, isStale: reading.isStale, isUnread: why !== null },
    failures: [why, ...answers.map(({ failure }) => failure)].filter((each) => each !== null),
  };
}
