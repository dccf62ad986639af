/** Explains the number of a cell: the rows and columns that it depends on, and its formula with their numbers. */

import {
  type AreaOf,
  type AttentionMatrix,
  at,
  attentionSources,
  type CellOf,
  type Explanation,
  explainAttention,
  explainer,
  type FormulaPiece,
  format,
  type MatrixView,
  operand,
  product,
  type SoFar,
  termsOf,
  times,
} from "#parts";
import { kindOf, type MatrixName } from "./matrices";
import type { Solution } from "./problem";
import { rotationOf } from "./rotation";
import { editKey, type MatrixCell, type State } from "./settings";
import {
  addsPositions,
  divisorsOf,
  isRotated,
  layersBefore,
  type SentenceAttention,
  sourceHead,
} from "./state";
import { viewOf } from "./viewOf";

export type MatrixArea = AreaOf<MatrixName>;

/** Sums of two matrices. */
const summands = {
  input: ["embedding", "position"],
  keyInput: ["keyEmbedding", "keyPosition"],
} as const;

/** Products of two matrices, with the role of the second. */
const factors = {
  q: ["input", "wq", "q"],
  k: ["keyInput", "wk", "k"],
  v: ["keyInput", "wv", "v"],
  result: ["joined", "wo", "o"],
} as const;

/** Products that are rotated by the position of their row. */
const rotating = { q: true, k: true } as const;

const isIn = <Names extends object>(
  name: MatrixName,
  names: Names,
): name is MatrixName & keyof Names => Object.hasOwn(names, name);

export function isEdited(cell: MatrixCell, { head }: SentenceAttention, { edits }: State): boolean {
  return edits.has(editKey({ ...cell, head }));
}

/** The rows, columns and cells that `cell` is computed from. */
export function sourcesOf(
  cell: MatrixCell,
  attention: SentenceAttention,
  state: State,
): readonly MatrixArea[] {
  const { matrix, row, col } = cell;
  if (isEdited(cell, attention, state)) return [];
  if (isIn(matrix, summands)) {
    const [embedding, position] = summands[matrix];
    if (attention.model?.isPostNorm === false) return [{ matrix: embedding, row }];
    const first = { matrix: embedding, row, col };
    return addsPositions(state) ? [first, { matrix: position, row, col }] : [first];
  }
  if (isIn(matrix, factors)) {
    const [left, right] = factors[matrix];
    // In self-attention both inputs are the same, and only one of them is drawn.
    const drawn = left === "keyInput" && !attention.cross ? "input" : left;
    const pair = (col + attention.headSize / 2) % attention.headSize;
    const isOfAll = attention.model?.hasHeadNorms === true && isIn(matrix, rotating);
    return [
      { matrix: drawn, row },
      // The norm of a head depends on all its numbers.
      isOfAll ? { matrix: right } : { matrix: right, col },
      ...(isRotated(state, attention) && isIn(matrix, rotating) && !isOfAll
        ? [{ matrix: right, col: pair }]
        : []),
    ];
  }
  if (matrix === "joined")
    return sourceHead(cell, attention) === attention.head
      ? [{ matrix: "output", row, col: col % attention.headSize }]
      : [];
  return attentionSources(cell as CellOf<AttentionMatrix>, attention.row);
}

/** The sum of the exponentials of the selected row. */
export function totalOf({ running }: Solution): number {
  return running.exponentials?.at(-1) ?? 0;
}

/** The name of a cell, with the tokens of its row and column. */
function nameOf({ matrix, row, col }: MatrixCell, { problem }: Solution): string {
  const { title, rows, cols } = kindOf(matrix);
  const queries = problem.queryTokens;
  const keys = problem.keyTokens ?? queries;
  const tokens = { query: queries[row], key: keys[row], selected: queries[problem.row] };
  const rowWord = rows in tokens ? `“${tokens[rows as keyof typeof tokens]}”` : `row ${row + 1}`;
  return cols === "key"
    ? `${title}, ${rowWord} attends to “${keys[col]}”`
    : `${title}, ${rowWord}, entry ${col + 1}`;
}

/** The origin of a number that is not computed from others; null for other numbers. */
function originOf(
  cell: MatrixCell,
  { problem, rotation }: Solution,
  state: State,
  attention: SentenceAttention,
  view: (name: MatrixName) => MatrixView,
): string | null {
  const { matrix, row, col } = cell;
  const { model, headSize } = attention;
  const given = { example: "given with the example", learned: "learned by the model" };
  if (isEdited(cell, attention, state)) return "set by you in place of the computed one";
  if (matrix === "embedding" || matrix === "keyEmbedding") {
    if (state.vectors === "random") return `made from the word and the seed ${state.seed}`;
    if (state.vectors === "example") return given.example;
    if (state.layer > 0) return `made by ${layersBefore(state)}`;
    return model?.words.embedding ?? given.learned;
  }
  if (matrix === "wo" || kindOf(matrix).rows === "embedding")
    return state.vectors === "random" ? `made from the seed ${state.seed}` : given[state.vectors];
  if (matrix === "position" || matrix === "keyPosition")
    return addsPositions(state) ? null : "because positions are not added";
  if (isIn(matrix, summands)) {
    if (addsPositions(state)) return null;
    return model
      ? `${format(at(view("embedding"), row, col))} ${model.words.normed}`
      : "the embedding as it is";
  }
  if (isIn(matrix, rotating))
    return model?.hasHeadNorms && !rotation
      ? `the entry of X W_${matrix.toUpperCase()}${model.biases.qkv ? " + bias" : ""} ÷ the root mean square of all ${headSize} of its row × a learned factor`
      : null;
  if (matrix !== "joined") return null;
  const head = sourceHead(cell, attention);
  return problem.ablated.includes(head)
    ? `because head ${head + 1} is left out`
    : `entry ${(col % headSize) + 1} of the output of head ${head + 1}`;
}

/** The formula of a number outside of attention itself; null for other numbers. */
function formulaOf(
  { matrix, row, col }: MatrixCell,
  { dims, rotation, biases }: Solution,
  { head }: SentenceAttention,
  view: (name: MatrixName) => MatrixView,
  soFar: SoFar | undefined,
): readonly FormulaPiece[] | null {
  if (matrix === "position" || matrix === "keyPosition") {
    const wave = col % 2 === 0 ? "sin" : "cos";
    return [{ text: `${wave}((${row + 1} − 1) ÷ 10000^(${col - (col % 2)}/${dims.E}))` }];
  }
  if (isIn(matrix, summands))
    return termsOf(
      summands[matrix].map((part) => [operand(at(view(part), row, col))]),
      soFar,
    );
  if (!isIn(matrix, factors)) return null;
  const [left, right, role] = factors[matrix];
  const [x, w] = [view(left), view(right)];
  const first = matrix === "result" ? 0 : head * dims.D;
  if (!rotation || !isIn(matrix, rotating)) {
    const bias = biases[matrix]?.[first + col];
    const terms = product(x, row, w, col, [undefined, role], soFar);
    // A partial sum is one of the product.
    return bias === undefined || soFar ? terms : [...terms, { text: " + bias " }, operand(bias)];
  }
  const { pair, frequency, sign } = rotationOf(rotation.frequencies, row, col);
  const angle = `((${row + 1} − 1) × ${Number(frequency.toPrecision(4))})`;
  const term = (value: number, wave: "cos" | "sin") => [
    operand(value, role),
    { text: `${times}${wave}${angle}` },
  ];
  const start = row * dims.H * dims.D + first;
  const [own, other] = [col, pair].map((col) => rotation[matrix][start + col]) as [number, number];
  return termsOf([term(own, "cos"), term(sign * other, "sin")], soFar);
}

export function explainCell(
  cell: MatrixCell,
  solution: Solution,
  state: State,
  attention: SentenceAttention,
  soFar?: SoFar,
): Explanation | null {
  const { matrix, row, col } = cell;
  const view = (name: MatrixName) => viewOf(solution, name, attention.head) as MatrixView;
  const own = viewOf(solution, matrix, attention.head);
  if (!own || row >= own.rows || col >= own.cols) return null;

  const { row: query, head: knownHead } = solution.problem;
  const { rows, symbol, role } = kindOf(matrix);
  const explained = explainer({
    ...{ name: nameOf(cell, solution), symbol, role, col, soFar },
    row: rows === "selected" ? query : row,
    value: at(own, row, col),
  });
  const origin = originOf(cell, solution, state, attention, view);
  if (origin !== null) return explained.says(origin);
  const formula = formulaOf(cell, solution, attention, view, soFar);
  if (formula) return explained.equals(formula);
  const scaling = divisorsOf(state, attention)
    .map((divisor) => `÷ ${divisor}`)
    .join(" ");
  const shown =
    attention.head === knownHead
      ? { row: query, taken: solution.taken, total: totalOf(solution) }
      : null;
  const inAttention = cell as CellOf<AttentionMatrix>;
  return explainAttention(inAttention, { view, shown, scaling }, explained, soFar);
}
