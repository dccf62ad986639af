/** The page's side of a text: has the model read it, and asks for the selected head and for candidates. */
import { useMemo, useRef } from "preact/hooks";
import { attentionOf, type HeadKey, headPlaceOf } from "../../../shared/layerHeads";
import { useAnswer } from "../../../worker/engineClient";
import type {
  Card,
  HeadRequest,
  HeadsRequest,
  NextAnswer,
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

/** The selected token, or the first mask, or the last token. */
function placeOf({ mask }: Card, { ids }: ReadAnswer, wanted: number | null): number {
  if (wanted !== null) return Math.min(wanted, ids.length - 1);
  const masked = mask ? ids.indexOf(mask.id) : -1;
  return masked >= 0 ? masked : ids.length - 1;
}

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

export function useReading(state: State, card: Card | null) {
  const { temperature, topK, topP, seed, length, kept } = state;
  const text = card && (state.text ?? firstText(card.predicts, card.mask?.text ?? null));
  const sampling = { temperature, topK, topP };
  const request = useMemo<ReadRequest | null>(
    () =>
      card && text !== null
        ? { kind: "read", model: card.model, text, ...sampling, seed, length, kept }
        : null,
    [card, text, temperature, topK, topP, seed, length, kept.join()],
  );
  const reading = useAnswer("yours", request, patience);
  // The last text stays in view while the next one is read, or while it cannot be read.
  const last = useRef<ReadAnswer | null>(null);
  if (reading.answer?.kind === "read") last.current = reading.answer;
  const answer = card && last.current?.model === card.model ? last.current : null;
  const why = reading.answer?.kind === "refused" ? reading.answer.why : null;

  // The text that was read differs from the present text.
  const isStale =
    answer !== null && reading.request?.kind === "read" && reading.request.text !== text;

  // A link may name heads that the model does not have.
  const dropped = useMemo(
    () => (card ? state.dropped.filter((key) => isHeadOf(card, key)) : []),
    [card, state.dropped],
  );
  const headsRequest = useMemo<HeadsRequest | null>(
    () =>
      answer && dropped.length > 0
        ? { kind: "heads", model: answer.model, ids: answer.ids, dropped }
        : null,
    [answer, dropped],
  );
  const without = useAnswer("yours", headsRequest, patience);
  const heads =
    without.answer?.kind === "heads" && without.request?.kind === "heads"
      ? without.request.ids === answer?.ids && without.answer.heads
      : null;

  const place = card && answer ? placeOf(card, answer, state.place) : 0;
  const nextRequest = useMemo<NextRequest | null>(
    () =>
      answer && { kind: "next", model: answer.model, ids: answer.ids, place, dropped, ...sampling },
    [answer, place, dropped, temperature, topK, topP],
  );
  const following = useAnswer("yours", nextRequest, patience);
  const lastNext = useRef<{ of: ReadAnswer; next: NextAnswer } | null>(null);
  const { answer: next, request: asked } = following;
  if (answer && next?.kind === "next" && asked?.kind === "next" && asked.ids === answer.ids)
    lastNext.current = { of: answer, next };

  const head = card && answer ? headOf(card, answer, state.head) : null;
  const headRequest = useMemo<HeadRequest | null>(
    () =>
      answer && head ? { kind: "head", model: answer.model, ids: answer.ids, head, dropped } : null,
    [answer, head, dropped],
  );
  const attending = useAnswer("yours", headRequest);
  const shown = useMemo<ShownHead | null>(() => {
    const { answer: found, request } = attending;
    if (!card || !answer || found?.kind !== "head" || request?.kind !== "head") return null;
    if (request.ids !== answer.ids) return null;
    return shownHead(card, { tokens: answer.tokens, shares: found.shares }, request.head);
  }, [attending.answer, attending.request, card, answer]);

  // The last head stays in view, too, so that nothing jumps while the next one is computed.
  const lastShown = useRef<{ model: number; shown: ShownHead } | null>(null);
  if (card && shown) lastShown.current = { model: card.model, shown };

  const { other } = state;
  const otherRequest = useMemo<OtherRequest | null>(
    () =>
      answer && head && other !== null
        ? { kind: "other", model: answer.model, text: other, head, dropped }
        : null,
    [answer?.model, head, other, dropped],
  );
  const comparing = useAnswer("yours", otherRequest, patience);
  const answered = [reading, without, following, attending, comparing];
  const failures = [why, ...answered.map(({ failure }) => failure)];
  return {
    ...{ text, answer, place, head, dropped },
    heads: heads || (answer?.heads ?? []),
    shown: lastShown.current?.model === answer?.model ? (lastShown.current?.shown ?? null) : null,
    next: lastNext.current?.of === answer ? (lastNext.current?.next ?? null) : null,
    other: comparing.answer?.kind === "other" ? comparing.answer : null,
    whyNotOther: comparing.answer?.kind === "refused" ? comparing.answer.why : null,
    isBusy: reading.isBusy,
    ...{ isStale, isUnread: why !== null },
    failures: failures.filter((each) => each !== null),
  };
}
