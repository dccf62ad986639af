/** The numbers of the whole network, asked for only while its panel is in view. */
import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type HeadPlace, headPlaceOf } from "../../../shared/layerHeads";
import { label } from "../../../shared/pieces";
import { useAnswer } from "../../../worker/engineClient";
import { baseOf } from "../useWriting";
import { useWriteWorkspace } from "../workspace";
import type { NetworkAnswer, NetworkRequest, WeightsAnswer, WeightsRequest } from "./messages";

/** A panel is computed a little before it comes into view. */
const margin = "200px";

export function useInView<T extends HTMLElement>(): [RefObject<T | null>, boolean] {
  const ref = useRef<T>(null);
  const [isIn, setIsIn] = useState(false);
  useEffect(() => {
    if (!ref.current) return;
    const look = ([entry]: IntersectionObserverEntry[]) => setIsIn(entry?.isIntersecting ?? false);
    const observer = new IntersectionObserver(look, { rootMargin: margin });
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return [ref, isIn];
}

/** The way of one token that was computed. */
export interface Way {
  readonly answer: NetworkAnswer;
  /** All tokens up to it as labels. */
  readonly tokens: readonly string[];
  /** The weights of the open layer; null until they have come. */
  readonly weights: WeightsAnswer | null;
}

/** The layer that is open, counted from 0; null if none is. */
export function openLayerOf(row: number | null, layers: number): number | null {
  return row !== null && row >= 1 && row <= layers ? row - 1 : null;
}

/** The head that is shown in a layer: the selected one, or the one in its place. */
function headIn(layer: number | null, selected: string): HeadPlace | null {
  return layer === null ? null : { layer, head: (headPlaceOf(selected) as HeadPlace).head };
}

/** The weights of the open layer, which do not change. */
function useWeights(layer: number | null): WeightsAnswer | null {
  const request = useMemo<WeightsRequest | null>(
    () => (layer === null ? null : { kind: "weights", base: baseOf(), layer }),
    [layer],
  );
  const { answer } = useAnswer("write", request);
  return answer?.kind === "weights" && answer.layer === layer ? answer : null;
}

export function useNetwork(isSeen: boolean): { way: Way | null; failure: string | null } {
  const { state, opened, answer, place, head } = useWriteWorkspace();
  const { dropped } = state;
  const layer = openLayerOf(state.layer, opened.layers);
  const request = useMemo<NetworkRequest | null>(
    () =>
      isSeen
        ? {
            ...{ kind: "network", base: baseOf(), dropped },
            ids: answer.ids.slice(0, place + 1),
            head: headIn(layer, head),
          }
        : null,
    [isSeen, answer, place, dropped, layer, head],
  );
  const found = useAnswer("write", request);
  const weights = useWeights(isSeen ? layer : null);
  // The last way stays in view while the next one is computed.
  const last = useRef<Omit<Way, "weights"> | null>(null);
  const { answer: numbers, request: asked } = found;
  if (numbers?.kind === "network" && asked?.kind === "network" && last.current?.answer !== numbers)
    last.current = {
      answer: numbers,
      tokens: asked.ids.map((id) => label(opened.vocabulary[id] as string)),
    };
  const kept = last.current;
  const way = useMemo(() => kept && { ...kept, weights }, [kept, weights]);
  return { way, failure: found.failure };
}
