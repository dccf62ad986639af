/** Tokens as the page shows them. */

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of a token's bytes; a part of a character as its bytes: "⟨e4 bd⟩". */
export function pieceOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"));
    return `⟨${hex.join(" ")}⟩`;
  }
}

/** A piece where it stands alone: with its white space visible. */
export function visible(piece: string): string {
  return piece.replace(/\n/g, "↵").replace(/\t/g, "⇥").replace(/ /g, "␣");
}

/** A piece as a label: a space before a word is not shown. */
export function label(piece: string): string {
  return visible(piece.replace(/^ (?=\S)/, ""));
}

/** A piece in a sentence of the page. */
export function quoted(piece: string): string {
  return `“${label(piece)}”`;
}
