/** The questions about an input, and the model's answers with all heads and with some ablated. */
import { plain } from "../../../shared/attended";
import { type LikelyToken, likeliest } from "../../../shared/likelyToken";
import type { Input } from "../../../shared/typed";
import type { AnsweredQuestion } from "./answer";
import { closerOf } from "./input";
import type { ModelProbe } from "./probe";

export interface Question extends Pick<AnsweredQuestion, "row" | "name" | "right"> {}

/**
 * @param input the input, with the right answer if it is known
 * @param answered the input with the model's own answer
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

function likeliestAt({ tokens, shares }: ModelProbe, row: number): LikelyToken[] {
  return likeliest(tokens.map(plain), shares[row] ?? []);
}

function shareOf({ tokens, shares }: ModelProbe, row: number, wanted: string | undefined) {
  const place = tokens.findIndex((token) => plain(token) === wanted);
  return shares[row]?.[place] ?? null;
}

export function askedOf(
  questions: readonly Question[],
  before: ModelProbe,
  after: ModelProbe | null,
): AnsweredQuestion[] {
  return questions.map((question) => {
    const answers = likeliestAt(before, question.row);
    return {
      ...question,
      answers,
      instead: after && likeliestAt(after, question.row),
      kept: after && shareOf(after, question.row, answers[0]?.token),
    };
  });
}
