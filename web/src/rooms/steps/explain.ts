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
  type MatrixView,
  operand,
  product,
  type SoFar,
  termsOf,
} from "heed/view/parts";
import { kindOf, type MatrixName } from "./matrices";
import type { Solution } from "./problem";
import { editKey, type MatrixCell, type SentenceAttention, type State } from "./state";
import { viewOf } from "./viewOf";

export type MatrixArea = AreaOf<MatrixName>;

/** Whether a cell's number was edited. */
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
  const keySide = (name: "embedding" | "position" | "input"): MatrixName =>
    attention.cross
      ? ({ embedding: "keyEmbedding", position: "keyPosition", input: "keyInput" } as const)[name]
      : name;
  switch (matrix) {
    case "input":
    case "keyInput": {
      const [embedding, position] =
        matrix === "input"
          ? (["embedding", "position"] as const)
          : (["keyEmbedding", "keyPosition"] as const);
      const first = { matrix: embedding, row, col };
      return state.position ? [first, { matrix: position, row, col }] : [first];
    }
    case "q":
      if (isEdited(cell, attention, state)) return [];
      return [
        { matrix: "input", row },
        { matrix: "wq", col },
      ];
    case "k":
    case "v":
      if (isEdited(cell, attention, state)) return [];
      return [
        { matrix: keySide("input"), row },
        { matrix: matrix === "k" ? "wk" : "wv", col },
      ];
    case "joined":
      return Math.floor(col / attention.headSize) === attention.head
        ? [{ matrix: "output", row, col: col % attention.headSize }]
        : [];
    case "result":
      return [
        { matrix: "joined", row },
        { matrix: "wo", col },
      ];
    default:
      return attentionSources(cell as CellOf<AttentionMatrix>, attention.row);
  }
}

/** The sum of the exponentials of the selected row. */
export function totalOf({ running }: Solution): number {
  return running.exponentials?.at(-1) ?? 0;
}

export function explainCell(
  cell: MatrixCell,
  solution: Solution,
  state: State,
  attention: SentenceAttention,
  soFar?: SoFar,
): Explanation | null {
  const { matrix, row: i, col: j } = cell;
  const view = (name: MatrixName): MatrixView =>
    viewOf(solution, name, attention.head) as MatrixView;
  const own = viewOf(solution, matrix, attention.head);
  if (!own || i >= own.rows || j >= own.cols) return null;

  const kind = kindOf(matrix);
  const value = at(own, i, j);
  const queries = solution.problem.queryTokens;
  const keys = solution.problem.keyTokens ?? queries;
  const { row: query, head: knownHead } = solution.problem;
  const tokenRow = kind.rows === "selected" ? query : i;
  const token = kind.rows === "key" ? keys[i] : kind.rows === "query" ? queries[i] : queries[query];
  const isOfToken = kind.rows === "query" || kind.rows === "key" || kind.rows === "selected";
  const rowWord = isOfToken ? `“${token}”` : `row ${i + 1}`;
  const name =
    kind.cols === "key"
      ? `${kind.title}, ${rowWord} attends to “${keys[j]}”`
      : `${kind.title}, ${rowWord}, entry ${j + 1}`;
  const { symbol, role } = kind;
  const explained = explainer({ name, symbol, role, row: tokenRow, col: j, value, soFar });
  const { equals, says } = explained;

  if (isEdited(cell, attention, state)) return says("set by you in place of its projection");
  switch (matrix) {
    case "embedding":
    case "keyEmbedding":
      return says(
        state.example ? "given with the example" : `made from the word and the seed ${state.seed}`,
      );
    case "wq":
    case "wk":
    case "wv":
    case "wo":
      return says(state.example ? "given with the example" : `made from the seed ${state.seed}`);
    case "position":
    case "keyPosition": {
      if (!state.position) return says("because positions are not added");
      const wave = j % 2 === 0 ? "sin" : "cos";
      return equals([{ text: `${wave}(${i} ÷ 10000^(${j - (j % 2)}/${solution.dims.E}))` }]);
    }
    case "input":
    case "keyInput": {
      const side =
        matrix === "input"
          ? (["embedding", "position"] as const)
          : (["keyEmbedding", "keyPosition"] as const);
      if (!state.position) return says("the embedding as it is");
      const parts = side.map((part) => [operand(at(view(part), i, j))]);
      return equals(termsOf(parts, soFar));
    }
    case "q":
      return equals(product(view("input"), i, view("wq"), j, [undefined, "q"], soFar));
    case "k":
      return equals(product(view("keyInput"), i, view("wk"), j, [undefined, "k"], soFar));
    case "v":
      return equals(product(view("keyInput"), i, view("wv"), j, [undefined, "v"], soFar));
    case "joined":
      return says(
        solution.problem.dropped.includes(Math.floor(j / attention.headSize))
          ? `because head ${Math.floor(j / attention.headSize) + 1} is left out`
          : `entry ${(j % attention.headSize) + 1} of the output of head ${Math.floor(j / attention.headSize) + 1}`,
      );
    case "result":
      return equals(product(view("joined"), i, view("wo"), j, [undefined, "o"], soFar));
    default: {
      const divisors = [
        ...(state.scaled ? [`√${attention.headSize}`] : []),
        ...(state.temperature === 1 ? [] : [String(state.temperature)]),
      ];
      const scaling = divisors.map((divisor) => `÷ ${divisor}`).join(" ");
      const shown =
        attention.head === knownHead
          ? { row: query, taken: solution.taken, total: totalOf(solution) }
          : null;
      return explainAttention(
        { matrix, row: i, col: j },
        { view, shown, scaling },
        explained,
        soFar,
      );
    }
  }
}
