/** What a cell is and how its number was computed, to be shown and to be read aloud. */

/** The role determines a letter and a colour: query, key, value, output. */
export type Role = "q" | "k" | "v" | "o";

/** A piece of a formula, in the colour of its role. */
export interface FormulaPiece {
  readonly text: string;
  readonly role?: Role | undefined;
  /** What `text` stands for, to be shown on demand. */
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
