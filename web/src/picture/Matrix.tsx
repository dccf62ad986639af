/** A matrix as a heat map with its name, legend and save menu, for numbers of any meaning. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import {
  type Area,
  type CellSize,
  contentsOf,
  geometryOf,
  inkIn,
  inkOf,
  type Labels,
  type MatrixActions,
  MatrixCanvas,
  type MatrixView,
  notesOf,
  type Palette,
  type Picture,
  px,
  rangeOf,
  type Saved,
  summaryOf,
} from "#parts";
import { useShell } from "../shared/shell";
import { pageZoom } from "../shared/zoom";
import { Legend } from "./Legend";
import { SaveMenu } from "./SaveMenu";
import { usePixelRatio } from "./usePixelRatio";

interface PictureOf {
  /** Null until the numbers arrive; until then the matrix reserves its space. */
  readonly view: MatrixView | null;
  readonly rows: number;
  readonly cols: number;
  readonly palette: Palette;
  readonly cell: CellSize;
  readonly labels?: Labels;
  /** The selected row or column, marked by a thin outline. */
  readonly selected?: Area | null;
  /** The areas from which the active cell is computed. */
  readonly highlights?: readonly Area[];
  /** The cells that a person edited. */
  readonly marked?: readonly Area[];
  /** The cell that a person points at or locks. */
  readonly active?: Area | null;
  readonly decimals?: number | undefined;
}

const noLabels: Labels = {};

export function usePicture(of: PictureOf): Picture {
  const { view, rows, cols, palette, cell, decimals } = of;
  const { labels = noLabels, selected = null, highlights = [], marked = [], active = null } = of;
  const geometry = geometryOf(rows, cols, cell, labels);
  // Memoised, because pointing at a cell changes only the highlights of a few pictures.
  const still = useMemo(
    () => ({ geometry, view, palette, labels, marked, decimals }),
    [view, palette, decimals, JSON.stringify(geometry), textOf(labels), JSON.stringify(marked)],
  );
  return useMemo(
    () => ({ ...still, still, selected, highlights, active }),
    [still, JSON.stringify([selected, highlights, active])],
  );
}

/** Caches the joined text of a list of labels, to compare long lists quickly. */
const texts = new WeakMap<readonly string[], string>();

function textOf({ rows, cols, rowAxis, colAxis, chips = false }: Labels): string {
  return [rows, cols, [rowAxis ?? "", colAxis ?? "", `${chips}`]]
    .map((words) => {
      if (!words) return "";
      const text = texts.get(words) ?? JSON.stringify(words);
      texts.set(words, text);
      return text;
    })
    .join();
}

interface MatrixProps {
  picture: Picture;
  /** The description for screen readers: the matrix, its size and its range. */
  summary: string;
  /** Without them the matrix is not interactive. */
  actions?: MatrixActions;
}

export function Matrix({ picture, summary, actions }: MatrixProps) {
  const { theme } = useShell();
  const ratio = usePixelRatio();
  const canvas = useRef<HTMLCanvasElement>(null);
  const matrix = useRef<MatrixCanvas | null>(null);
  useLayoutEffect(() => {
    const { current } = canvas;
    if (!current) return;
    matrix.current = new MatrixCanvas(current, pageZoom);
    return () => matrix.current?.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (!canvas.current) return;
    matrix.current?.show({ picture, summary, actions, ratio, ink: inkIn(theme, canvas.current) });
  });
  return <canvas ref={canvas} />;
}

export interface HeatMapProps {
  /** The unique name in the code and in tests. */
  name: string;
  /** A description for screen readers and the save menu. */
  title: string;
  /** The heading above it: its letter, or by default the title. */
  symbol?: ComponentChildren;
  /** A short note after the heading; by default the size. */
  note?: ComponentChildren;
  picture: Picture;
  /** Without them the matrix is not interactive. */
  actions?: MatrixActions;
  /** The effect of Enter and the space bar, for screen readers. */
  hint?: string;
  /** How the matrix is saved. There is no menu without it, or if `hasLegend` is false. */
  saved?: Saved;
  hasLegend?: boolean;
}

export function HeatMap(props: HeatMapProps) {
  const { name, title, note, picture, actions, saved } = props;
  const { symbol = title, hint = "Enter keeps a cell.", hasLegend = true } = props;
  const { view, geometry } = picture;
  const { rows, cols, left } = geometry;
  const summary = useMemo(
    () => summaryOf(title, rows, cols, view ? rangeOf(view) : undefined),
    [title, view, rows, cols],
  );
  return (
    <div class="named-matrix" data-matrix={name}>
      <div class="matrix-name" style={{ paddingLeft: px(left) }}>
        <span>{symbol}</span>
        <span class="faint number">{note ?? `${rows} × ${cols}`}</span>
      </div>
      <div class="matrix-place">
        <Matrix
          picture={picture}
          summary={actions ? `${summary} Arrow keys move. ${hint}` : summary}
          {...(actions && { actions })}
        />
      </div>
      {hasLegend && (
        <div class="legends" style={{ paddingLeft: px(left) }}>
          <MatrixLegend title={title} picture={picture} {...(saved && { saved })} />
        </div>
      )}
    </div>
  );
}

interface MatrixLegendProps {
  title: string;
  /** A label, needed if several legends are next to one another. */
  symbol?: ComponentChildren;
  picture: Picture;
  saved?: Saved;
}

export function MatrixLegend({ title, symbol, picture, saved }: MatrixLegendProps) {
  const notes = useMemo(() => notesOf(picture.still), [picture.still]);
  return (
    <Legend
      palette={picture.palette}
      view={picture.view}
      name={symbol}
      hasHidden={picture.view?.hides !== undefined}
    >
      {notes.map((note) => (
        <span key={note}>{note}</span>
      ))}
      {saved && picture.view && (
        <SaveMenu
          {...{ title, file: saved.file }}
          contents={contentsOf(picture, saved, () => inkOf(document.body))}
        />
      )}
    </Legend>
  );
}
