/** The colour scale of a matrix, with its two ends. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { type MatrixView, type Palette, showHiddenMark, showScale } from "#parts";

function Scale({ palette, view }: { palette: Palette; view: MatrixView | null }) {
  const place = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (place.current) showScale(place.current, palette, view);
  }, [palette, view]);
  return <span ref={place} class="legend-scale number" />;
}

function HiddenMark() {
  const place = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (place.current) showHiddenMark(place.current);
  }, []);
  return <span ref={place} class="legend-hidden" />;
}

interface LegendProps {
  palette: Palette;
  /** The matrix of the legend; null if several matrices share it. */
  view?: MatrixView | null;
  name?: ComponentChildren;
  hasHidden?: boolean;
  children?: ComponentChildren;
}

export function Legend({ palette, view = null, name, hasHidden = false, children }: LegendProps) {
  return (
    <div class="legend">
      {name !== undefined && <span class="legend-name">{name}</span>}
      <Scale palette={palette} view={view} />
      {hasHidden && <HiddenMark />}
      {children}
    </div>
  );
}
