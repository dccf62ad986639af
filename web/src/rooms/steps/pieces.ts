/** The tokens of our language model: words and parts of words. */
import { useEffect, useState } from "preact/hooks";
import { ourAddress } from "../../shared/ourModel";
import type { ReadableTokenizer } from "../../shared/readableTokenizer";

/** The tokenizer of our language model, once it is loaded. */
let loaded: ReadableTokenizer | null = null;
let loading: Promise<void> | null = null;

/** The tokens of a text; null until the tokenizer is loaded. */
export function piecesOf(text: string): { ids: number[]; tokens: string[] } | null {
  if (!loaded) return null;
  const ids = loaded.idsOf(text);
  return { ids, tokens: loaded.tokensOf(ids).map(({ piece }) => piece.trim() || piece) };
}

/** The text of tokens. */
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

/** Loads the tokenizer when it is needed. `failure` tells why it could not be loaded. */
export function usePieces(isNeeded: boolean): { isReady: boolean; failure: string | null } {
  const [isReady, setReady] = useState(loaded !== null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    if (!isNeeded || loaded) return;
    loading ??= loadPieces(fetched);
    loading.then(
      () => setReady(true),
      ({ message }: Error) => {
        loading = null;
        setFailure(`The words of our language model could not be loaded (${message}).`);
      },
    );
  }, [isNeeded]);
  return { isReady, failure };
}
