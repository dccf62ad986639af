/** The heat map of a head: the picture, and the actions on its cells and rows. */

import {
  type Area,
  cellsFor,
  entries,
  type Labels,
  leftOf,
  type MatrixView,
  type Picture,
  rangeOf,
  shorten,
  signedPalette,
  tokenAxes,
  viewOn,
  weightPalette,
} from "heed/view/parts";
import { useMemo } from "preact/hooks";
import { HeatMap, usePicture } from "../../../picture/Matrix";
import { useShell } from "../../../shared/shell";
import { exhibitOf } from "./catalogue";
import type { NamedHead } from "./selection";
import { useHeadsWorkspace } from "./workspace";

const longestLabel = 12;

/** Below this width, as on a telephone, cells are lower than wide, so that the picture fits on the screen. */
const narrow = 420;
const lowCell = 27;

/** A picture of numbers for pairs of tokens, `width` pixels wide. */
function usePairs(
  { attention }: NamedHead,
  view: MatrixView,
  width: number,
  isSigned: boolean,
): Picture {
  const { state, selection, active } = useHeadsWorkspace();
  const { theme } = useShell();
  const { range, curve } = state;
  const { rows, columns, isCausal, places } = attention;
  const short = (tokens: readonly string[]) => tokens.map((token) => shorten(token, longestLabel));
  const labels: Labels = {
    ...{ rows: short(rows), cols: short(columns) },
    ...tokenAxes,
  };
  const cell = cellsFor(width - leftOf(labels), columns.length, rows.length);
  const palette = useMemo(() => {
    if (!isSigned) return weightPalette(range, curve, theme);
    const [low, high] = rangeOf(view) ?? [0, 1];
    return signedPalette(Math.max(-low, high), theme);
  }, [isSigned, view, range, curve, theme]);
  const isHidden = useMemo(
    () => (isCausal ? (row: number, col: number) => col > row : undefined),
    [isCausal],
  );
  // The answer positions, and the row and column from which the active cell is computed: its query and its key.
  const highlights: Area[] = [
    ...(places ?? []).flatMap((cols, row) => cols.map((col) => ({ row, col }))),
    ...(active ? [{ row: active.row }, { col: active.col }] : []),
  ];
  return usePicture({
    ...{ highlights },
    ...{ view, rows: rows.length, cols: columns.length, palette, labels, isHidden, active },
    cell: width < narrow ? { ...cell, height: Math.min(cell.height, lowCell) } : cell,
    selected: { row: selection.row },
  });
}

export function useHeadPicture(shown: NamedHead, width: number): Picture {
  return usePairs(shown, shown.weights, width, false);
}

/** One head's weights minus another's. */
export function useDifference(shown: NamedHead, other: NamedHead, width: number): Picture {
  const view = useMemo(() => {
    const { rows, cols } = shown.weights;
    const theirs = entries(other.weights);
    const difference = Float32Array.from(
      entries(shown.weights),
      (weight) => weight - (theirs.next().value as number),
    );
    return viewOn(difference, rows, cols);
  }, [shown.weights, other.weights]);
  return usePairs(shown, view, width, true);
}

/** A heat map with cells that can be locked and rows that can be selected. */
export function HeadMap({
  name,
  title,
  of,
  note = of.name,
  whose = note,
  picture,
}: {
  name: string;
  title: string;
  /** The head that is drawn. */
  of: NamedHead;
  note?: string;
  /** Names the head and the ablated heads in a saved file. */
  whose?: string;
  picture: Picture;
}) {
  const { selection, set, point, press } = useHeadsWorkspace();
  const { rows, columns } = selection.shown.attention;
  return (
    <HeatMap
      name={name}
      title={title}
      note={note}
      picture={picture}
      actions={{ point, press, selectRow: (row) => set({ row }) }}
      saved={{
        file: `${name}-${of.head.key}`,
        caption: `${title}, ${exhibitOf(selection.answer.exhibit).name}, ${whose}: ${selection.answer.text}`,
        ...{ rows, cols: columns },
      }}
    />
  );
}
