/** Applies the settings to the solver's answer: the selected head and row, and their names. */

import { at, type View } from "../../picture/view";
import { type AttentionName, weightsOf } from "../../shared/attended";
import { exhibitOf } from "./catalogue";
import type { HeadKey, Seen, SeenAttention, SeenHead } from "./seen";
import type { CellAt, State } from "./state";

export interface HeadView {
  readonly attention: SeenAttention;
  readonly head: SeenHead;
  /** Its number in its attention, from 0. */
  readonly index: number;
  readonly weights: View;
  /** "layer 2, head 3", with the kind of attention if the model has several. */
  readonly name: string;
  /** "2.3" */
  readonly short: string;
}

export interface Scene {
  readonly seen: Seen;
  readonly all: readonly HeadView[];
  readonly shown: HeadView;
  /** The head to compare with, if it has the same tokens. */
  readonly other: HeadView | null;
  readonly row: number;
  readonly cell: CellAt | null;
}

export const attentionWords: Readonly<Record<AttentionName, readonly [name: string, who: string]>> =
  {
    encoder: ["Encoder self-attention", "the input attends to itself"],
    decoder: ["Decoder self-attention", "the answer attends to itself"],
    cross: ["Encoder-decoder attention", "the answer attends to the input"],
  };

const prefixes: Readonly<Record<AttentionName, string>> = {
  encoder: "encoder",
  decoder: "decoder",
  cross: "encoder-decoder",
};

function viewsOf({ attentions }: Seen): HeadView[] {
  const kinds = new Set(attentions.map(({ name }) => name));
  return attentions.flatMap((attention) =>
    attention.seen.map((head, i) => {
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

export function isComparable(a: HeadView, b: HeadView): boolean {
  return (
    a.head.key !== b.head.key &&
    isSame(a.attention.rows, b.attention.rows) &&
    isSame(a.attention.columns, b.attention.columns)
  );
}

/** The row of the first answer, if this attention has one. */
function firstRow({ attention }: HeadView, { asked, attentions }: Seen): number {
  const isRead = attention.name === "encoder" && attentions.some(({ name }) => name === "cross");
  return isRead ? 0 : (asked[0]?.row ?? 0);
}

export function sceneOf(seen: Seen, state: State): Scene {
  const all = viewsOf(seen);
  const find = (key: HeadKey | null) => all.find(({ head }) => head.key === key);
  const shown = (find(state.head) ?? find(seen.best)) as HeadView;
  const other = find(state.other);
  const { rows, columns } = shown.attention;
  const row = state.row ?? firstRow(shown, seen);
  const { cell } = state;
  return {
    ...{ seen, all, shown },
    other: other && isComparable(shown, other) ? other : null,
    row: Math.min(row, rows.length - 1),
    cell: cell && cell.row < rows.length && cell.col < columns.length ? cell : null,
  };
}

/** Explains the outlined cells, or why there are none. */
export function placesWords({ seen, shown }: Scene): string {
  if (seen.places === "unknown" && !seen.picture)
    return "This is not written in a form that the model learned, so the right places are not known.";
  if (!shown.attention.places?.some((row) => row.length > 0)) return "";
  return seen.places === "answered"
    ? "Outlined: the right places. For a typed sentence those are the words that the model answers."
    : "Outlined: the right places, where the answer comes from.";
}

/** Two sentences about what the picture shows. */
export function storyOf({ seen, shown, row }: Scene, text: (share: number) => string): string[] {
  const { rows, columns } = shown.attention;
  const weights = columns.map((_, col) => at(shown.weights, row, col));
  const largest = weights.indexOf(Math.max(...weights));
  const share = text(weights[largest] as number);
  const named = (token: string | undefined) =>
    seen.picture && token !== "class" ? `the patch ${token}` : `“${token}”`;
  const looks = `The selected row is ${named(rows[row])}: in ${shown.name} it puts ${share} of its attention on ${named(columns[largest])}.`;
  const answer = seen.asked.find((asked) => asked.row === row) ?? seen.asked[0];
  const [said] = answer?.says ?? [];
  const [instead] = answer?.instead ?? [];
  if (seen.exhibit === "pronouns" && answer && said) {
    const says = `Asked what “${answer.name}” means, the model says “${said.token}” with a probability of ${text(said.probability)}`;
    const then =
      instead && instead.token !== said.token
        ? `; without the dropped heads it says “${instead.token}”.`
        : ": drop heads to see when that changes.";
    return [looks, says + then];
  }
  return [
    looks,
    `The model ${exhibitOf(seen.exhibit).does}. Drop heads to find those that it needs.`,
  ];
}
