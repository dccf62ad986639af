/** How a cell's number is computed: the rows and columns that it depends on, and its formula with their numbers. */

import {
  type Area,
  at,
  type Explanation,
  type FormulaPiece,
  format,
  type MatrixView,
  operand,
  type Role,
  sum,
  times,
  transposed,
} from "heed/view/parts";
import { kindOf, type MatrixName } from "./matrices";
import type { Solution } from "./problem";
import { editKey, type MatrixCell, type SentenceAttention, type State } from "./state";
import { viewOf } from "./viewOf";

export interface MatrixArea extends Area {
  readonly matrix: MatrixName;
}

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
    case "scores":
      return [
        { matrix: "q", row },
        { matrix: "k", row: col },
      ];
    case "scaled":
      return [{ matrix: "scores", row, col }];
    case "masked":
      return [{ matrix: "scaled", row, col }];
    case "exponentials":
      return [{ matrix: "masked", row: attention.row, col }];
    case "weights": {
      const scores: MatrixArea = { matrix: "masked", row };
      return row === attention.row ? [scores, { matrix: "exponentials", row: 0 }] : [scores];
    }
    case "output":
      return [
        { matrix: "weights", row },
        { matrix: "v", col },
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
      return [];
  }
}

/** The sum of the exponentials of the selected row. */
export function totalOf({ running }: Solution): number {
  return running.exponentials?.at(-1) ?? 0;
}

/** A partial sum of a cell. */
export interface SoFar {
  readonly terms: number;
  readonly sum: string;
}

/** The terms added last; earlier ones are part of the sum already. */
const termsKept = 3;

function sumSoFar(
  terms: readonly (readonly FormulaPiece[])[],
  { terms: count }: SoFar,
): FormulaPiece[] {
  const from = Math.max(0, count - termsKept);
  const pieces = sum(terms.slice(from, count));
  return from === 0 ? pieces : [{ text: "… + " }, ...pieces];
}

/** Row `i` of `left` times column `j` of `right`. */
function product(
  left: MatrixView,
  i: number,
  right: MatrixView,
  j: number,
  roles: readonly [Role | undefined, Role | undefined],
  soFar: SoFar | undefined,
): FormulaPiece[] {
  const terms = Array.from({ length: left.cols }, (_, n) => [
    operand(at(left, i, n), roles[0]),
    { text: times },
    operand(at(right, n, j), roles[1]),
  ]);
  return soFar ? sumSoFar(terms, soFar) : sum(terms);
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
  const head: FormulaPiece[] = [
    { text: `${kind.symbol}[${tokenRow + 1}, ${j + 1}]`, role: kind.role },
    { text: " = " },
  ];
  const result: FormulaPiece = { text: soFar?.sum ?? format(value), role: kind.role };
  const equals = (formula: readonly FormulaPiece[]): Explanation => ({
    name,
    formula: [...head, ...formula, { text: soFar ? ", so far " : " = " }, result],
  });
  const says = (words: string): Explanation => ({
    name,
    formula: [...head, result, { text: `, ${words}` }],
  });

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
      return equals(soFar ? sumSoFar(parts, soFar) : sum(parts));
    }
    case "q":
      return equals(product(view("input"), i, view("wq"), j, [undefined, "q"], soFar));
    case "k":
      return equals(product(view("keyInput"), i, view("wk"), j, [undefined, "k"], soFar));
    case "v":
      return equals(product(view("keyInput"), i, view("wv"), j, [undefined, "v"], soFar));
    case "scores":
      return equals(product(view("q"), i, transposed(view("k")), j, ["q", "k"], soFar));
    case "scaled": {
      const divisors = [
        ...(state.scaled ? [`√${attention.headSize}`] : []),
        ...(state.temperature === 1 ? [] : [String(state.temperature)]),
      ];
      if (divisors.length === 0) return says("the score as it is");
      return equals([operand(at(view("scores"), i, j)), { text: ` ÷ ${divisors.join(" ÷ ")}` }]);
    }
    case "masked":
      return says(value === Number.NEGATIVE_INFINITY ? "hidden by the mask" : "may be seen");
    case "weights": {
      const row = view("masked");
      const terms = Array.from({ length: row.cols }, (_, n) => at(row, i, n))
        .filter((score) => score !== Number.NEGATIVE_INFINITY)
        .map((score) => [{ text: `e^${operand(score).text}` }]);
      if (terms.length === 0) return says("because this query may see no key at all");
      if (at(row, i, j) === Number.NEGATIVE_INFINITY)
        return says("because the mask hides this key");
      const parts = [
        { text: `e^${operand(at(row, i, j)).text} ÷ (` },
        ...sum(terms),
        { text: ")" },
      ];
      if (i !== query || attention.head !== knownHead) return equals(parts);
      const [own, all] = [at(view("exponentials"), 0, j), totalOf(solution)].map((n) => format(n));
      return equals([...parts, { text: ` = ${own} ÷ ${all}` }]);
    }
    case "exponentials": {
      const score = at(view("masked"), query, j);
      const { taken } = solution;
      const power =
        taken === 0 ? operand(score).text : `(${format(score)} − ${operand(taken).text})`;
      const own: FormulaPiece[] = [...head, { text: `e^${power} = ` }, { text: format(value) }];
      return { name, formula: soFar ? [...own, { text: `, sum so far ${soFar.sum}` }] : own };
    }
    case "output":
      return equals(product(view("weights"), i, view("v"), j, [undefined, "v"], soFar));
    case "joined":
      return says(
        solution.problem.dropped.includes(Math.floor(j / attention.headSize))
          ? `because head ${Math.floor(j / attention.headSize) + 1} is left out`
          : `entry ${(j % attention.headSize) + 1} of the output of head ${Math.floor(j / attention.headSize) + 1}`,
      );
    case "result":
      return equals(product(view("joined"), i, view("wo"), j, [undefined, "o"], soFar));
  }
}
