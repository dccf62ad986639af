/** What the colours of a matrix mean: a strip of them between its two ends. */
import type { ComponentChildren } from "preact";
import { css, type Palette } from "../colour";

const colourStops = 11;

export function Legend({
  palette,
  name,
  hasHidden = false,
  children,
}: {
  palette: Palette;
  name?: ComponentChildren;
  hasHidden?: boolean;
  children?: ComponentChildren;
}) {
  const stops = Array.from({ length: colourStops }, (_, i) =>
    css(palette.legend(i / (colourStops - 1))),
  );
  return (
    <div class="legend">
      {name !== undefined && <span class="legend-name">{name}</span>}
      <span class="number">{palette.ends[0]}</span>
      <span
        class="legend-strip"
        style={{ backgroundImage: `linear-gradient(to right, ${stops.join(",")})` }}
      />
      <span class="number">{palette.ends[1]}</span>
      {hasHidden && (
        <span class="legend-hidden">
          <span class="hatched" /> hidden
        </span>
      )}
      {children}
    </div>
  );
}
