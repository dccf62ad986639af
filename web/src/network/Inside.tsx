/** The contents of an open row of the network, and the formula of the active number. */

import { useMemo } from "preact/hooks";
import { explanationText } from "#parts";
import { Announced } from "../shared/Announced";
import { Readout } from "../shared/Readout";
import { Steady } from "../shared/Steady";
import { EndPart, StartPart } from "./EndParts";
import { explain } from "./explain";
import type { Facts } from "./facts";
import { useNetworkHost } from "./host";
import { LayerParts } from "./LayerParts";
import type { Reading } from "./messages";
import { PointingContext, usePointing } from "./pointing";
import { Rail, railWidth } from "./Rail";

/** The layer of a row, counted from 0; null for the two ends. */
export function layerOfRow(row: number | null, layers: number): number | null {
  return row !== null && row >= 1 && row <= layers ? row - 1 : null;
}

/** The readings after each part of a layer. */
function readingsIn({ numbers }: Facts, layer: number) {
  const { readings, partNames } = numbers;
  return (
    readings &&
    partNames.map((_, i) => {
      const at = layer * partNames.length + i + 1;
      return {
        reading: readings[at] as Reading,
        isLast: at === readings.length - 1,
        winner: readings.at(-1)?.ids[0],
      };
    })
  );
}

/** @param row 0 for the start, then the layers, then the end */
export function Inside({ row, facts, width }: { row: number; facts: Facts; width: number }) {
  const { kept, keep } = useNetworkHost();
  const pointing = usePointing(kept, keep);
  const { numbers } = facts;
  const { length: layers } = numbers.lengths;
  const layer = layerOfRow(row, layers);
  const isEnd = row > layers;
  const { active, isLocked, byKeyboard } = pointing;
  const explanation = useMemo(() => {
    // The numbers may still belong to the layer that was open before.
    const isHere = active && (layer === null || numbers.open?.layer === layer);
    const isOf = (part: string) =>
      layer !== null ? part !== "start" && part !== "end" : part === (isEnd ? "end" : "start");
    return isHere && isOf(active.part) ? explain(active, facts) : null;
  }, [active, facts, layer, isEnd]);
  const inside = () => {
    const parts = { facts, width: width - railWidth(width) };
    if (isEnd) return <EndPart {...parts} />;
    if (layer === null) return <StartPart {...parts} />;
    const { open } = numbers;
    if (open?.layer !== layer) return <div class="part-waiting" />;
    return <LayerParts {...parts} parts={open.parts} predictions={readingsIn(facts, layer)} />;
  };
  return (
    <PointingContext.Provider value={pointing}>
      <Steady by={[isEnd, layer, facts, width]}>{inside}</Steady>
      <div class="network-readout">
        <div class="rail-place">
          <Rail kind={isEnd ? "end" : "open"} />
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard */}
        <section class="readout-place" tabIndex={0} aria-label="How a number is computed">
          <Readout explanation={explanation} locked={isLocked && explanation !== null} />
        </section>
      </div>
      <Announced>{byKeyboard && explanation ? explanationText(explanation) : ""}</Announced>
    </PointingContext.Provider>
  );
}
