/** The tokens of our language model: words and parts of words. */
import { useEffect, useState } from "preact/hooks";
import { ourAddress } from "../../shared/ourModel";
import { label } from "../../shared/pieces";
import type { ReadableTokenizer } from "../../shared/readableTokenizer";

/** The tokenizer of our language model, once it is loaded. */
let loaded: ReadableTokenizer | null = null;
let loading: Promise<void> | null = null;

/** A piece as the page shows it. A hyphen marks a piece that continues a word. */
function shown(piece: string, place: number): string {
  const text = piece.trim();
  if (text === "") return label(piece);
  // The first token is the start, and the first word follows it without a space.
  const continues = place > 1 && /^[\p{L}\p{N}]/u.test(piece);
  return continues ? `\u2011${text}` : text;
}

/** The tokens of a text; null until the tokenizer is loaded. */
export function piecesOf(text: string): { ids: number[]; tokens: string[] } | null {
  if (!loaded) return null;
  const ids = loaded.idsOf(text);
  return { ids, tokens: loaded.tokensOf(ids).map(({ piece }, i) => shown(piece, i)) };
}

export function textOfPieces(ids: readonly number[]): string {
  return loaded?.textOf(ids) ?? "";
}

/** Gives `piecesOf` its tokenizer, from the contents of two files of a model. */
export async function loadPieces(read: (name: string) => Promise<object>): Promise<void> {
  const [{ ReadableTokenizer }, json, config] = await Promise.all([
    import("../../shared/readableTokenizer"),
    ...["tokenizer.json", "tokenizer_config.json"].map(read),
  ] as const);
  loaded = new ReadableTokenizer(json as object, config as object);
}

async function fetched(name: string): Promise<object> {
  const response = await fetch(`${ourAddress()}/${name}`);
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  return response.json();
}

export interface Loading {
  readonly isReady: boolean;
  /** Tells the person why the tokenizer could not be loaded. */
  readonly failure: string | null;
}

/** Loads the tokenizer when it is needed. After a failure, another text tries again. */
export function usePieces(isNeeded: boolean, text: string): Loading {
  const [isReady, setReady] = useState(loaded !== null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    if (!isNeeded || isReady) return;
    loading ??= loadPieces(fetched);
    loading.then(
      () => {
        setFailure(null);
        setReady(true);
      },
      ({ message }: Error) => {
        loading = null;
        setFailure(`The words of our language model could not be loaded (${message}).`);
      },
    );
  }, [isNeeded, isReady, text]);
  return { isReady, failure: isNeeded ? failure : null };
}
