/** From what a person typed to an example for a model of `heed/models`, or why it cannot be one. */
import type { Continuation, Picture, Tagging, Task, Translation } from "heed/models";

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

/** The example, solved where the task knows how; or why there is none. */
export function readInput(task: Task, text: string): Input | { readonly why: string } {
  if (!task.read) return { why: "This model looks at pictures: there is nothing to type." };
  if (text.trim() === "") return { why: "Type something: there is nothing to look at yet." };
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
      why: `That is more than ${mostTokens} tokens: more than the model can make sense of.`,
    };
  return input;
}
