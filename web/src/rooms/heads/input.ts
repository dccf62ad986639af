/** From what a person typed, or a seed, to an example for the model; and the places that its answer comes from. */
import type { Alignment, Continuation, Picture, Tagging, Task, Translation } from "heed/models";

export type Input = Tagging | Translation | Continuation | Picture;

export const mostTokens = 48;

/** None of a picture. */
export function tokensOf(input: Input): readonly string[] {
  if (input.kind === "picture") return [];
  return input.kind === "continuation" ? input.tokens : input.source;
}

function isKnown(task: Task, word: string): boolean {
  try {
    task.read?.(word);
    return true;
  } catch {
    return false;
  }
}

/** What of a text the model has no token for, each once. */
function unknownIn(task: Task, text: string): string[] {
  if (task.kind === "tagging")
    return [...new Set(text.split(/\s+/).filter((word) => word && !isKnown(task, word)))];
  const known = task.vocabulary.source;
  return [...new Set(text)].filter((character) => !known.includes(character));
}

const quoted = (words: readonly string[]) =>
  words
    .slice(0, 6)
    .map((word) => (word === " " ? "the space" : `“${word}”`))
    .join(", ");

/** The example, or why there is none. */
export function readInput(task: Task, text: string): Input | { readonly why: string } {
  if (!task.read) return { why: "This model looks at pictures: there is nothing to type." };
  if (text.trim() === "") return { why: "Type something: there is nothing to look at yet." };
  const unknown = unknownIn(task, text);
  if (unknown.length > 0) {
    const what = task.kind === "tagging" ? "words" : "characters";
    return {
      why: `The model does not know ${quoted(unknown)}. It knows ${task.vocabulary.source.length} ${what}, listed below.`,
    };
  }
  const input = task.read(text) as Input;
  if (tokensOf(input).length > mostTokens)
    return {
      why: `That is more than ${mostTokens} tokens: more than the model can make sense of.`,
    };
  return input;
}

const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** For each bracket that closes one, the place of that one; and at the end, that of the last that is still open. */
function bracketPlaces(tokens: readonly string[]): number[][] {
  const open: number[] = [];
  const places = tokens.map((token, place) => {
    if (closers[token]) {
      open.push(place);
      return [];
    }
    const opener = open.pop();
    return opener === undefined || closers[tokens[opener] as string] !== token ? [] : [opener];
  });
  return [...places, open.slice(-1)];
}

/** The bracket that has to close the last one that is open. */
export function closerOf(tokens: readonly string[]): string | null {
  const last = bracketPlaces(tokens).at(-1)?.[0];
  return last === undefined ? null : (closers[tokens[last] as string] as string);
}

/**
 * The places that answers come from, for what a person typed: by the task's own rule, or else those of the tokens
 * that the model says. Null where neither is known, and of pictures, which nobody types.
 *
 * @param answered the input with the model's answer
 */
export function placesOf(task: string, answered: Input): Alignment | null {
  if (answered.kind === "continuation") return bracketPlaces(answered.tokens);
  if (answered.kind === "picture") return null;
  const { source } = answered;
  const placesOfToken = (token: string | undefined) =>
    source.flatMap((other, place) => (other === token ? [place] : []));
  if (answered.kind === "tagging") return answered.labels.map(placesOfToken);
  if (task === "sort") return answered.target.map(placesOfToken);
  if (task === "reverse")
    return answered.target.map((_, t) => (t < source.length ? [source.length - 1 - t] : []));
  return null;
}
