/** The description of a cell and the computation of its number, which are shown and read aloud. */

/** The role determines a letter and a colour: query, key, value, output. */
export type Role = "q" | "k" | "v" | "o";

/** A piece of a formula, in the colour of its role. */
export interface FormulaPiece {
  readonly text: string;
  readonly role?: Role | undefined;
  /** The pieces that `text` abbreviates, shown on demand. */
  readonly all?: readonly FormulaPiece[];
}

export interface Explanation {
  /** A description of the cell. */
  readonly name: string;
  readonly formula: readonly FormulaPiece[];
}

export function explanationText({ name, formula }: Explanation): string {
  return `${name}: ${formula.map(({ text }) => text).join("")}`;
}
