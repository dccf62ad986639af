/** Small pictures of heads in rows: the grid of `<heed-heads>` in the page. */

import { useLayoutEffect, useRef } from "preact/hooks";
import {
  HeadGrid as Grid,
  type GridHead,
  type GridRow,
  html,
  inkIn,
  type MatrixView,
  packedNumbers,
  type SmallWeights,
} from "#parts";
import { useShell } from "../shared/shell";
import { usePixelRatio } from "./usePixelRatio";

export interface HeadsRow extends GridRow {
  /** The heading above it, with a note, if a group of rows begins here. */
  readonly group?: readonly [title: string, note: string];
}

export interface ModelHead extends GridHead {
  /** Unique in the grid. */
  readonly id: string;
  readonly isAblated?: boolean;
}

/** The weights of a small model, which need no pooling. */
export function smallOf(view: MatrixView): SmallWeights {
  return { data: packedNumbers(view) as Float32Array, rows: view.rows, cols: view.cols };
}

interface HeadGridProps {
  readonly rows: readonly HeadsRow[];
  /** Must be memoised, as the rows. */
  readonly heads: readonly ModelHead[];
  /** The side of a picture, in pixels. */
  readonly side: number;
  /** For how many lines of pictures a row reserves space. */
  readonly lines: number;
  /** Whether one frame draws all rows; false by default. */
  readonly isWhole?: boolean | undefined;
  readonly selected: string;
  select(id: string): void;
}

export function HeadGrid(props: HeadGridProps) {
  const { rows, heads, side, lines, selected, select } = props;
  const { theme, isPrinting } = useShell();
  const isWhole = isPrinting || props.isWhole === true;
  const ratio = usePixelRatio();
  const place = useRef<HTMLDivElement>(null);
  const grid = useRef<Grid>(null);
  /** The grid is created once; the ref gives it the current handler. */
  const choose = useRef<(index: number) => void>(null);
  useLayoutEffect(() => {
    choose.current = (index) => select((heads[index] as ModelHead).id);
  });
  useLayoutEffect(() => {
    const end = new AbortController();
    grid.current = new Grid(
      (index) => choose.current?.(index),
      () => {},
    );
    grid.current.connect(end.signal);
    grid.current.element.setAttribute("aria-label", "All heads");
    place.current?.append(grid.current.element);
    return () => end.abort();
  }, []);
  useLayoutEffect(() => {
    grid.current?.draw({
      ...{ rows, side, lines, ratio, isWhole },
      selected: heads.findIndex(({ id }) => id === selected),
      picture: (index, item) => {
        const { id, isAblated = false, ...picture } = heads[index] as ModelHead;
        item.dataset.head = id;
        item.classList.toggle("ablated", isAblated);
        return picture;
      },
      ink: inkIn(theme, grid.current.element),
    });
  }, [rows, heads, side, lines, selected, theme, ratio, isWhole]);
  useLayoutEffect(() => {
    const layers = place.current?.querySelectorAll(".layer") ?? [];
    const headings = rows.flatMap(({ group }, i) => {
      if (!group) return [];
      const heading = html("h3", "", `${group[0]} `, html("span", "faint", group[1]));
      layers[i]?.before(heading);
      return heading;
    });
    return () => {
      for (const heading of headings) heading.remove();
    };
  }, [rows]);
  return <div ref={place} />;
}
