/** The tokenizer of a language model, and its tokens as the page shows them. */
import { Tokenizer } from "@huggingface/tokenizers";
import { pieceOf, piecesIn } from "./pieces";

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

/** The settings of tokenizer_config.json that this page reads. */
interface Config {
  readonly add_bos_token?: boolean;
  readonly bos_token?: string | { readonly content: string };
}

export interface ReadToken {
  readonly id: number;
  /** As the page shows it. */
  readonly piece: string;
  /** As the tokenizer's file has it. */
  readonly raw: string;
  /** Whether it represents no text, such as the start token. */
  readonly isSpecial: boolean;
}

/** A tokenizer that tells how its tokens are written. */
export class ReadableTokenizer extends Tokenizer {
  readonly #isByteLevel: boolean;
  /** The token that stands before every text, if the files of the model ask for one. */
  readonly #start: number | undefined;

  constructor(json: object, config: object) {
    super(json, config);
    const { add_bos_token, bos_token } = config as Config;
    const start = typeof bos_token === "string" ? bos_token : bos_token?.content;
    this.#start = add_bos_token && start !== undefined ? this.token_to_id(start) : undefined;
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

  /** The tokens of a text. The tokenizer's own rules may have added the start already. */
  idsOf(text: string): number[] {
    const { ids } = this.encode(text);
    const start = this.#start;
    return start === undefined || ids[0] === start ? ids : [start, ...ids];
  }

  /** A token that is shown alone. */
  pieceOf(id: number): string {
    return id === this.#start ? "start" : pieceOf(this.#bytes(id));
  }

  /** The text of tokens without the start. */
  textOf(ids: readonly number[]): string {
    const stream = new TextDecoder("utf-8", { ignoreBOM: true });
    const known = ids.filter((id) => id !== this.#start);
    return known.map((id) => stream.decode(this.#bytes(id), { stream: true })).join("");
  }

  tokensOf(ids: readonly number[]): ReadToken[] {
    const pieces = piecesIn(ids.map((id) => this.#bytes(id)));
    return ids.map((id, i) => ({
      ...{ id, piece: id === this.#start ? "start" : (pieces[i] as string) },
      raw: this.id_to_token(id) ?? "",
      isSpecial: this.get_added_tokens_decoder().get(id)?.special === true,
    }));
  }

  /** The tokens that name languages, as mBART (en_XX), NLLB (eng_Latn) or M2M-100 (__en__) write them. */
  get languages(): ReadonlyMap<string, number> {
    const isLanguage = /^(?:[a-z]{2,3}_[A-Z]{2}|[a-z]{3}_[A-Z][a-z]{3}|__[a-z]{2,3}__)$/;
    const all = [...this.get_added_tokens_decoder()];
    return new Map(
      all.flatMap(([id, { content }]) => (isLanguage.test(content) ? [[content, id]] : [])),
    );
  }

  /** The token of a language that this tokenizer puts before or after a text, and its place from either end; or null. */
  get ownLanguage(): { readonly id: number; readonly start: number; readonly end: number } | null {
    const bare = this.idsOf("");
    const all = [...this.languages.values()];
    const start = bare.findIndex((id) => all.includes(id));
    return start < 0 ? null : { id: bare[start] as number, start, end: start - bare.length };
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
