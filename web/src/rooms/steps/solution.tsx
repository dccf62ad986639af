/**
 * The solver's answer and its matrices. Asks the solver, keeps its last answer for the room, and draws each matrix of
 * it by name.
 */

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import {
  type Area,
  at,
  attentionPalette,
  type Cell,
  type CellSize,
  decimalsOf,
  type Labels,
  type MatrixView,
  mostDecimals,
  type Palette,
  type Picture,
  partOf,
  rangeOf,
  type Saved,
  signedPalette,
  tokenAxes,
  transposed,
} from "#parts";
import { HeatMap, MatrixLegend, usePicture } from "../../picture/Matrix";
import type { News } from "../../shared/loading";
import { useShell } from "../../shared/shell";
import { useAnswer } from "../../worker/engineClient";
import { isAfter, kindOf, type MatrixName } from "./matrices";
import type { Problem, Solution } from "./problem";
import { headNumbers, type State } from "./settings";
import { problemOf, type SentenceAttention, sizesOf } from "./state";
import { viewOf } from "./viewOf";
import { useStepsWorkspace } from "./workspace";

/** The settings of a problem, and the attention that they mean. */
interface Asked {
  readonly state: State;
  readonly attention: SentenceAttention;
}

export interface Solved {
  /** The last answer and its settings; null before the first one. */
  readonly answer: ({ readonly solution: Solution } & Asked) | null;
  /** Whether the answer belongs to other settings than the latest, or these have no token. */
  readonly isStale: boolean;
  readonly failure: string | null;
  /** How much of our language model has come. */
  readonly news: News;
  /** Cancels the running computation, and with it the loading. */
  cancel(): void;
}

const nothingYet: News = { loaded: 0, total: 0 };

/** Asks the solver for the latest settings. */
export function useSolved(state: State, attention: SentenceAttention): Solved {
  const { stage, cell, number, time, range, curve, mass, trialSize, text, ...relevant } = state;
  // Only settings that affect the numbers change the problem, and the tokens of the text, which may come later.
  const problem = useMemo(
    () => problemOf(state, attention),
    [attention, ...Object.values(relevant)],
  );
  const asked = useRef(new WeakMap<Problem, Asked>());
  useEffect(() => {
    if (problem) asked.current.set(problem, { state, attention });
  }, [problem]);

  const [news, setNews] = useState(nothingYet);
  const asking = useAnswer("steps", problem, undefined, setNews);
  const { answer: solution, request, failure, cancel } = asking;
  const answered = request && asked.current.get(request);
  // Without a token the last pictures stay, so that nothing moves until there is a token.
  const last = useRef<Solved["answer"]>(null);
  const answer = useMemo(
    () => (solution && answered ? { solution, ...answered } : last.current),
    [solution, answered],
  );
  last.current = answer;
  const isStale = problem === null || request !== problem;
  return { answer, isStale, failure, news, cancel };
}

export interface PictureOptions {
  readonly cell: CellSize;
  readonly labels?: Labels;
  /** Whether it is drawn transposed, as the keys are in their product with the queries. */
  readonly flip?: boolean;
  /** The head, if not the selected one. */
  readonly head?: number;
  /** Draws no highlights. */
  readonly quiet?: boolean;
  /** Draws the pooled matrix in the same space. */
  readonly small?: boolean;
  /** Shows only the numbers that the playing computation has reached. */
  readonly unfolds?: boolean;
  /** The maximum number of decimals. */
  readonly decimals?: number;
}

/** Matrices with hidden cells. */
const ofMask: readonly MatrixName[] = ["masked", "exponentials", "weights"];

const isHiddenScore = (score: number) => score === Number.NEGATIVE_INFINITY;

function hasHidden(masked: MatrixView): boolean {
  for (let i = 0; i < masked.rows; ++i)
    for (let j = 0; j < masked.cols; ++j) if (isHiddenScore(at(masked, i, j))) return true;
  return false;
}

function rowOf(view: MatrixView, row: number): MatrixView {
  return { ...view, rows: 1, offset: view.offset + row * view.rowStride };
}

/** The same scores at three stages. One colour scale for them shows the effect of the division. */
const ofScores: readonly MatrixName[] = ["scores", "scaled", "masked"];

/** The largest distance from zero of any score at any stage. */
export function farthestScore(solution: Solution, head: number): number {
  const ranges = ofScores.map((name) => rangeOf(viewOf(solution, name, head) as MatrixView));
  return Math.max(...ranges.flatMap((range) => range ?? []).map(Math.abs), 0);
}

function usePalette(name: MatrixName, head: number): Palette {
  const { state, solution } = useStepsWorkspace();
  const { theme } = useShell();
  const { range, curve } = state;
  return useMemo(() => {
    if (solution && ofScores.includes(name))
      return signedPalette(farthestScore(solution, head), theme);
    return attentionPalette(name, solution && viewOf(solution, name, head), {
      range,
      curve,
      theme,
    });
  }, [name, head, solution, range, curve, theme]);
}

/** The picture of a matrix: palette, hidden cells, labels and highlights. */
export function useMatrixPicture(name: MatrixName, options: PictureOptions): Picture {
  const workspace = useStepsWorkspace();
  const { attention, solution } = workspace;
  const { cell, labels, flip = false, head = attention.head, quiet = false } = options;
  const { unfolds = false, small = false } = options;
  const unfolding =
    unfolds && workspace.unfolding?.targets.includes(name) ? workspace.unfolding : null;
  const kind = kindOf(name);
  const sizes = sizesOf(attention);
  const source = useMemo(
    () => (small && solution ? { ...solution, ...solution.small } : solution),
    [solution, small],
  );
  const whole = useMemo(() => source && viewOf(source, name, head), [source, name, head]);
  const all = { rows: sizes[kind.rows], cols: sizes[kind.cols] };
  const shape = small && whole ? { rows: whole.rows, cols: whole.cols } : all;
  const hides = useMemo(() => {
    const all = ofMask.includes(name) && source && viewOf(source, "masked", head);
    if (!all || !solution) return undefined;
    const masked = name === "exponentials" ? rowOf(all, solution.problem.row) : all;
    if (!hasHidden(masked)) return undefined;
    return (row: number, col: number) =>
      isHiddenScore(at(masked, row, col)) && (!unfolding || unfolding.isMade(name, row, col));
  }, [source, name, head, unfolding]);
  const view = useMemo(() => {
    const upright = whole && { ...(unfolding ? partOf(whole, name, unfolding) : whole), hides };
    return upright && (flip ? transposed(upright) : upright);
  }, [whole, name, unfolding, flip, hides]);
  const palette = usePalette(name, head);

  const areaOf = ({ row, col }: Area) => (flip ? { row: col, col: row } : { row, col });
  const { row, col, matrix } = workspace.active ?? {};
  return usePicture({
    view,
    ...(flip ? { rows: shape.cols, cols: shape.rows } : shape),
    palette,
    cell: {
      width: (cell.width * all.cols) / Math.max(1, shape.cols),
      height: (cell.height * all.rows) / Math.max(1, shape.rows),
    },
    ...(labels && { labels }),
    decimals: options.decimals,
    selected: !quiet && kind.rows === "query" ? { row: attention.row } : null,
    highlights: quiet ? [] : workspace.highlights.filter((at) => at.matrix === name).map(areaOf),
    marked: quiet
      ? []
      : [...workspace.state.edits.values()]
          .filter((edit) => edit.matrix === name && edit.head === head)
          .map(areaOf),
    active: !quiet && matrix === name ? areaOf({ row, col }) : null,
  });
}

/** The number of decimals that fits into the cells of each of these matrices, which are side by side. */
export function useCommonDecimals(names: readonly MatrixName[], cell: CellSize): number {
  const { attention, solution } = useStepsWorkspace();
  return useMemo(() => {
    const views = solution ? names.map((name) => viewOf(solution, name, attention.head)) : [];
    const fits = views.map((view) => view && decimalsOf(view, cell));
    return Math.min(mostDecimals, ...fits.map((decimals) => decimals ?? mostDecimals));
  }, [solution, names.join(), attention.head, cell.width, cell.height]);
}

function MatrixSymbol({ name, flip = false }: { name: MatrixName; flip?: boolean }) {
  const { symbol, role } = kindOf(name);
  const [base, power] = symbol.split("^");
  const [letter, index] = (base as string).split("_");
  return (
    <span class={role ? `symbol role-${role}` : "symbol"}>
      {letter}
      {index && <sub>{index}</sub>}
      {power && <sup>{power}</sup>}
      {flip && "ᵀ"}
    </span>
  );
}

interface NamedMatrixProps {
  name: MatrixName;
  options: PictureOptions;
  /** A short note after the name; by default the size. */
  note?: ComponentChildren;
}

/** An interactive matrix. Its cells can be active, locked and painted, and its rows selected. */
export function NamedMatrix({ name, options, note }: NamedMatrixProps) {
  const { state, attention, set, point, lock } = useStepsWorkspace();
  const { restrictions } = useShell();
  const { flip = false } = options;
  const upright = ({ row, col }: Cell) => ({
    matrix: name,
    row: flip ? col : row,
    col: flip ? row : col,
  });
  const paint = (cell: Cell, hide: boolean) =>
    set(({ hidden }) => {
      const next = new Set(hidden);
      if (hide) next.add(`${cell.row},${cell.col}`);
      else next.delete(`${cell.row},${cell.col}`);
      return { hidden: next };
    });
  const isQueries = kindOf(name).rows === "query";
  const takesPaint =
    name === "masked" &&
    state.mask === "painted" &&
    attention.queries.tokens.length > 0 &&
    !restrictions.lock;

  return (
    <HeatMap
      name={name}
      title={kindOf(name).title}
      symbol={<MatrixSymbol name={name} flip={flip} />}
      note={note}
      picture={useMatrixPicture(name, { ...options, unfolds: true })}
      hasLegend={false}
      {...(takesPaint && { hint: "Space hides or shows a cell, Enter keeps it." })}
      actions={{
        point: (cell, by) => point(cell && upright(cell), by),
        press: (cell) => lock(upright(cell)),
        selectRow: isQueries && !flip ? (row) => set({ row }) : undefined,
        paint: takesPaint ? paint : undefined,
      }}
    />
  );
}

/** Describes a saved matrix: its name, its head or word, the settings that changed it, and the text. */
function captionOf(name: MatrixName, attention: SentenceAttention, state: State): string {
  const { title, symbol, rows, cols } = kindOf(name);
  const isOfHead = [rows, cols].some((axis) => ["head", "key", "selected"].includes(axis));
  const left = headNumbers(state.ablated).map((head) => `head ${head}`);
  const word = attention.queries.tokens[attention.row];
  const changes = [
    ...(state.scaled ? [] : ["not divided by √d"]),
    ...(state.temperature === 1 ? [] : [`temperature ${state.temperature}`]),
  ];
  const masks = state.mask === "none" ? [] : [`${state.mask} mask`];
  const parts = [
    `${title} (${symbol})`,
    ...(rows === "selected" ? [`of “${word}”`] : []),
    ...(state.model !== null && attention.model ? [attention.model.name] : []),
    ...(attention.model ? [`layer ${state.layer + 1}`] : []),
    ...(attention.heads > 1 && isOfHead ? [`head ${attention.head + 1}`] : []),
    ...(attention.model?.rotates && !state.position && isAfter(name, "q") ? ["not rotated"] : []),
    ...(isAfter(name, "joined") && left.length > 0 ? [`without ${left.join(", ")}`] : []),
    ...(isAfter(name, "scaled") ? changes : []),
    ...(isAfter(name, "masked") ? masks : []),
  ];
  return `${parts.join(", ")}: ${state.text.slice(0, 60)}`;
}

/** The legend and save menu of a matrix that is drawn elsewhere. */
export function NamedLegend({ name, options }: { name: MatrixName; options: PictureOptions }) {
  const { attention, state } = useStepsWorkspace();
  const { flip = false } = options;
  const kind = kindOf(name);
  const { queries, keys, row } = attention;
  const tokensOf = (axis: string) => {
    if (axis === "selected") return queries.tokens.slice(row, row + 1);
    return { query: queries.tokens, key: keys.tokens }[axis];
  };
  const picture = useMatrixPicture(name, options);
  const saved: Saved = {
    file: name,
    caption: captionOf(name, attention, state),
    // On the page a corner shares the labels of its neighbours, but a saved file needs its own.
    rows: tokensOf(flip ? kind.cols : kind.rows),
    cols: tokensOf(flip ? kind.rows : kind.cols),
    plays: "cells",
  };
  const isPairs = kind.rows === "query" && kind.cols === "key";
  const inFile = isPairs ? { ...picture, labels: { ...picture.labels, ...tokenAxes } } : picture;
  return (
    <MatrixLegend
      title={kind.title}
      symbol={<MatrixSymbol name={name} flip={flip} />}
      picture={inFile}
      saved={saved}
    />
  );
}
