/** Applies the settings to the solver's answer: the selected head and row, and their names. */
import type { Cell } from "../../picture/layout";
import { at, type MatrixView } from "../../picture/view";
import { type AttentionName, weightsOf } from "../../shared/attended";
import type { HeadKey, HeadsAnswer, MeasuredAttention, MeasuredHead } from "./answer";
import { exhibitOf } from "./catalogue";
import type { State } from "./state";

export interface NamedHead {
  readonly attention: MeasuredAttention;
  readonly head: MeasuredHead;
  /** Its number in its attention, from 0. */
  readonly index: number;
  readonly weights: MatrixView;
  /** "layer 2, head 3", with the kind of attention if the model has several. */
  readonly name: string;
  /** "2.3" */
  readonly short: string;
}

export interface HeadSelection {
  readonly answer: HeadsAnswer;
  readonly all: readonly NamedHead[];
  readonly shown: NamedHead;
  /** The head to compare with, if it has the same tokens. */
  readonly other: NamedHead | null;
  readonly row: number;
  readonly cell: Cell | null;
}

export const attentionTitles: Readonly<Record<AttentionName, string>> = {
  encoder: "Encoder self-attention",
  decoder: "Decoder self-attention",
  cross: "Encoder-decoder attention",
};

const prefixes: Readonly<Record<AttentionName, string>> = {
  encoder: "encoder",
  decoder: "decoder",
  cross: "encoder-decoder",
};

function namedHeadsOf({ attentions }: HeadsAnswer): NamedHead[] {
  const kinds = new Set(attentions.map(({ name }) => name));
  return attentions.flatMap((attention) =>
    attention.measured.map((head, i) => {
      const place = `layer ${attention.layer + 1}, head ${i + 1}`;
      return {
        ...{ attention, head, index: i },
        weights: weightsOf(attention, attention.shares, i),
        name: kinds.size > 1 ? `${prefixes[attention.name]}, ${place}` : place,
        short: `${attention.layer + 1}.${i + 1}`,
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

export function selectionOf(answer: HeadsAnswer, state: State): HeadSelection {
  const all = namedHeadsOf(answer);
  const find = (key: HeadKey | null) => all.find(({ head }) => head.key === key);
  const shown = (find(state.head) ?? find(answer.best)) as NamedHead;
  const other = find(state.other);
  const { rows, columns } = shown.attention;
  const row = state.row ?? firstRow(shown, answer);
  const { cell } = state;
  return {
    ...{ answer, all, shown },
    other: other && isComparable(shown, other) ? other : null,
    row: Math.min(row, rows.length - 1),
    cell: cell && cell.row < rows.length && cell.col < columns.length ? cell : null,
  };
}

/** Explains the outlined cells, or why there are none. */
export function placesWords({ answer, shown }: HeadSelection): string {
  if (answer.places === "unknown" && !answer.picture)
    return "The model did not learn this form, so the right places are not known.";
  if (!shown.attention.places?.some((row) => row.length > 0)) return "";
  return answer.places === "answered"
    ? "Outlined: the right places. For a typed sentence those are the words that the model answers."
    : "Outlined: the right places, where the answer comes from.";
}

/** Two sentences about what the picture shows. */
export function storyOf(
  { answer, shown, row }: HeadSelection,
  text: (share: number) => string,
): string[] {
  const { rows, columns } = shown.attention;
  const weights = columns.map((_, col) => at(shown.weights, row, col));
  const largest = weights.indexOf(Math.max(...weights));
  const share = text(weights[largest] as number);
  const named = (token: string | undefined) =>
    answer.picture && token !== "class" ? `the patch ${token}` : `“${token}”`;
  const attends = `The selected row is ${named(rows[row])}: in ${shown.name} it puts ${share} of its attention on ${named(columns[largest])}.`;
  const question = answer.asked.find((asked) => asked.row === row) ?? answer.asked[0];
  const [said] = question?.says ?? [];
  const [instead] = question?.instead ?? [];
  if (answer.exhibit === "pronouns" && question && said) {
    const says = `Asked what “${question.name}” means, the model says “${said.token}” with a probability of ${text(said.probability)}`;
    const then =
      instead && instead.token !== said.token
        ? `; without the dropped heads it says “${instead.token}”.`
        : ": drop heads to see when that changes.";
    return [attends, says + then];
  }
  return [
    attends,
    `The model ${exhibitOf(answer.exhibit).does}. Drop heads to find those that it needs.`,
  ];
}
