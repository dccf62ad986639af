/** One head as a small picture of `heed/view/parts`. */

import {
  finished,
  hidingPooled,
  inkIn,
  type Palette,
  type SmallWeights,
  Thumbnail,
} from "heed/view/parts";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useShell } from "../shared/shell";
import { usePixelRatio } from "./usePixelRatio";

/**
 * Which cells of a small picture a causal mask hides.
 *
 * @param size the number of tokens
 * @param cells the number of cells along each side
 */
export function hidingLater(size: number, cells: number): (row: number, col: number) => boolean {
  const square = (side: number) => ({ rows: side, cols: side });
  return finished(hidingPooled((row, col) => col > row, square(size), square(cells), true));
}

export function HeadThumbnail({
  id,
  small,
  side,
  palette,
  causalSize,
  name,
  about,
  label,
  value,
  isSelected,
  isDropped = false,
  onSelect,
}: {
  /** The unique name in the code and in tests. */
  id: string;
  small: SmallWeights;
  /** In pixels. */
  side: number;
  palette: Palette;
  /** The number of tokens, if a causal mask hides later tokens; null without a causal mask. */
  causalSize: number | null;
  /** The name for screen readers: the head, and its measured value. */
  name: string;
  about: string;
  label: string;
  value: string;
  isSelected: boolean;
  isDropped?: boolean;
  onSelect(): void;
}) {
  const { theme } = useShell();
  const ratio = usePixelRatio();
  const item = useRef<HTMLLIElement>(null);
  const thumbnail = useRef<Thumbnail>(null);
  /** The button is created once; the ref gives it the current handler. */
  const select = useRef(onSelect);
  useLayoutEffect(() => {
    select.current = onSelect;
  });
  const hides = useMemo(
    () => (causalSize === null ? undefined : hidingLater(causalSize, small.rows)),
    [causalSize, small.rows],
  );
  useLayoutEffect(() => {
    thumbnail.current ??= new Thumbnail(() => select.current());
    const { button } = thumbnail.current;
    if (!button.isConnected) item.current?.prepend(button);
    const picture = {
      small,
      side,
      palette,
      hides,
      name,
      about,
      label,
      value,
      isSelected,
    };
    thumbnail.current.draw(picture, { ink: inkIn(theme, button), ratio });
    // It begins with the visible words, as a person who speaks to the page says them.
    button.ariaLabel = `${label} ${value}: ${name}, ${about}`;
  }, [small, side, palette, hides, name, about, label, value, isSelected, theme, ratio]);
  return <li ref={item} class={isDropped ? "thumbnail dropped" : "thumbnail"} data-head={id} />;
}
