/** The tokenizer of the person's model, and its tokens as the page shows them. */
import { Tokenizer } from "@huggingface/tokenizers";
import { pieceOf, piecesIn } from "../../../shared/pieces";
import type { ReadToken } from "./messages";

const encoder = new TextEncoder();

/**
 * Maps each character of a byte-level tokenizer to its byte. A printable byte is written as its own character. The
 * other bytes are written, in their order, as the characters from 256 on (Radford et al., 2019).
 */
const byteOf: ReadonlyMap<string, number> = (() => {
  const isPrintable = (byte: number) =>
    (byte > 32 && byte < 127) || (byte > 160 && byte < 256 && byte !== 173);
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  const others = bytes.filter((byte) => !isPrintable(byte));
  return new Map(
    bytes.map((byte) => {
      const code = isPrintable(byte) ? byte : 256 + others.indexOf(byte);
      return [String.fromCharCode(code), byte];
    }),
  );
})();

/** The bytes of a token as its tokenizer writes it. */
export function bytesOfToken(raw: string, isByteLevel: boolean): Uint8Array {
  if (isByteLevel) {
    const bytes = Array.from(raw, (character) => byteOf.get(character));
    if (bytes.every((byte) => byte !== undefined)) return Uint8Array.from(bytes);
  }
  // Tokenizers of SentencePiece have tokens for single bytes, and write a space as ▁.
  const [, byte] = /^<0x([0-9A-F]{2})>$/i.exec(raw) ?? [];
  return byte ? Uint8Array.of(Number.parseInt(byte, 16)) : encoder.encode(raw.replaceAll("▁", " "));
}

/** A tokenizer that tells how its tokens are written. */
export class ReadableTokenizer extends Tokenizer {
  readonly #isByteLevel: boolean;

  constructor(json: object, config: object) {
    super(json, config);
    this.#isByteLevel = JSON.stringify((json as { decoder?: unknown }).decoder ?? null).includes(
      '"ByteLevel"',
    );
  }

  #bytes(id: number): Uint8Array {
    const special = this.get_added_tokens_decoder().get(id);
    return special
      ? encoder.encode(special.content)
      : bytesOfToken(this.id_to_token(id) ?? `token ${id}`, this.#isByteLevel);
  }

  /** A token that is shown alone. */
  pieceOf(id: number): string {
    return pieceOf(this.#bytes(id));
  }

  tokensOf(ids: readonly number[]): ReadToken[] {
    const pieces = piecesIn(ids.map((id) => this.#bytes(id)));
    return ids.map((id, i) => ({
      ...{ id, piece: pieces[i] as string },
      raw: this.id_to_token(id) ?? "",
    }));
  }

  /** The token for a masked word, as BERT or RoBERTa name it. */
  get mask(): { readonly id: number; readonly text: string } | null {
    for (const text of ["[MASK]", "<mask>"]) {
      const id = this.token_to_id(text);
      if (id !== undefined) return { id, text };
    }
    return null;
  }
}
