/** One head as a small picture: a button that selects it, a number below, and a box to drop it if it can be dropped. */

import { type Palette, viewOn } from "heed/view/parts";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { Matrix, usePicture } from "./Matrix";

/** The weights of a head, max-pooled to `rows` × `cols`. */
export interface SmallWeights {
  readonly data: Float32Array;
  readonly rows: number;
  readonly cols: number;
}

const hidesFuture = (row: number, col: number) => col > row;

export function HeadThumbnail({
  id,
  small,
  side,
  palette,
  isCausal,
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
  isCausal: boolean;
  /** For screen readers: the head, and what its number is. */
  name: string;
  about: string;
  label: string;
  value: ComponentChildren;
  isSelected: boolean;
  isDropped?: boolean;
  isLocked?: boolean;
  onSelect(): void;
  onDrop?(isDropped: boolean): void;
}) {
  const { rows, cols } = small;
  const view = useMemo(() => viewOn(small.data, rows, cols), [small]);
  // A pooled cell is hidden if all of its cells are.
  const isHidden = isCausal ? hidesFuture : undefined;
  const cell = { width: side / cols, height: side / rows };
  const picture = usePicture({ view, rows, cols, palette, cell, isHidden });
  return (
    <li class={isDropped ? "thumbnail dropped" : "thumbnail"} data-head={id}>
      <button type="button" aria-pressed={isSelected} onClick={onSelect}>
        <Matrix picture={picture} summary={`${name}; ${about}:`} />
        <span class="thumbnail-words number">
          <span>{label}</span> <span data-measure>{value}</span>
        </span>
      </button>
      {onDrop && (
        <label class="thumbnail-drop">
          <input
            type="checkbox"
            checked={isDropped}
            disabled={isLocked}
            aria-label={`Drop ${name}`}
            onChange={({ currentTarget }) => onDrop(currentTarget.checked)}
          />{" "}
          drop
        </label>
      )}
    </li>
  );
}
