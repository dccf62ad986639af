/** The text of tokens in pictures. */

/** The text of a single token with visible white space. */
export function visibleToken(piece: string): string {
  return piece.replace(/\n/g, "↵").replace(/\t/g, "⇥").replace(/ /g, "␣");
}

/** The text of a token as a label: a space before a word is not shown. */
export function tokenLabel(piece: string): string {
  return visibleToken(piece.replace(/^ (?=\S)/, ""));
}
