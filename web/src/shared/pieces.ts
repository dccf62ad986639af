/** Tokens as the page shows them. */
import { tokenLabel as label, visibleToken as visible } from "#parts";

export { label, visible };

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of a token's bytes; an incomplete character is shown as bytes: "⟨e4 bd⟩". */
export function pieceOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"));
    return `⟨${hex.join(" ")}⟩`;
  }
}

/** The text of a token that does not complete a character. */
const unfinished = "·";

/** The text of each token. If several tokens form a character, the last of them shows it. */
export function piecesIn(tokens: readonly Uint8Array[]): string[] {
  const stream = new TextDecoder("utf-8", { ignoreBOM: true });
  return tokens.map((bytes) => stream.decode(bytes, { stream: true }) || unfinished);
}

/** A piece in a sentence of the page. */
export function quoted(piece: string): string {
  return `“${label(piece)}”`;
}
