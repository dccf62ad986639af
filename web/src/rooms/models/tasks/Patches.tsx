/** A picture, and the attention of the selected row on each of its patches. */

import { useMemo } from "preact/hooks";
import { type Cell, type Palette, viewOn } from "#parts";
import { HeatMap, usePicture } from "../../../picture/Matrix";
import { useWeightPalette } from "../../../picture/useWeightPalette";
import type { HeadsAnswer } from "./answer";
import { useHeadsWorkspace } from "./workspace";

/** The side of each picture on the page, in pixels. */
const size = 168;

const grey: Palette = {
  ends: ["0", "1"],
  place: (value) => value,
  legend: (t) => [255 * t, 255 * t, 255 * t],
};

export function Patches({ picture }: { picture: NonNullable<HeadsAnswer["picture"]> }) {
  const { selection, state, set, active, point } = useHeadsWorkspace();
  const { shown, row } = selection;
  const { columns, rows } = shown.attention;
  const { pixels, side } = picture;
  // The first token is the class token. The patches follow, row by row.
  const across = Math.sqrt(columns.length - 1);
  const start = row * columns.length + 1;
  const weights = useMemo(() => {
    const { data, offset } = shown.weights;
    return viewOn(data, across, across, offset + start);
  }, [shown.weights, across, start]);
  const palette = useWeightPalette(state);
  const pixelsPicture = usePicture({
    ...{ view: useMemo(() => viewOn(pixels, side, side), [pixels, side]), palette: grey },
    ...{ rows: side, cols: side, cell: { width: size / side, height: size / side } },
  });
  const patchOf = (token: number) => ({
    ...{ row: Math.floor((token - 1) / across), col: (token - 1) % across },
  });
  const queryPatch = row > 0 ? patchOf(row) : null;
  const weightsPicture = usePicture({
    ...{ view: weights, palette, rows: across, cols: across, selected: queryPatch },
    active: active?.row === row && active.col > 0 ? patchOf(active.col) : null,
    cell: { width: size / across, height: size / across },
  });
  const tokenOf = ({ row, col }: Cell) => 1 + row * across + col;
  const title =
    row === 0
      ? "What the class token, which answers, attends to"
      : `What patch ${rows[row]} attends to`;
  const numbers = Array.from({ length: across }, (_, i) => String(i + 1));
  return (
    <div class="patches line">
      <HeatMap name="pixels" title="Picture" picture={pixelsPicture} />
      <HeatMap
        name="patches"
        title={title}
        note=""
        picture={weightsPicture}
        hint="Enter selects a patch."
        actions={{
          point: (cell, by) => point(cell && { row, col: tokenOf(cell) }, by),
          press: (cell) => set({ row: tokenOf(cell), cell: null }),
        }}
        saved={{
          file: `patches-${shown.head.key}`,
          caption: `${title}, ${shown.name}`,
          ...{ rows: numbers, cols: numbers },
        }}
      />
      <button type="button" aria-pressed={row === 0} onClick={() => set({ row: 0, cell: null })}>
        Select the class token
      </button>
    </div>
  );
}
