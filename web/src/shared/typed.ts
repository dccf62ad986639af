/** Turns typed text into an example for a model of `heed/models`, or explains why this is impossible. */
import type { Continuation, Picture, Tagging, Task, Translation } from "heed/models";

export type Input = Tagging | Translation | Continuation | Picture;

export const mostTokens = 48;
/** Longer texts are refused before they are split into words. */
export const mostCharacters = 1000;

/** A piece of a typed text; the pieces joined are the text. */
interface TextPiece {
  readonly text: string;
  /** Whether the model has a token for it. */
  readonly isKnown: boolean;
}

export interface UnreadableText {
  /** The reason, in words for the person. */
  readonly why: string;
  readonly pieces: readonly TextPiece[];
  /** The most similar text that can be read; null if there is none. */
  readonly nearest: string | null;
}

/** The tokens of an input; a picture has none. */
export function tokensOf(input: Input): readonly string[] {
  if (input.kind === "picture") return [];
  return input.kind === "continuation" ? input.tokens : input.source;
}

/** A sentence consists of words, white space and single other characters. */
const sentencePieces = /[A-Za-z]+|\s+|[^\sA-Za-z]/gu;

/** Converts a character to lower case if the model knows only that form. */
function fitted(task: Task, text: string): string {
  const known = task.vocabulary.source;
  const fit = (character: string) => {
    const lower = character.toLowerCase();
    return !known.includes(character) && known.includes(lower) ? lower : character;
  };
  return task.kind === "tagging" ? text : Array.from(text.trim(), fit).join("");
}

/** Joins neighbouring pieces if the model knows both or neither. */
function piecesOf(task: Task, text: string): TextPiece[] {
  const known = new Set(task.vocabulary.source);
  const lower = new Set(task.vocabulary.source.map((token) => token.toLowerCase()));
  const isSentence = task.kind === "tagging";
  const isKnown = (piece: string) =>
    isSentence ? piece.trim() === "" || lower.has(piece.toLowerCase()) : known.has(piece);
  const joined: TextPiece[] = [];
  for (const piece of isSentence ? (text.match(sentencePieces) ?? []) : text) {
    const last = joined.at(-1);
    const now = { text: piece, isKnown: isKnown(piece) };
    if (last && last.isKnown === now.isKnown)
      joined[joined.length - 1] = { ...now, text: last.text + piece };
    else joined.push(now);
  }
  return joined;
}

/** The number of letters to insert, remove or replace (Levenshtein, 1966). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; ++i) {
    const next = [i];
    for (let j = 1; j <= b.length; ++j) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}

/** The edit distance up to which a word other than a name or noun counts as a misspelt known one. */
const misspelt = ({ length }: string) => (length > 4 ? 2 : 1);

/**
 * The known word of the same kind with the smallest edit distance: a name for a name, and a noun after an article. The
 * answers of a task are its names and nouns. Any other known word would make nonsense, unless it is a spelling of the
 * word; null if there is none.
 */
function nearestWord({ vocabulary }: Task, word: string, before: string): string | null {
  const isName = /^[A-Z]/.test(word);
  const isNoun = /\b(a|an|the)\s+$/i.test(before);
  const known = isName || isNoun ? vocabulary.target : vocabulary.source;
  const likely = known.filter((each) =>
    isName ? /^[A-Z]/.test(each) && !before.includes(each) : /^[a-z]/.test(each),
  );
  const far = (each: string) => distance(word.toLowerCase(), each.toLowerCase());
  const best = likely.reduce(
    (best, each) => (far(each) < far(best) ? each : best),
    likely[0] ?? "",
  );
  return isName || isNoun || far(best) <= misspelt(word) ? best : null;
}

/**
 * The text without the parts that the model does not know. In a sentence a known word replaces each unknown one; null if
 * there is none for one of them.
 */
function nearestText(task: Task, pieces: readonly TextPiece[]): string | null {
  const isSentence = task.kind === "tagging";
  let kept = "";
  for (const { text, isKnown } of pieces)
    for (const piece of isKnown ? [text] : (text.match(/[A-Za-z]+/g) ?? [])) {
      if (!isKnown && !isSentence) continue;
      const word = isKnown ? piece : nearestWord(task, piece, kept);
      if (word === null) return null;
      kept += word;
    }
  const words = kept
    .replace(/\s+/g, " ")
    .replace(/ (?=[,.])/g, "")
    .trim();
  const tokens = isSentence ? words.split(" ") : [...words];
  // Reserves one token for the full stop at the end of a sentence.
  const text = tokens.slice(0, mostTokens - 1).join(isSentence ? " " : "");
  // Fewer than three words are not a sentence.
  const least = isSentence ? 3 : 1;
  return tokens.length < least || /^[\s,.]*$/.test(text) ? null : text;
}

function unreadable(task: Task, text: string, why: string): UnreadableText {
  const pieces = piecesOf(task, text);
  return { why, pieces, nearest: nearestText(task, pieces) };
}

/** The example, with its solution if the task can solve it, or the reason why the text cannot be read. */
export function readInput(task: Task, typed: string): Input | UnreadableText {
  if (!task.read)
    return unreadable(task, typed, "This model works on pictures: there is nothing to type.");
  if (typed.length > mostCharacters) {
    const size = typed.length.toLocaleString("en");
    const why = `The text has ${size} characters; the model reads up to ${mostTokens} tokens.`;
    return unreadable(task, typed.slice(0, mostCharacters), why);
  }
  const text = fitted(task, typed);
  if (text.trim() === "") return unreadable(task, text, "Nothing is typed.");
  const pieces = piecesOf(task, text);
  if (pieces.some(({ isKnown }) => !isKnown)) {
    const what = task.kind === "tagging" ? "words" : "characters";
    return unreadable(task, text, `The model does not know the marked ${what}.`);
  }
  const input = (task.solve?.(text) ?? task.read(text)) as Input;
  const { length } = tokensOf(input);
  return length <= mostTokens
    ? input
    : unreadable(task, text, `These are ${length} tokens; the model reads up to ${mostTokens}.`);
}
