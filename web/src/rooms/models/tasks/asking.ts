/** The questions about an input, and the model's answers with all heads and with some ablated. */
import { plain } from "../../../shared/attended";
import type { Input } from "../../../shared/typed";
import type { AnsweredQuestion, Candidate } from "./answer";
import { closerOf } from "./input";
import type { ModelProbe } from "./probe";

export interface Question extends Pick<AnsweredQuestion, "row" | "name" | "right"> {
  /** The words of the sentence, to which the candidates are limited, except the most likely one; null for any token. */
  readonly among: readonly string[] | null;
}

/**
 * @param input the input, with the right answer if it is known
 * @param answered the input with the model's own answer
 * @param isSolved whether the input has the right answer
 */
export function questionsOf(input: Input, answered: Input, isSolved: boolean): Question[] {
  if (answered.kind === "continuation") {
    const { tokens } = answered;
    return [
      { row: tokens.length, name: `${tokens.length + 1}`, right: closerOf(tokens), among: null },
    ];
  }
  if (answered.kind === "picture") {
    const { label } = input as typeof answered;
    return [{ row: 0, name: "which shape", right: isSolved ? label : null, among: null }];
  }
  if (answered.kind === "tagging") {
    const right = (input as typeof answered).labels;
    return answered.labels.flatMap((label, row) => {
      if (label === undefined) return [];
      const name = answered.source[row] as string;
      const known = isSolved ? (right[row] ?? null) : null;
      return [{ row, name, right: known, among: answered.source }];
    });
  }
  const right = (input as typeof answered).target;
  return [...answered.target, "end"].map((_, row) => ({
    ...{ row, name: `${row + 1}`, among: null },
    right: isSolved ? (right[row] ?? "end") : null,
  }));
}

/** The number of candidates with all heads, and without the ablated ones. */
const most = 3;

function candidatesOf(
  { row, among }: Question,
  { tokens, shares }: ModelProbe,
  after: ModelProbe | null,
): Candidate[] {
  const all = tokens.map((token, i) => ({
    token: plain(token),
    probability: shares[row]?.[i] ?? 0,
    without: after && (after.shares[row]?.[i] ?? 0),
  }));
  const likeliest = (by: "probability" | "without") =>
    [...all]
      .sort((a, b) => (b[by] ?? 0) - (a[by] ?? 0))
      .filter(({ token }, rank) => rank === 0 || !among || among.includes(token))
      .slice(0, most);
  const first = likeliest("probability");
  const others = after ? likeliest("without").filter((each) => !first.includes(each)) : [];
  return [...first, ...others.sort((a, b) => b.probability - a.probability)];
}

/** The most likely answer with all heads, or without the ablated ones. */
export function saidTo(
  { candidates }: Pick<AnsweredQuestion, "candidates">,
  by: "probability" | "without" = "probability",
): Candidate | undefined {
  return [...candidates].sort((a, b) => (b[by] ?? 0) - (a[by] ?? 0))[0];
}

export function askedOf(
  questions: readonly Question[],
  before: ModelProbe,
  after: ModelProbe | null,
): AnsweredQuestion[] {
  return questions.map(({ among, ...question }) => ({
    ...question,
    candidates: candidatesOf({ among, ...question }, before, after),
  }));
}
