/** The colour scale of a matrix, with its two ends. */

import { css, endsIn, type MatrixView, type Palette } from "heed/view/parts";
import type { ComponentChildren } from "preact";

const colourStops = 11;

export function Legend({
  palette,
  view = null,
  name,
  hasHidden = false,
  children,
}: {
  palette: Palette;
  /** The matrix that it belongs to; null if it belongs to several. */
  view?: MatrixView | null;
  name?: ComponentChildren;
  hasHidden?: boolean;
  children?: ComponentChildren;
}) {
  const stops = Array.from({ length: colourStops }, (_, i) =>
    css(palette.legend(i / (colourStops - 1))),
  );
  const [low, high] = view ? endsIn(palette, view) : palette.ends;
  return (
    <div class="legend">
      {name !== undefined && <span class="legend-name">{name}</span>}
      <span class="legend-scale number">
        <span>{low}</span>
        <span
          class="legend-strip"
          style={{ backgroundImage: `linear-gradient(to right, ${stops.join(",")})` }}
        />
        <span>{high}</span>
      </span>
      {hasHidden && (
        <span class="legend-hidden">
          <span class="hatched" /> hidden
        </span>
      )}
      {children}
    </div>
  );
}
