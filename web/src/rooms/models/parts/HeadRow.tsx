/** Heads as small pictures in a row, and the keys that move among all heads of a model. */

import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";
import type { Palette, SmallWeights } from "#parts";
import { HeadThumbnail } from "../../../picture/HeadThumbnail";
import { Steady } from "../../../shared/Steady";

export interface GridHead {
  /** Its name in links. */
  readonly key: string;
  readonly small: SmallWeights;
  /** The number of tokens, if a causal mask hides later ones; null without a causal mask. */
  readonly causalSize: number | null;
  /** "layer 2, head 3" */
  readonly name: string;
  /** Its short name, below its picture. */
  readonly label: string;
  /** The measure below it, and its value. */
  readonly about: string;
  readonly value: string;
  readonly isAblated: boolean;
}

/** The row renders again only if one of its values changes: `heads` must be memoised. */
export function HeadRow({
  title,
  heads,
  palette,
  side,
  selected,
  select,
}: {
  /** Null for a row that has no name. */
  title: string | null;
  heads: readonly GridHead[];
  palette: Palette;
  /** The side of a picture, in pixels. */
  side: number;
  /** The key of the selected head, if it is in this row. */
  selected: string | null;
  select(key: string): void;
}) {
  return (
    <Steady by={[title, heads, palette, side, selected, select]}>
      {() => (
        <div class="layer">
          {title !== null && <h4>{title}</h4>}
          <ul>
            {heads.map(({ key, ...head }) => (
              <HeadThumbnail
                key={key}
                {...{ id: key, ...head, palette, side }}
                isSelected={key === selected}
                onSelect={() => select(key)}
              />
            ))}
          </ul>
        </div>
      )}
    </Steady>
  );
}

const buttonsIn = (grid: HTMLElement) => [
  ...grid.querySelectorAll<HTMLButtonElement>(".thumbnail > button"),
];

/** The button that a key leads to: the nearest one in its direction, as the rows appear on the page. */
function neighbour(
  buttons: readonly HTMLButtonElement[],
  from: HTMLButtonElement,
  key: string,
): HTMLButtonElement | undefined {
  const place = buttons.indexOf(from);
  if (key === "ArrowRight") return buttons[place + 1];
  if (key === "ArrowLeft") return buttons[place - 1];
  if (key === "Home") return buttons[0];
  if (key === "End") return buttons.at(-1);
  const sign = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
  if (sign === 0) return undefined;
  const { left, top } = from.getBoundingClientRect();
  const below = buttons
    .map((button) => ({ button, box: button.getBoundingClientRect() }))
    .filter(({ box }) => sign * (box.top - top) > 1)
    .map(({ button, box }) => ({
      button,
      distance: 10 * Math.abs(box.top - top) + Math.abs(box.left - left),
    }));
  return below.sort((a, b) => a.distance - b.distance)[0]?.button;
}

/** One tab stop for all heads: the arrow keys, Home and End move among them. */
export function useHeadKeys(grid: RefObject<HTMLElement | null>): (event: KeyboardEvent) => void {
  useLayoutEffect(() => {
    if (!grid.current) return;
    const buttons = buttonsIn(grid.current);
    const stop =
      buttons.find((button) => button === document.activeElement) ??
      buttons.find(({ ariaPressed }) => ariaPressed === "true") ??
      buttons[0];
    for (const button of buttons) button.tabIndex = button === stop ? 0 : -1;
  });
  return (event) => {
    const { target, key } = event;
    if (!grid.current || !(target instanceof HTMLButtonElement)) return;
    const next = neighbour(buttonsIn(grid.current), target, key);
    if (!next) return;
    event.preventDefault();
    target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  };
}
