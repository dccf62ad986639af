/** The weights of all heads side by side. Columns are the attended tokens. */

import { useMemo } from "preact/hooks";
import { type Cell, viewOn } from "#parts";
import { Legend } from "../picture/Legend";
import { HeatMap, usePicture } from "../picture/Matrix";
import { useWeightPalette } from "../picture/useWeightPalette";
import { isLater } from "../shared/attended";
import { columnsOf, type Facts } from "./facts";
import type { AttentionNumbers, MapNumbers, Spot } from "./messages";
import { usePointed } from "./pointing";
import { pictureName } from "./sources";

const gap = 16;
/** The minimum width of a column, in pixels, that a person can point at. */
const leastCell = 8;
/** The space of the rows' labels. */
const labels = 48;
const rowHeight = 14;
const linear = { range: "absolute", curve: "linear" } as const;

interface MapsProps {
  part: AttentionNumbers;
  facts: Facts;
  maps: MapNumbers;
}

function HeadMap({ part, facts, maps, head, cell }: MapsProps & { head: number; cell: number }) {
  const { active: spot, point, press } = usePointed();
  const { rows, columns } = maps;
  const cols = columnsOf(facts, part);
  const own = facts.tokens;
  const start = head * rows * columns;
  const isCausal = part.name === "attention" && facts.numbers.readings !== null;
  const view = useMemo(() => {
    const hides = isCausal ? isLater : undefined;
    return { ...viewOn(maps.weights, rows, columns, start), hides };
  }, [maps, start, isCausal]);
  const palette = useWeightPalette(linear);
  const words = useMemo(() => ({ rows: own.slice(0, rows), cols }), [own, cols, rows]);
  const row = spot?.part === part.name && spot.of === "map" ? spot.row - head * rows : -1;
  const picture = usePicture({
    ...{ view, rows, cols: columns, palette, labels: words },
    cell: { width: cell, height: rowHeight },
    selected: { row: facts.place },
    active: spot && row >= 0 && row < rows ? { row, col: spot.col } : null,
  });
  const spotAt = ({ row, col }: Cell): Spot => ({
    ...{ part: part.name, of: "map", row: head * rows + row, col },
  });
  const name = `Head ${head + 1}`;
  return (
    <HeatMap
      name={`${pictureName(part.name, "maps")}-${head + 1}`}
      title={`Weights of head ${head + 1}`}
      symbol={head === part.head.head ? <b>{name}</b> : name}
      note=""
      picture={picture}
      hasLegend={false}
      actions={{
        point: (cell, by) => point(cell && spotAt(cell), by),
        press: (cell) => press(spotAt(cell)),
      }}
    />
  );
}

/** The row of the traced token has an outline. */
export function HeadMaps({ part, facts, maps, width }: MapsProps & { width: number }) {
  const palette = useWeightPalette(linear);
  const heads = maps.weights.length / (maps.rows * maps.columns);
  const least = labels + maps.columns * leastCell + gap;
  const across = Math.max(1, Math.min(heads, Math.floor((width + gap) / least)));
  const space = (width - gap * (across - 1)) / across - labels;
  const cell = Math.max(4, Math.min(rowHeight, Math.floor((space / maps.columns) * 2) / 2));
  return (
    <div class="head-maps">
      <div class="head-pictures line">
        {Array.from({ length: heads }, (_, head) => (
          <HeadMap key={head} {...{ part, facts, maps, head, cell }} />
        ))}
      </div>
      <Legend palette={palette} />
    </div>
  );
}
