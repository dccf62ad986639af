/** Selects the numbers that the page shows from the answers that have arrived. */
import { useMemo, useRef } from "preact/hooks";
import type { Facts } from "./facts";
import type { LayerMatrices, MatricesAnswer, NetworkAnswer } from "./messages";

interface Answered<Answer> {
  readonly answer: Answer | null;
  readonly request: object | null;
}

type AnyAnswer = NetworkAnswer | MatricesAnswer | { readonly kind: string };

/** The matrices of a layer, if the answer belongs to the latest request. */
export function matricesIn(
  { answer, request: asked }: Answered<AnyAnswer>,
  request: object | null,
): LayerMatrices | null {
  const isOwn = request !== null && asked === request && answer?.kind === "matrices";
  return isOwn ? (answer as MatricesAnswer).matrices : null;
}

interface Text {
  /** All tokens of the text, and their labels. */
  readonly ids: readonly number[];
  readonly tokens: readonly string[];
}

/** The latest trace, which stays in view while the next one is computed. */
export function useFacts(
  { answer, request }: Answered<AnyAnswer>,
  { ids, tokens }: Text,
  matrices: LayerMatrices | null,
): Facts | null {
  const last = useRef<{ answer: NetworkAnswer; tokens: readonly string[] } | null>(null);
  if (answer?.kind === "network" && request && last.current?.answer !== answer) {
    const { ids: asked } = request as { ids: readonly number[] };
    // Ignores an answer about a text that has changed since.
    if (asked.every((id, i) => id === ids[i]))
      last.current = { answer: answer as NetworkAnswer, tokens: tokens.slice(0, asked.length) };
  }
  const kept = last.current;
  return useMemo<Facts | null>(
    () =>
      kept && {
        ...{ numbers: kept.answer.numbers, matrices, sources: [], tokens: kept.tokens },
        place: kept.tokens.length - 1,
      },
    [kept, matrices],
  );
}
