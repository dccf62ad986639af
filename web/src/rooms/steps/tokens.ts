/** How a sentence is cut into the tokens that attention works on. */

export type Split = "words" | "characters";

/** With more tokens than this a cell of a picture of all pairs is less than a pixel. */
export const maxTokens = 512;

/** Guards the link's length and the time spent on a paste of a whole book. */
export const maxCharacters = 4096;

export const noticeOfCut = `Only the first ${maxTokens} tokens (and at most ${maxCharacters} characters) are used; the rest was left out.`;

export interface Tokens {
  readonly tokens: readonly string[];
  /** The part of the text that the tokens came from. */
  readonly kept: string;
  /** True when some of the text had to be left out. */
  readonly cut: boolean;
}

const segmenters: Record<Split, Intl.Segmenter> = {
  words: new Intl.Segmenter(undefined, { granularity: "word" }),
  characters: new Intl.Segmenter(undefined, { granularity: "grapheme" }),
};

/** Of the sentences that were cut last: the same one has the same tokens, which need not be drawn anew. */
const lately = new Map<string, Tokens>();
const mostKept = 8;

export function tokenize(text: string, split: Split): Tokens {
  const key = `${split} ${text}`;
  const tokens = lately.get(key) ?? cut(text, split);
  if (lately.size >= mostKept) lately.clear();
  lately.set(key, tokens);
  return tokens;
}

/**
 * Cuts `text` into at most `maxTokens` tokens. White space separates and is never a token. Words follow the rules of
 * the text's own script (so Thai and Chinese are cut too), and a character is what a reader takes for one: a family
 * emoji or a letter with its accents stays whole.
 */
function cut(text: string, split: Split): Tokens {
  const within = text.slice(0, maxCharacters);
  const tokens: string[] = [];
  for (const { segment, index } of segmenters[split].segment(within)) {
    if (segment.trim() === "") continue;
    if (tokens.length === maxTokens) return { tokens, kept: within.slice(0, index), cut: true };
    tokens.push(segment);
  }
  return { tokens, kept: within, cut: text.length > within.length };
}
