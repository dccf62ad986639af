/** Splits a sentence into tokens. */
import { piecesOf, textOfPieces } from "./modelTokens";

export type TokenSplit = "words" | "characters";

/** With more tokens than this, a cell of a matrix of all pairs would be smaller than a pixel. */
export const maxTokens = 512;

/** Limits the length of the link, and the time for pasting a whole book. */
export const maxCharacters = 4096;

export const noticeOfCut = (most = maxTokens) =>
  `Only the first ${most} tokens (and at most ${maxCharacters} characters) are used; the rest was left out.`;

export interface Tokens {
  readonly tokens: readonly string[];
  /** The tokens of the language model, if it reads them. */
  readonly ids?: readonly number[];
  /** The part of the text that stays in its field. */
  readonly kept: string;
  /** Whether the text was truncated. */
  readonly cut: boolean;
  /** The number of tokens that a model of the person reads at most. */
  readonly most?: number;
  /** Why the model cannot read the text, which then has no tokens. */
  readonly why?: string;
}

const segmenters: Record<TokenSplit, Intl.Segmenter> = {
  words: new Intl.Segmenter(undefined, { granularity: "word" }),
  characters: new Intl.Segmenter(undefined, { granularity: "grapheme" }),
};

/** A cache, so that the same sentence has the same array of tokens and need not be redrawn. */
const recent = new Map<string, Tokens>();
const mostCached = 8;

/**
 * "pieces" are the tokens of our language model; there are none until its tokenizer is loaded. The worker finds the
 * tokens of other models ("later"; see walk.ts).
 */
export function tokenize(text: string, split: TokenSplit | "pieces" | "later"): Tokens {
  if (split === "later") {
    const kept = text.slice(0, maxCharacters);
    return { tokens: [], kept, cut: kept.length < text.length };
  }
  const key = `${split} ${text}`;
  const tokens = recent.get(key) ?? (split === "pieces" ? cutPieces(text) : cut(text, split));
  if (split === "pieces" && !tokens.ids) return tokens;
  if (recent.size >= mostCached) recent.clear();
  recent.set(key, tokens);
  return tokens;
}

/** A text without words has no tokens: the start alone has nothing to attend to. */
function cutPieces(text: string): Tokens {
  const within = text.slice(0, maxCharacters);
  const all = { kept: within, cut: text.length > within.length };
  if (within.trim() === "") return { tokens: [], ids: [], ...all };
  const found = piecesOf(within);
  if (!found) return { tokens: [], ...all };
  const { ids, tokens } = found;
  if (ids.length <= maxTokens) return { tokens, ids, ...all };
  const kept = ids.slice(0, maxTokens);
  return { tokens: tokens.slice(0, maxTokens), ids: kept, kept: textOfPieces(kept), cut: true };
}

/**
 * Splits `text` into at most `maxTokens` tokens. White space separates tokens and is never a token. Words follow the
 * rules of the script, so Thai and Chinese are split too. A character is a grapheme: a family emoji or a letter with
 * accents stays whole.
 */
function cut(text: string, split: TokenSplit): Tokens {
  const within = text.slice(0, maxCharacters);
  const tokens: string[] = [];
  for (const { segment, index } of segmenters[split].segment(within)) {
    if (segment.trim() === "") continue;
    if (tokens.length === maxTokens) return { tokens, kept: within.slice(0, index), cut: true };
    tokens.push(segment);
  }
  return { tokens, kept: within, cut: text.length > within.length };
}
