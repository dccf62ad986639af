/** All heads of a model as small pictures, in the grid of `<heed-heads>`. */

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { finished, type GridHead, type GridRow, HeadGrid, hidingPooled, html, inkIn } from "#parts";
import { usePixelRatio } from "../../../picture/usePixelRatio";
import { isLater } from "../../../shared/attended";
import { useShell } from "../../../shared/shell";

/**
 * Which cells of a small picture a causal mask hides.
 *
 * @param size the number of tokens
 * @param cells the number of cells along each side
 */
export function hidingLater(size: number, cells: number): (row: number, col: number) => boolean {
  const square = (side: number) => ({ rows: side, cols: side });
  return finished(hidingPooled(isLater, square(size), square(cells), true));
}

/** The same, memoised; undefined if no head has a causal mask. */
export function useHidingLater(size = 0, cells = 0): GridHead["hides"] {
  return useMemo(() => (size > 0 ? hidingLater(size, cells) : undefined), [size, cells]);
}

export interface HeadsRow extends GridRow {
  /** The heading above it, with a note, if a group of rows begins here. */
  readonly group?: readonly [title: string, note: string];
}

interface ModelHead extends GridHead {
  /** The unique name in the code and in tests. */
  readonly id: string;
  readonly isAblated: boolean;
}

interface AllHeadsProps {
  readonly rows: readonly HeadsRow[];
  /** Must be memoised, as the rows. */
  readonly heads: readonly ModelHead[];
  /** The side of a picture, in pixels. */
  readonly side: number;
  /** For how many lines of pictures a row reserves space. */
  readonly lines?: number;
  /** Whether one frame draws all rows. */
  readonly isWhole?: boolean;
  readonly selected: string;
  select(id: string): void;
}

export function AllHeads(props: AllHeadsProps) {
  const { rows, heads, side, lines = 1, selected, select } = props;
  const { theme, isPrinting } = useShell();
  const isWhole = isPrinting || props.isWhole === true;
  const ratio = usePixelRatio();
  const place = useRef<HTMLDivElement>(null);
  const grid = useRef<HeadGrid>(null);
  /** The grid is created once; the ref gives it the current handler. */
  const choose = useRef<(index: number) => void>(null);
  useLayoutEffect(() => {
    choose.current = (index) => select((heads[index] as ModelHead).id);
  });
  useLayoutEffect(() => {
    const end = new AbortController();
    grid.current = new HeadGrid(
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
        const { id, isAblated, ...picture } = heads[index] as ModelHead;
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
