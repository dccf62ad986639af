/** The matrices that the page draws: their names and symbols, and the meaning of their rows and columns. */
import { attentionMatrices, type Role } from "#parts";

/** The meaning of a row or a column of a matrix; "selected" is the selected query. */
export type MatrixAxis = "query" | "key" | "embedding" | "head" | "joined" | "unit" | "selected";

interface MatrixKind {
  /** Its name in text and its symbol in formulas. */
  readonly title: string;
  readonly symbol: string;
  readonly rows: MatrixAxis;
  readonly cols: MatrixAxis;
  /** A matrix without a role has the colour of text. */
  readonly role?: Role;
}

/** The rest of a trained layer, which the page draws for one token at a time. */
const blockMatrices = {
  between: { title: "Stream after attention", symbol: "Z", rows: "query", cols: "embedding" },
  units: { title: "Units", symbol: "U", rows: "query", cols: "unit" },
  after: { title: "Stream after the layer", symbol: "Z′", rows: "query", cols: "embedding" },
} as const;

export const matrices = {
  embedding: { title: "Embedding", symbol: "E", rows: "query", cols: "embedding" },
  position: { title: "Position", symbol: "P", rows: "query", cols: "embedding" },
  input: { title: "Input", symbol: "X", rows: "query", cols: "embedding" },
  keyEmbedding: { title: "Embedding", symbol: "E′", rows: "key", cols: "embedding" },
  keyPosition: { title: "Position", symbol: "P′", rows: "key", cols: "embedding" },
  keyInput: { title: "Input", symbol: "X′", rows: "key", cols: "embedding" },
  wq: { title: "Query projection", symbol: "W_Q", rows: "embedding", cols: "head", role: "q" },
  wk: { title: "Key projection", symbol: "W_K", rows: "embedding", cols: "head", role: "k" },
  wv: { title: "Value projection", symbol: "W_V", rows: "embedding", cols: "head", role: "v" },
  ...attentionMatrices,
  joined: { title: "Heads joined", symbol: "C", rows: "query", cols: "joined", role: "o" },
  wo: { title: "Output projection", symbol: "W_O", rows: "joined", cols: "embedding", role: "o" },
  result: { title: "Result", symbol: "Y", rows: "query", cols: "embedding", role: "o" },
  ...blockMatrices,
} as const satisfies Record<string, MatrixKind>;

export type MatrixName = keyof typeof matrices;

export function kindOf(name: MatrixName): MatrixKind {
  return matrices[name];
}

export const isMatrix = (name: string): name is MatrixName => Object.hasOwn(matrices, name);

/** Whether a matrix has cells that a link can name. */
export function isMatrixName(text: string): text is MatrixName {
  return isMatrix(text) && !Object.hasOwn(blockMatrices, text);
}

/** The size of matrix `name`. It is known before the engine has answered, so that space can be reserved. */
export function sizeOf(name: MatrixName, sizes: Record<MatrixAxis, number>) {
  const kind = kindOf(name);
  return { rows: sizes[kind.rows], cols: sizes[kind.cols] };
}

const names = Object.keys(matrices);

/** Whether a matrix is `other`, or is computed after it. */
export function isAfter(name: MatrixName, other: MatrixName): boolean {
  return names.indexOf(name) >= names.indexOf(other) && name !== "wo";
}
