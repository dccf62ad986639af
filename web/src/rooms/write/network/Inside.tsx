/** What is inside of an open row of the network, and how the number that is pointed at came about. */
import { useMemo } from "preact/hooks";
import { Announced } from "../../../shared/Announced";
import { explanationText } from "../../../shared/explanation";
import { label } from "../../../shared/pieces";
import { Readout } from "../../../shared/Readout";
import { useWriteWorkspace } from "../workspace";
import { EmbeddingPart, LastPart } from "./EndParts";
import { explainEntry, explainLast, type LastFacts, type LayerFacts } from "./explain";
import { LayerParts } from "./LayerParts";
import type { LayerNumbers, Reading } from "./messages";
import { PointingContext, usePointing } from "./pointing";
import { Rail } from "./Rail";
import { openLayerOf, type Way } from "./useNetwork";

/** The place of the stream beside the rows, in pixels. */
export const railWidth = (width: number): number => (width < 480 ? 32 : 48);

export function Inside({ index, way, width }: { index: number; way: Way; width: number }) {
  const { opened } = useWriteWorkspace();
  const pointing = usePointing();
  const { answer, tokens, weights } = way;
  const { layers, readings, last, eps } = answer;
  const layer = openLayerOf(index, layers.length) ?? 0;
  const isEnd = index === layers.length + 1;
  const facts = useMemo<LayerFacts>(() => {
    const numbers = layers[layer] as LayerNumbers;
    // The answer may still be that of the layer which was open before.
    const head = answer.head?.place.layer === layer && index > 0 ? answer.head : null;
    return { layer, numbers, head, weights, tokens, eps };
  }, [way, layer]);
  const end = useMemo<LastFacts>(
    () => ({
      ...{ last, eps, layers: layers.length },
      stream: (layers.at(-1) as LayerNumbers).output,
      tokens: Array.from(readings.at(-1)?.ids ?? [], (id) =>
        label(opened.vocabulary[id] as string),
      ),
    }),
    [answer],
  );
  const { active, isLocked, byKeyboard } = pointing;
  const explanation = useMemo(() => {
    if (!active) return null;
    const { place, col } = active;
    const isGone = "token" in place && (place.token >= tokens.length || !facts.head);
    if (isGone) return null;
    return isEnd ? explainLast(place, col, end) : explainEntry(place, col, facts);
  }, [active, facts, end]);
  const inside = useMemo(() => {
    const parts = { facts, width: width - railWidth(width) };
    if (index === 0) return <EmbeddingPart {...parts} />;
    if (isEnd) return <LastPart facts={end} width={parts.width} />;
    const saidAt = (i: number) => ({
      reading: readings[i] as Reading,
      isLast: i === readings.length - 1,
      winner: readings.at(-1)?.ids[0],
    });
    return <LayerParts {...parts} said={[saidAt(2 * layer + 1), saidAt(2 * layer + 2)]} />;
  }, [index, facts, end, width]);
  return (
    <PointingContext.Provider value={pointing}>
      {inside}
      <div class="network-readout">
        <div class="rail-place">
          <Rail kind={isEnd ? "end" : "open"} />
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard */}
        <section class="readout-place" tabIndex={0} aria-label="How a number is computed">
          <Readout explanation={explanation} locked={isLocked} />
        </section>
      </div>
      <Announced>{byKeyboard && explanation ? explanationText(explanation) : ""}</Announced>
    </PointingContext.Provider>
  );
}
