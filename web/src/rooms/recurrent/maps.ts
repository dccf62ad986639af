import { at, type Explanation, type FormulaPiece, format, type MatrixView, viewOn } from "#parts";
import { formulaOf } from "../../shared/attended";
import { softmaxOf } from "../../shared/format";
import type { ModelName } from "./problem";
import type { DateSolution, ModelAnswers, RecordedAttention } from "./solve";
import { runShown, type State, visible } from "./state";
import {
  type PointedCharacters,
  type RecurrentWorkspace,
  shortTitles,
  shownModels,
} from "./workspace";

/** The attention of a model that the settings select; null for a model without attention. */
export function attentionShown(found: ModelAnswers, { way, layer }: State) {
  const { attentions } = runShown(found, way);
  return attentions[Math.min(layer, attentions.length - 1)] ?? null;
}

/** The weights of one head or, for 0, the mean of all heads. A model with one head has only the mean. */
export function viewOfHead({ heads, rows, columns, weights }: RecordedAttention, head: number) {
  return viewOn(weights, rows, columns, Math.min(head, heads) * rows * columns);
}

/** The name of a head, or of the mean of all heads. */
export const headWords = (head: number) => (head === 0 ? "mean of its heads" : `head ${head}`);

/** The sum of a row's weights on the right places; null if there are none. */
export function massOf(view: MatrixView, row: number, places: readonly number[]): number | null {
  if (places.length === 0) return null;
  return places.reduce((sum, place) => sum + at(view, row, place), 0);
}

/** The tokens that a run predicts, including the end token. */
export function predictedBy(found: ModelAnswers, way: State["way"]): string[] {
  return runShown(found, way).steps.map(({ top }) => visible(top[0]?.token ?? ""));
}

/** The characters of the date that the right answer takes for each output of a run. */
export function rightPlacesOf(
  found: ModelAnswers,
  way: State["way"],
  alignment: DateSolution["alignment"],
): (readonly number[])[] {
  return runShown(found, way).places.map((place) => alignment?.[place ?? -1] ?? []);
}

export function explainAlignment(
  workspace: RecurrentWorkspace,
  { row, col, model }: PointedCharacters,
): Explanation | null {
  const { state, solution, source } = workspace;
  const [, found] = shownModels(workspace).find(([name]) => name === model) ?? [];
  if (!found || !model || !solution || row === undefined || col === undefined) return null;
  const attention = attentionShown(found, state);
  if (!attention || row >= attention.rows || col >= attention.columns) return null;
  const view = viewOfHead(attention, state.head);
  const places = rightPlacesOf(found, state.way, solution.alignment)[row] ?? [];
  const mass = massOf(view, row, places);
  const what = headName(model, attention, state);
  const carrying = places.map((place) => `“${visible(source[place] ?? "")}”`).join(" ");
  const isMean = state.head === 0 && attention.heads > 1;
  const isCompared = attention.compared !== null && !isMean;
  const score =
    isMean || model === "rnn" || model === "transformer"
      ? ""
      : `\ns = ${scores[model]}, minus the row’s maximum`;
  return {
    name: `${shortTitles[model]}${what}: to say “${predictedBy(found, state.way)[row]}” (character ${row + 1}), it attends to “${visible(source[col] ?? "")}” (${col + 1} of the date)`,
    formula: [
      ...(isCompared
        ? comparisonPieces(workspace, attention, predictedBy(found, state.way), row, col)
        : []),
      {
        text: `α[${row + 1}, ${col + 1}] = ${isCompared ? "" : `${madeOf(attention, state.head, row, col)} = `}`,
      },
      { text: format(at(view, row, col)), role: "o" },
      {
        text: `${
          mass === null ? "" : `; on the answer positions ${carrying}, ${format(mass)}`
        }${score}`,
      },
    ],
  };
}

const scores: Readonly<Record<Exclude<ModelName, "rnn" | "transformer">, string>> = {
  bahdanau: "v · tanh(W q + U k)",
  dot: "q · k",
};

/** The formula of a score of one of the Transformer's heads, with the two vectors that it compares. */
function comparisonPieces(
  { state: { head }, source }: RecurrentWorkspace,
  { heads, weights, rows, columns, compared }: RecordedAttention,
  said: readonly string[],
  row: number,
  col: number,
): FormulaPiece[] {
  if (!compared) return [];
  const shares = { ...compared, weights: weights.subarray(rows * columns) };
  const pieces = formulaOf({ heads, rows: said, columns: source }, shares, head - 1, { row, col });
  return [...pieces, { text: "\n" }];
}

/** The formula of a weight: a mean over the heads, or a softmax. */
function madeOf(attention: RecordedAttention, head: number, row: number, col: number): string {
  const { heads, columns } = attention;
  const weightOf = (head: number, col: number) => at(viewOfHead(attention, head), row, col);
  if (heads > 1 && head === 0) {
    const each = Array.from({ length: heads }, (_, i) => format(weightOf(i + 1, col)));
    return `(${each.join(" + ")}) ÷ ${heads}`;
  }
  const weights = Array.from({ length: columns }, (_, j) => weightOf(head, j));
  const largest = Math.max(...weights);
  return `e^s ÷ Σ e^s = ${softmaxOf(weights[col] as number, largest)}`;
}

function headName(model: ModelName, { heads, layer }: RecordedAttention, { head }: State): string {
  if (model !== "transformer") return "";
  return `, layer ${layer + 1}, ${head === 0 || head > heads ? `mean of ${heads} heads` : `head ${head}`}`;
}
