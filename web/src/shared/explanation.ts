/** What a cell is and where its number comes from, ready to be shown and to be said. */

/** The role decides a letter and a colour: query, key, value, output. */
export type Role = "q" | "k" | "v" | "o";

/** A run of a formula, in the colour of the role its number plays. */
export interface Piece {
  readonly text: string;
  readonly role?: Role | undefined;
}

export interface Explanation {
  /** What the cell is, in words. */
  readonly name: string;
  readonly formula: readonly Piece[];
}

export function textOf({ name, formula }: Explanation): string {
  return `${name}: ${formula.map(({ text }) => text).join("")}`;
}
