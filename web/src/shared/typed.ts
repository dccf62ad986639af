/** Turns typed text into an example for a model of `heed/models`, or explains why it cannot be one. */
import type { Continuation, Picture, Tagging, Task, Translation } from "heed/models";

export type Input = Tagging | Translation | Continuation | Picture;

export const mostTokens = 48;

/** The reason why a text cannot be read, for the person. */
export interface Unreadable {
  readonly why: string;
}

/** The tokens of an input; a picture has none. */
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

/** The words or characters of a text that the model has no token for, without duplicates. */
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

/** The example, with its solution if the task can solve it; or the reason why there is none. */
export function readInput(task: Task, text: string): Input | Unreadable {
  if (!task.read) return { why: "This model works on pictures: there is nothing to type." };
  if (text.trim() === "") return { why: "Type something: the input is empty." };
  const unknown = unknownIn(task, text);
  if (unknown.length > 0) {
    const what = task.kind === "tagging" ? "words" : "characters";
    return {
      why: `The model does not know ${quoted(unknown)}. It knows ${task.vocabulary.source.length} ${what}.`,
    };
  }
  const input = (task.solve?.(text) ?? task.read(text)) as Input;
  if (tokensOf(input).length > mostTokens)
    return {
      why: `That is more than ${mostTokens} tokens: more than the model can handle.`,
    };
  return input;
}
