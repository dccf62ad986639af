/** Applies the settings to the solver's answer: the selected head and row, and their names. */
import { at, type Cell, type MatrixView } from "#parts";
import { withoutWords as wordsOf } from "../../../shared/ablation";
import { type AttentionName, weightsOf } from "../../../shared/attended";
import { type HeadKey, headKey, headName } from "../../../shared/layerHeads";
import type { HeadsAnswer, MeasuredAttention, TaskHead } from "./answer";
import { saidTo } from "./asking";
import type { State } from "./state";

export interface NamedHead {
  readonly attention: MeasuredAttention;
  readonly head: TaskHead;
  /** Its index in its attention, counted from 0. */
  readonly index: number;
  readonly weights: MatrixView;
  /** "layer 2, head 3", with the kind of attention if the model has several. */
  readonly name: string;
}

export interface HeadSelection {
  readonly answer: HeadsAnswer;
  readonly all: readonly NamedHead[];
  readonly shown: NamedHead;
  /** The head whose ablation changes the answer in words; null if there is none. */
  readonly needed: NamedHead | null;
  /** The head to compare with, if it has the same tokens. */
  readonly other: NamedHead | null;
  readonly row: number;
  readonly cell: Cell | null;
}

/** The kinds of attention that a model has, in the order of the page. */
export function kindsOf(all: readonly NamedHead[]): AttentionName[] {
  return [...new Set(all.map(({ attention }) => attention.name))];
}

function namedHeadsOf({ attentions }: HeadsAnswer): NamedHead[] {
  const kinds = new Set(attentions.map(({ name }) => name));
  return attentions.flatMap((attention) =>
    attention.measured.map((head, i) => {
      const { name, layer } = attention;
      return {
        ...{ attention, head, index: i },
        weights: weightsOf(attention, attention.shares, i),
        name: headName(headKey({ ...(kinds.size > 1 && { name }), layer, head: i })),
      };
    }),
  );
}

const isSame = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((token, i) => token === b[i]);

export function isComparable(a: NamedHead, b: NamedHead): boolean {
  return (
    a.head.key !== b.head.key &&
    isSame(a.attention.rows, b.attention.rows) &&
    isSame(a.attention.columns, b.attention.columns)
  );
}

/** The row of the first answer, if this attention has one. */
function firstRow({ attention }: NamedHead, { asked, attentions }: HeadsAnswer): number {
  const isRead = attention.name === "encoder" && attentions.some(({ name }) => name === "cross");
  return isRead ? 0 : (asked[0]?.row ?? 0);
}

/** The index in `asked` of the question of a row, otherwise of the first question. */
function questionAt({ asked }: HeadsAnswer, row: number): number {
  return Math.max(
    0,
    asked.findIndex((each) => each.row === row),
  );
}

/**
 * The head whose ablation changes the answer in words. A generated text counts as one answer, which changes with any of
 * its tokens.
 */
function neededHeadOf(answer: HeadsAnswer, row: number): HeadKey | null {
  const { needed, written } = answer;
  const own = written ? needed : [needed[questionAt(answer, row)] ?? null];
  const [most] = own.filter((each) => each !== null).sort((a, b) => b.lost - a.lost);
  return most?.key ?? null;
}

export function selectionOf(answer: HeadsAnswer, state: State): HeadSelection {
  const all = namedHeadsOf(answer);
  const find = (key: HeadKey | null) => all.find(({ head }) => head.key === key);
  const shown = (find(state.head) ?? find(answer.best)) as NamedHead;
  const other = find(state.other);
  const { rows, columns } = shown.attention;
  const row = Math.min(state.row ?? firstRow(shown, answer), rows.length - 1);
  const { cell } = state;
  return {
    ...{ answer, all, shown, row, needed: find(neededHeadOf(answer, row)) ?? null },
    other: other && isComparable(shown, other) ? other : null,
    cell: cell && cell.row < rows.length && cell.col < columns.length ? cell : null,
  };
}

/** Explains the outlined cells, or why there are none. */
export function placesWords({ answer, shown }: HeadSelection): string {
  if (answer.places === "unknown" && !answer.picture)
    return "No training example is like this text, so the answer positions are unknown.";
  if (!shown.attention.places?.some((row) => row.length > 0)) return "";
  return answer.places === "right"
    ? "Outlined: where the right answer comes from."
    : "Outlined: the answer.";
}

/** The token that the selected row attends to most. */
export function attendsWords(
  { answer, shown, row }: HeadSelection,
  text: (share: number) => string,
): string {
  const { rows, columns } = shown.attention;
  const weights = columns.map((_, col) => at(shown.weights, row, col));
  const largest = weights.indexOf(Math.max(...weights));
  const named = (token: string | undefined) =>
    answer.picture && token !== "class" ? `the patch ${token}` : `“${token}”`;
  const query = named(rows[row]).replace(/^t/, "T");
  return `${query} attends most to ${named(columns[largest])}: ${text(weights[largest] as number)}.`;
}

interface AnswerText {
  readonly text: string;
  /** Null for a text of several tokens. */
  readonly probability: number | null;
}

/** The answer in words: with all heads, or without the ablated ones. */
export interface AnswerSentence {
  /** The words before the answer, such as “she” means. */
  readonly subject: string;
  readonly now: AnswerText;
  /** The answer with all heads; null if none are ablated. */
  readonly whole: AnswerText | null;
}

const subjects: Readonly<Record<"picture" | "continuation" | "translation", string>> = {
  picture: "The model sees a",
  continuation: "The model goes on with",
  translation: "The model writes",
};

/** The answer to the question of the selected row, otherwise to the first question; null if there are no questions. */
export function answerSentenceOf({ answer, row }: HeadSelection): AnswerSentence | null {
  const { asked, written, exhibit } = answer;
  if (written) {
    const said = (text: string): AnswerText => ({ text: text || "nothing", probability: null });
    const subject = subjects[exhibit === "brackets" ? "continuation" : "translation"];
    return written.without === null
      ? { subject, now: said(written.whole), whole: null }
      : { subject, now: said(written.without), whole: said(written.whole) };
  }
  const question = asked[questionAt(answer, row)];
  const first = question && saidTo(question);
  if (!question || !first) return null;
  const subject = answer.picture ? subjects.picture : `“${question.name}” means`;
  const whole: AnswerText = { text: first.token, probability: first.probability };
  const instead = saidTo(question, "without");
  return instead && instead.without !== null
    ? { subject, now: { text: instead.token, probability: instead.without }, whole }
    : { subject, now: whole, whole: null };
}

/** "without layer 1, head 1 (mean)" or "without 2 heads"; null if no head was ablated. */
export function withoutWords({ all, answer }: HeadSelection): string | null {
  const first = all.find(({ head }) => answer.ablated.includes(head.key));
  return first ? wordsOf(answer, first.name) : null;
}
