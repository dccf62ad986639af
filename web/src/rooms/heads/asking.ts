/** The questions to a model about an input, and its answers with all heads and without some. */
import { plain } from "../../shared/attended";
import type { Input } from "../../shared/typed";
import { closerOf } from "./input";
import type { Probe } from "./probe";
import type { Asked, Said } from "./seen";

/** The number of answers kept. */
const mostSaid = 3;

interface Question extends Pick<Asked, "row" | "name" | "right"> {}

/**
 * @param input as it was given: with the right answer, if that is known
 * @param answered with the model's own answer
 * @param isSolved whether the input has the right answer
 */
export function questionsOf(input: Input, answered: Input, isSolved: boolean): Question[] {
  if (answered.kind === "continuation") {
    const { tokens } = answered;
    return [{ row: tokens.length, name: `${tokens.length + 1}`, right: closerOf(tokens) }];
  }
  if (answered.kind === "picture") {
    const { label } = input as typeof answered;
    return [{ row: 0, name: "which shape", right: isSolved ? label : null }];
  }
  if (answered.kind === "tagging") {
    const right = (input as typeof answered).labels;
    return answered.labels.flatMap((label, row) => {
      if (label === undefined) return [];
      const name = answered.source[row] as string;
      return [{ row, name, right: isSolved ? (right[row] ?? null) : null }];
    });
  }
  const right = (input as typeof answered).target;
  return [...answered.target, "end"].map((_, row) => ({
    ...{ row, name: `${row + 1}` },
    right: isSolved ? (right[row] ?? "end") : null,
  }));
}

/** The most likely first. */
function likeliest({ tokens, shares }: Probe, row: number): Said[] {
  const all = Array.from(shares[row] ?? [], (probability, i) => ({
    ...{ token: plain(tokens[i] as string), probability },
  }));
  return all.sort((a, b) => b.probability - a.probability).slice(0, mostSaid);
}

function shareOf({ tokens, shares }: Probe, row: number, wanted: string | undefined) {
  const place = tokens.findIndex((token) => plain(token) === wanted);
  return shares[row]?.[place] ?? null;
}

export function askedOf(
  questions: readonly Question[],
  before: Probe,
  after: Probe | null,
): Asked[] {
  return questions.map((question) => {
    const says = likeliest(before, question.row);
    return {
      ...question,
      says,
      instead: after && likeliest(after, question.row),
      kept: after && shareOf(after, question.row, says[0]?.token),
    };
  });
}
