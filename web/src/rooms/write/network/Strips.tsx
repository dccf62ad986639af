/** Vectors as rows of one picture, with the same entries above each other. */
import { useMemo } from "preact/hooks";
import { type Palette, signedPalette, type Theme } from "../../../picture/colour";
import { type Area, type Cell, type CellSize, type Labels, leftOf } from "../../../picture/layout";
import { HeatMap, usePicture } from "../../../picture/Matrix";
import { viewOn } from "../../../picture/view";
import { shorten } from "../../../shared/format";
import { useShell } from "../../../shared/shell";
import type { Place } from "./explain";
import { type Spot, usePointed } from "./pointing";
import { sourcesOf } from "./sources";

export interface Strip {
  readonly label: string;
  readonly place: Place;
  readonly data: Float32Array;
}

const longestLabel = 11;
const labelWidth = 78;
const height = 16;

/** The space that labels take to the left of a picture, in pixels. */
export const labelSpace = labelWidth + 10;

/** Cells of a picture in `width` pixels; many entries on a small screen are narrower than a pixel. */
export function cellIn(width: number, cols: number, height: number): CellSize {
  return { width: Math.min(24, Math.max(0.5, Math.floor((width / cols) * 4) / 4)), height };
}

/** Entries of the stream differ much in size: √ shows the small ones beside the large. */
function rootPalette(size: number, theme: Theme): Palette {
  const linear = signedPalette(size, theme);
  const end = size > 0 ? size : 1;
  return {
    ...linear,
    curve: "√",
    place: (value) => linear.place(Math.sign(value) * Math.sqrt(Math.abs(value) * end), 0),
  };
}

/** The rows and columns of this picture that the number pointed at is computed from. */
function litIn(name: string, strips: readonly Strip[], { place, col, picture }: Spot): Area[] {
  return sourcesOf(place, col, picture)
    .filter((source) => source.picture === name)
    .flatMap(({ place, col }): Area[] => {
      if (!place) return [{ col }];
      const same = JSON.stringify(place);
      const row = strips.findIndex((strip) => JSON.stringify(strip.place) === same);
      return row < 0 ? [] : [{ row }];
    });
}

export function Strips({
  name,
  title,
  symbol = title,
  note,
  strips,
  width,
  palette,
  selected,
  cell: given,
  hasLabels = true,
  hasLegend = true,
}: {
  /** In the code, in tests and in the file's name. */
  name: string;
  title: string;
  /** The heading above it; by default the title. */
  symbol?: string;
  note?: string;
  strips: readonly Strip[];
  /** Of the whole picture, in pixels. */
  width: number;
  palette?: Palette;
  /** The index of a strip. */
  selected?: number;
  cell?: CellSize;
  hasLabels?: boolean;
  hasLegend?: boolean;
}) {
  const { theme } = useShell();
  const pointing = usePointed();
  const rows = strips.length;
  const cols = strips[0]?.data.length ?? 0;
  const view = useMemo(() => {
    const all = new Float32Array(rows * cols);
    for (const [row, { data }] of strips.entries()) all.set(data, row * cols);
    return viewOn(all, rows, cols);
  }, [strips]);
  const words = JSON.stringify(strips.map(({ label }) => label));
  const labels = useMemo<Labels>(
    () =>
      hasLabels
        ? {
            rows: strips.map(({ label }) => shorten(label, longestLabel)),
            rowsWidth: labelWidth,
          }
        : {},
    [words, hasLabels],
  );
  const signed = useMemo(
    () =>
      rootPalette(
        view.data.reduce((most, each) => Math.max(most, Math.abs(each)), 0),
        theme,
      ),
    [view, theme],
  );
  const { active: spot } = pointing;
  const active = spot?.picture === name ? { row: spot.row, col: spot.col } : null;
  const highlights = useMemo(() => (spot ? litIn(name, strips, spot) : []), [spot, name, strips]);
  const picture = usePicture({
    view,
    ...{ rows, cols, labels, active },
    palette: palette ?? signed,
    cell: given ?? cellIn(width - leftOf(labels), cols, height),
    selected: selected === undefined ? null : { row: selected },
    highlights,
  });
  const { point, press } = pointing;
  // Pointing at a number renders one picture of many anew.
  return useMemo(() => {
    const spotAt = ({ row, col }: Cell) => {
      const { place } = strips[row] as Strip;
      return { picture: name, row, col, place };
    };
    return (
      <HeatMap
        {...{ name, title, symbol, picture, hasLegend, note: note ?? `${rows} × ${cols}, √ scale` }}
        actions={{
          point: (cell, by) => point(cell && spotAt(cell), by),
          press: (cell) => press(spotAt(cell)),
        }}
        saved={{
          file: name,
          caption: title,
          rows: strips.map(({ label }) => label),
          cols: Array.from({ length: cols }, (_, i) => String(i + 1)),
        }}
      />
    );
  }, [picture, strips, title, symbol, note, hasLegend, point, press]);
}
