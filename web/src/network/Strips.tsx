/** Vectors as rows of one picture, with equal entries in the same column. */

import { useMemo } from "preact/hooks";
import {
  type Area,
  type Cell,
  type CellSize,
  type Labels,
  leftOf,
  type Palette,
  shorten,
  signedPalette,
  type Theme,
  viewOn,
} from "#parts";
import { HeatMap, usePicture } from "../picture/Matrix";
import { Steady } from "../shared/Steady";
import { useShell } from "../shared/shell";
import type { PartName, Place, RowName, Spot } from "./messages";
import { usePointed } from "./pointing";
import { type PictureName, pictureName, sourcesOf } from "./sources";

export interface Strip {
  readonly label: string;
  readonly place: Place;
  readonly data: Float32Array;
}

export const strip = (
  part: PartName,
  label: string,
  of: RowName,
  data: Float32Array,
  row = 0,
): Strip => ({ label, place: { part, of, row }, data });

const longestLabel = 11;
const labelWidth = 78;
const height = 16;

/** The cells of a picture that is `width` pixels wide. On a small screen a cell may be narrower than a pixel. */
function cellIn(width: number, cols: number, height: number): CellSize {
  return { width: Math.min(24, Math.max(0.25, Math.floor((width / cols) * 4) / 4)), height };
}

/** Entries of the stream differ much in size: a square root makes small ones visible next to large ones. */
function rootPalette(size: number, theme: Theme): Palette {
  const linear = signedPalette(size, theme);
  const end = size > 0 ? size : 1;
  return {
    ...linear,
    curve: "√",
    place: (value) => linear.place(Math.sign(value) * Math.sqrt(Math.abs(value) * end), 0),
  };
}

/** The index of the strip at a place; -1 if there is none. */
function stripAt(strips: readonly Strip[], { part, of, row }: Place): number {
  return strips.findIndex(
    ({ place }) => place.part === part && place.of === of && place.row === row,
  );
}

/** The rows and columns of this picture from which the active number is computed. */
function litIn(
  part: PartName,
  name: PictureName,
  strips: readonly Strip[],
  entries: readonly number[] | undefined,
  spot: Spot,
): readonly Area[] {
  if (spot.part !== part) return [];
  return sourcesOf(spot)
    .filter(({ picture }) => picture === name)
    .flatMap(({ place, col }): Area[] => {
      if (!place) {
        // -1 if the picture does not draw this entry.
        const at = col === undefined ? -1 : (entries?.indexOf(col) ?? col);
        return at < 0 ? [] : [{ col: at }];
      }
      const row = stripAt(strips, place);
      return row < 0 ? [] : [{ row }];
    });
}

interface StripsProps {
  part: PartName;
  picture: PictureName;
  title: string;
  /** The heading above it; by default the title. */
  symbol?: string;
  note?: string;
  strips: readonly Strip[];
  /** The width of the whole picture, in pixels. */
  width: number;
  palette?: Palette;
  /** The index of the selected strip. */
  selected?: number | undefined;
  cell?: CellSize;
  /** The entries that are drawn, in this order; by default all. Must be memoised. */
  entries?: readonly number[] | undefined;
  hasLabels?: boolean;
  hasLegend?: boolean;
}

/** The numbers of all strips as one matrix, with its palette. */
function useNumbers({ strips, entries, palette }: StripsProps) {
  const { theme } = useShell();
  const view = useMemo(() => {
    const [rows, cols] = [strips.length, entries?.length ?? strips[0]?.data.length ?? 0];
    const all = new Float32Array(rows * cols);
    for (const [row, { data }] of strips.entries())
      all.set(entries ? entries.map((entry) => data[entry] as number) : data, row * cols);
    return viewOn(all, rows, cols);
  }, [strips, entries]);
  const signed = useMemo(() => {
    let most = 0;
    for (const each of view.data) most = Math.max(most, Math.abs(each));
    return rootPalette(most, theme);
  }, [view, theme]);
  return { view, palette: palette ?? signed };
}

function useLabels({ strips, hasLabels = true }: StripsProps): Labels {
  const words = JSON.stringify(strips.map(({ label }) => label));
  return useMemo(() => {
    const rows = strips.map(({ label }) => shorten(label, longestLabel));
    return hasLabels ? { rows, rowsWidth: labelWidth } : {};
  }, [words, hasLabels]);
}

/** The cell of the active number in this picture; null if the picture does not draw it. */
function cellAt({ strips, entries }: StripsProps, cols: number, spot: Spot | null): Cell | null {
  if (!spot) return null;
  const cell = { row: stripAt(strips, spot), col: entries?.indexOf(spot.col) ?? spot.col };
  return cell.row >= 0 && cell.col >= 0 && cell.col < cols ? cell : null;
}

export function Strips(props: StripsProps) {
  const { part, picture: own, title, symbol = title, note, strips } = props;
  const { width, selected, cell, entries, hasLegend = true } = props;
  const { active: spot, point, press } = usePointed();
  const name = pictureName(part, own);
  const { view, palette } = useNumbers(props);
  const { rows, cols } = view;
  const labels = useLabels(props);
  const highlights = useMemo(
    () => (spot ? litIn(part, own, strips, entries, spot) : []),
    [spot, part, own, strips, entries],
  );
  const picture = usePicture({
    ...{ view, rows, cols, labels, palette, highlights },
    active: cellAt(props, cols, spot),
    cell: cell ?? cellIn(width - leftOf(labels), cols, height),
    selected: selected === undefined ? null : { row: selected },
  });
  // Pointing at a number redraws only the picture that contains it.
  const draw = () => {
    const entryOf = (col: number) => entries?.[col] ?? col;
    const spotAt = ({ row, col }: Cell): Spot => ({
      ...(strips[row] as Strip).place,
      col: entryOf(col),
    });
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
          cols: Array.from({ length: cols }, (_, i) => String(entryOf(i) + 1)),
        }}
      />
    );
  };
  return (
    <Steady by={[picture, name, strips, entries, title, symbol, note, hasLegend, point, press]}>
      {draw}
    </Steady>
  );
}

/** The width of the labels left of a picture, and the gap between two pictures, in pixels. */
const labelSpace = labelWidth + 10;
const gap = 16;
const rowHeight = 20;
/** The minimum width, in pixels, at which the pictures are side by side. */
const wide = 640;

interface Beside extends Omit<StripsProps, "part" | "width" | "title" | "symbol"> {
  /** Its heading, and the start of its title. */
  readonly name: string;
  /** Whether each row is one number, drawn in a cell that is wide enough for it. */
  readonly isNumber?: boolean;
}

interface SideBySideProps {
  part: PartName;
  /** In pixels. */
  width: number;
  numberWidth: number;
  /** The end of each title. */
  of: string;
  pictures: readonly Beside[];
}

/** Pictures with the same rows, side by side where there is room. There only the first one has labels. */
export function SideBySide({ part, width, numberWidth, of, pictures }: SideBySideProps) {
  const isWide = width >= wide;
  const numbers = pictures.filter(({ isNumber }) => isNumber).length;
  const others = numbers * numberWidth + (pictures.length - 1) * gap;
  const room = width - labelSpace;
  const vectors = isWide ? (room - others) / (pictures.length - numbers) : room;
  return (
    <div class="head-pictures line">
      {pictures.map(({ name, isNumber = false, ...props }, i) => (
        <Strips
          key={props.picture}
          {...{ part, width, ...props, title: `${name}${of}`, symbol: name }}
          {...(isNumber && { hasLegend: false, note: "" })}
          cell={
            isNumber
              ? { width: numberWidth, height: rowHeight }
              : cellIn(vectors, props.strips[0]?.data.length ?? 0, rowHeight)
          }
          hasLabels={i === 0 || (!isWide && !(isNumber && pictures[i - 1]?.isNumber))}
        />
      ))}
    </div>
  );
}
