/** From a matrix's name to its picture: palette, hidden cells, labels, and which of its rows and columns are lit. */
import { useMemo } from "preact/hooks";
import { type Palette, signedPalette, weightPalette } from "./colour";
import { format } from "./format";
import { type CellSize, geometryOf } from "./layout";
import {
  type Axis,
  at,
  entries,
  kindOf,
  type MatrixName,
  transposed,
  type View,
  viewOf,
} from "./matrices";
import { usePage } from "./page";
import type { Labels, Light, Picture } from "./paint";
import type { Scene } from "./state";

export function sizesOf(scene: Scene): Record<Axis, number> {
  return {
    query: scene.queries.tokens.length,
    key: scene.keys.tokens.length,
    embedding: scene.embeddingSize,
    head: scene.headSize,
    joined: scene.heads * scene.headSize,
  };
}

/** Matrices of attention weights are shares; all others are signed numbers. */
export function isShare(name: MatrixName): boolean {
  return name === "weights";
}

export interface PictureOptions {
  readonly cell: CellSize;
  readonly labels?: Labels;
  /** Keys are drawn as columns where they meet the queries. */
  readonly flip?: boolean;
  /** Another head than the chosen one. */
  readonly head?: number;
  /** A picture to choose from, in which nothing is lit. */
  readonly quiet?: boolean;
}

function flipLight({ row, col }: Light): Light {
  return { ...(col !== undefined && { row: col }), ...(row !== undefined && { col: row }) };
}

export function usePalette(name: MatrixName, view: View | null): Palette {
  const { state, theme } = usePage();
  return useMemo(() => {
    if (isShare(name)) return weightPalette(state.range, state.curve);
    const [low, high] = (view && rangeOf(view)) ?? [0, 1];
    return signedPalette(Math.max(-low, high), theme);
  }, [name, view, state.range, state.curve, theme]);
}

const noLabels: Labels = {};

export function usePicture(name: MatrixName, options: PictureOptions): Picture {
  const page = usePage();
  const { scene, solution } = page;
  const { cell, labels = noLabels, flip = false, head = scene.head, quiet = false } = options;
  const kind = kindOf(name);
  const sizes = sizesOf(scene);
  const shape = { rows: sizes[kind.rows], cols: sizes[kind.cols] };

  const view = useMemo(() => {
    const upright = solution && viewOf(solution, name, head);
    return upright && (flip ? transposed(upright) : upright);
  }, [solution, name, head, flip]);
  const isHidden = useMemo(() => {
    const masked =
      (name === "masked" || isShare(name)) && solution && viewOf(solution, "masked", head);
    const hides = (score: number) => score === Number.NEGATIVE_INFINITY;
    if (!masked || ![...entries(masked)].some(hides)) return undefined;
    return (row: number, col: number) => hides(at(masked, row, col));
  }, [solution, name, head]);

  const palette = usePalette(name, view);

  const flipped = flip ? { rows: shape.cols, cols: shape.rows } : shape;
  const geometry = geometryOf(flipped.rows, flipped.cols, cell, labels);
  const light = (at: Light) => (flip ? flipLight(at) : at);
  const { row, col, matrix } = page.active ?? {};
  const marks = {
    selected: !quiet && kind.rows === "query" ? { row: scene.row } : null,
    lights: quiet ? [] : page.lights.filter((at) => at.matrix === name).map(light),
    active: !quiet && matrix === name ? light({ row, col }) : null,
  };
  // A picture is drawn again only when it differs: pointing at a cell changes few of the many on the page.
  const key = JSON.stringify([geometry, labels, marks]);
  return useMemo(
    () => ({ geometry, view, palette, labels, isHidden, ...marks }),
    [view, palette, isHidden, key],
  );
}

/** The smallest and the largest number of a matrix, those that are hidden left out; null if all are. */
export function rangeOf(view: View): readonly [number, number] | null {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of entries(view)) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low > high ? null : [low, high];
}

/** A sentence about a matrix, for those who do not see it. */
export function summaryOf(name: MatrixName, { view, geometry }: Picture): string {
  const size = `${kindOf(name).title}, ${geometry.rows} rows and ${geometry.cols} columns`;
  if (!view) return `${size}.`;
  const range = rangeOf(view);
  return range
    ? `${size}, from ${format(range[0])} to ${format(range[1])}.`
    : `${size}, all hidden.`;
}
