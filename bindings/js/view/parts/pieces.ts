/** Tokens as pictures write them. */

/** A token where it stands alone: with its white space visible. */
export function visibleToken(piece: string): string {
  return piece.replace(/\n/g, "↵").replace(/\t/g, "⇥").replace(/ /g, "␣");
}

/** A token as a label: a space before a word is not shown. */
export function tokenLabel(piece: string): string {
  return visibleToken(piece.replace(/^ (?=\S)/, ""));
}
