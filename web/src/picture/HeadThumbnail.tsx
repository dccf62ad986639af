/** One head as a small picture, the part of `heed/view/parts`, and a box to drop it if it can be dropped. */

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
 * @param size how many tokens there are
 * @param cells how many cells the picture has along each side
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
  isLocked = false,
  onSelect,
  onDrop,
}: {
  /** Its name in the code and in tests. */
  id: string;
  small: SmallWeights;
  /** In pixels. */
  side: number;
  palette: Palette;
  /** How many tokens there are, if a causal mask hides the later ones from each; null if none does. */
  causalSize: number | null;
  /** For screen readers: the head, and what its number is. */
  name: string;
  about: string;
  label: string;
  value: string;
  isSelected: boolean;
  isDropped?: boolean;
  isLocked?: boolean;
  onSelect(): void;
  onDrop?(isDropped: boolean): void;
}) {
  const { theme } = useShell();
  const ratio = usePixelRatio();
  const item = useRef<HTMLLIElement>(null);
  const thumbnail = useRef<Thumbnail>(null);
  /** The button stays while what it does changes. */
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
  }, [small, side, palette, hides, name, about, label, value, isSelected, theme, ratio]);
  return (
    <li ref={item} class={isDropped ? "thumbnail dropped" : "thumbnail"} data-head={id}>
      {onDrop && (
        <label class="thumbnail-drop">
          <input
            type="checkbox"
            checked={isDropped}
            disabled={isLocked}
            aria-label={`Drop ${name}`}
            title="Drop this head"
            onChange={({ currentTarget }) => onDrop(currentTarget.checked)}
          />
        </label>
      )}
    </li>
  );
}
