/** A matrix with its name above it and, unless they are shown elsewhere, its legend and save menu below. */
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { useShell } from "../shared/shell";
import { Legend } from "./Legend";
import { px } from "./layout";
import { Matrix, type MatrixActions } from "./Matrix";
import type { Picture } from "./paint";
import { type Saved, SaveMatrix } from "./SaveMenu";
import { summaryOf } from "./usePicture";

export interface HeatMapProps {
  /** Its name in the code and in tests. */
  name: string;
  /** A description for screen readers and the save menu. */
  title: string;
  /** The heading above it: its letter, or by default the title. */
  symbol?: ComponentChildren;
  /** A few words after the heading; by default its size. */
  note?: ComponentChildren;
  picture: Picture;
  /** Without these the matrix is not interactive. */
  actions?: MatrixActions;
  /** What Enter and the space bar do, for screen readers. */
  hint?: string;
  /** How it is saved; without this, or with `hasLegend` false, there is no menu. */
  saved?: Saved;
  hasLegend?: boolean;
}

export function HeatMap({
  name,
  title,
  symbol = title,
  note,
  picture,
  actions,
  hint = "Enter locks a cell.",
  saved,
  hasLegend = true,
}: HeatMapProps) {
  const { theme } = useShell();
  const { view, geometry } = picture;
  const { rows, cols, left } = geometry;
  const summary = useMemo(() => summaryOf(title, view, rows, cols), [title, view, rows, cols]);
  return (
    <div class="named-matrix" data-matrix={name}>
      <div class="matrix-name" style={{ paddingLeft: px(left) }}>
        <span>{symbol}</span>
        <span class="faint number">{note ?? `${rows} × ${cols}`}</span>
      </div>
      <Matrix
        picture={picture}
        theme={theme}
        summary={actions ? `${summary} Arrow keys move. ${hint}` : summary}
        {...(actions && { actions })}
      />
      {hasLegend && (
        <div class="legends" style={{ paddingLeft: px(left) }}>
          <MatrixLegend title={title} picture={picture} {...(saved && { saved })} />
        </div>
      )}
    </div>
  );
}

/** The legend and the save menu of a matrix. */
export function MatrixLegend({
  title,
  symbol,
  picture,
  saved,
}: {
  title: string;
  /** A label, needed if several legends are side by side. */
  symbol?: ComponentChildren;
  picture: Picture;
  saved?: Saved;
}) {
  return (
    <Legend
      palette={picture.palette}
      view={picture.view}
      name={symbol}
      hasHidden={picture.isHidden !== undefined}
    >
      {saved && <SaveMatrix title={title} picture={picture} saved={saved} />}
    </Legend>
  );
}
