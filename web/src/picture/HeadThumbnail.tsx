/** One head as a small picture of `#parts`. */

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import {
  finished,
  hidingPooled,
  inkIn,
  type SmallWeights,
  Thumbnail,
  type ThumbnailPicture,
} from "#parts";
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

interface ThumbnailProps extends Omit<ThumbnailPicture, "small" | "hides"> {
  /** The unique name in the code and in tests. */
  id: string;
  small: SmallWeights;
  /** The number of tokens, if a causal mask hides later tokens; null without a causal mask. */
  causalSize: number | null;
  isAblated?: boolean;
  onSelect(): void;
}

export function HeadThumbnail({
  id,
  causalSize,
  isAblated = false,
  onSelect,
  ...shown
}: ThumbnailProps) {
  const { theme } = useShell();
  const ratio = usePixelRatio();
  const item = useRef<HTMLLIElement>(null);
  const thumbnail = useRef<Thumbnail>(null);
  /** The button is created once; the ref gives it the current handler. */
  const select = useRef(onSelect);
  useLayoutEffect(() => {
    select.current = onSelect;
  });
  const { rows } = shown.small;
  const hides = useMemo(
    () => (causalSize === null ? undefined : hidingLater(causalSize, rows)),
    [causalSize, rows],
  );
  useLayoutEffect(() => {
    thumbnail.current ??= new Thumbnail(() => select.current());
    const { button } = thumbnail.current;
    if (!button.isConnected) item.current?.prepend(button);
    thumbnail.current.draw({ ...shown, hides }, { ink: inkIn(theme, button), ratio });
    // It begins with the visible words, as a person who speaks to the page says them.
    button.ariaLabel = `${shown.label} ${shown.value}: ${shown.name}, ${shown.about}`;
  }, [...Object.values(shown), hides, theme, ratio]);
  return <li ref={item} class={isAblated ? "thumbnail ablated" : "thumbnail"} data-head={id} />;
}
