/**
 * The solver's answer and its matrices: asks the solver, keeps its last answer for the room, and draws each matrix of
 * it by name.
 */
import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useMemo, useRef } from "preact/hooks";
import { type Palette, signedPalette, weightPalette } from "../../picture/colour";
import type { Area, Cell, CellSize, Labels } from "../../picture/layout";
import { HeatMap, MatrixLegend, usePicture } from "../../picture/Matrix";
import type { Picture } from "../../picture/paint";
import type { Saved } from "../../picture/SaveMenu";
import { at, type MatrixView, rangeOf, transposed } from "../../picture/view";
import { useShell } from "../../shared/shell";
import { useAnswer } from "../../worker/engineClient";
import { isShare, kindOf, type MatrixName } from "./matrices";
import type { Problem, Solution } from "./problem";
import { problemOf, type SentenceAttention, type State, sizesOf } from "./state";
import { partOf } from "./unfolding";
import { viewOf } from "./viewOf";
import { useStepsWorkspace } from "./workspace";

export interface Solved {
  /** The last answer and its settings; null before the first one, and while there is no token. */
  readonly answer: { readonly solution: Solution; readonly state: State } | null;
  readonly failure: string | null;
}

const SolutionContext = createContext<Solution | null>(null);

/**
 * Asks the solver for the latest settings. `children` is a function, because Preact keeps the old tree of children that
 * are passed on unchanged, and with it every old solution.
 */
export function SolutionProvider({
  state,
  attention,
  children,
}: {
  state: State;
  attention: SentenceAttention;
  children(solved: Solved): ComponentChildren;
}) {
  const { stage, cell, time, range, curve, mass, ...relevant } = state;
  // Only settings that affect the numbers change the problem.
  const problem = useMemo(() => problemOf(state, attention), Object.values(relevant));
  const asked = useRef(new WeakMap<Problem, State>());
  useEffect(() => {
    if (problem) asked.current.set(problem, state);
  }, [problem]);

  const { answer: solution, request, failure } = useAnswer("steps", problem);
  const answered = request && asked.current.get(request);
  const answer = useMemo(
    () => (solution && answered ? { solution, state: answered } : null),
    [solution, answered],
  );
  return (
    <SolutionContext.Provider value={answer?.solution ?? null}>
      {children({ answer, failure })}
    </SolutionContext.Provider>
  );
}

/** Null before the first answer, and while there is no token. */
export function useSolution(): Solution | null {
  return useContext(SolutionContext);
}

export interface PictureOptions {
  readonly cell: CellSize;
  readonly labels?: Labels;
  /** Whether it is drawn transposed, as keys are where they meet the queries. */
  readonly flip?: boolean;
  /** The head, if not the selected one. */
  readonly head?: number;
  /** Draws no highlights. */
  readonly quiet?: boolean;
  /** Draws the pooled matrix, in the same space. */
  readonly small?: boolean;
  /** Shows only what the playing computation has reached. */
  readonly unfolds?: boolean;
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

function transposedArea({ row, col }: Area): Area {
  return { ...(col !== undefined && { row: col }), ...(row !== undefined && { col: row }) };
}

function usePalette(name: MatrixName, head: number): Palette {
  const { state } = useStepsWorkspace();
  const solution = useSolution();
  const { theme } = useShell();
  return useMemo(() => {
    if (isShare(name)) return weightPalette(state.range, state.curve, theme);
    const view = solution && viewOf(solution, name, head);
    const [low, high] = (view && rangeOf(view)) ?? [0, 1];
    return signedPalette(Math.max(-low, high), theme);
  }, [name, head, solution, state.range, state.curve, theme]);
}

/** The picture of a matrix: palette, hidden cells, labels and highlights. */
export function useMatrixPicture(name: MatrixName, options: PictureOptions): Picture {
  const workspace = useStepsWorkspace();
  const { attention } = workspace;
  const solution = useSolution();
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
  const view = useMemo(() => {
    const upright = whole && unfolding ? partOf(whole, name, unfolding) : whole;
    return upright && (flip ? transposed(upright) : upright);
  }, [whole, name, unfolding, flip]);
  const isHidden = useMemo(() => {
    const all = ofMask.includes(name) && source && viewOf(source, "masked", head);
    if (!all || !solution) return undefined;
    const masked = name === "exponentials" ? rowOf(all, solution.problem.row) : all;
    if (!hasHidden(masked)) return undefined;
    return (row: number, col: number) =>
      isHiddenScore(at(masked, row, col)) && (!unfolding || unfolding.isMade(name, row, col));
  }, [source, name, head, unfolding]);
  const palette = usePalette(name, head);

  const areaOf = ({ row, col }: Area) => (flip ? transposedArea({ row, col }) : { row, col });
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
    isHidden,
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

/** An interactive matrix: its cells can be pointed at, locked and painted, and its rows selected. */
export function NamedMatrix({
  name,
  options,
  note,
}: {
  name: MatrixName;
  options: PictureOptions;
  /** A few words after the name, instead of the size. */
  note?: ComponentChildren;
}) {
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

/** The legend and save menu of a matrix that is drawn elsewhere. */
export function NamedLegend({ name, options }: { name: MatrixName; options: PictureOptions }) {
  const { attention, state } = useStepsWorkspace();
  const { flip = false } = options;
  const kind = kindOf(name);
  const tokensOf = (axis: string) =>
    axis === "query"
      ? attention.queries.tokens
      : axis === "key"
        ? attention.keys.tokens
        : undefined;
  const sizes = sizesOf(attention);
  const head = sizes.head === sizes.joined ? "" : `, head ${attention.head + 1}`;
  const saved: Saved = {
    file: name,
    caption: `${kind.title} (${kind.symbol})${head}: ${state.text.slice(0, 60)}`,
    // On the page a corner shares the labels of its neighbours; in a file it needs its own.
    rows: tokensOf(flip ? kind.cols : kind.rows),
    cols: tokensOf(flip ? kind.rows : kind.cols),
  };
  return (
    <MatrixLegend
      title={kind.title}
      symbol={<MatrixSymbol name={name} flip={flip} />}
      picture={useMatrixPicture(name, options)}
      saved={saved}
    />
  );
}
