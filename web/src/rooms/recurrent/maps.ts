import { at, type Explanation, format, type MatrixView, viewOn } from "#parts";
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
  const { heads, rows, columns, weights } = attention;
  const { head, way } = state;
  const said = predictedBy(found, way);
  const view = viewOfHead(attention, head);
  const places = rightPlacesOf(found, way, solution.alignment)[row] ?? [];
  const mass = massOf(view, row, places);
  const carrying = places.map((place) => `“${visible(source[place] ?? "")}”`).join(" ");
  const compared = head > 0 || heads === 1 ? attention.compared : null;
  const shares = compared && { ...compared, weights: weights.subarray(rows * columns) };
  const score = shares
    ? formulaOf({ heads, rows: said, columns: source }, shares, head - 1, { row, col })
    : [];
  const made = shares ? "" : `${madeOf(attention, head, row, col)} = `;
  const end = scores[model] ? `\ns = ${scores[model]}, minus the row’s maximum` : "";
  return {
    name: `${shortTitles[model]}${headName(model, attention, state)}: to say “${said[row]}” (character ${row + 1}), it attends to “${visible(source[col] ?? "")}” (${col + 1} of the date)`,
    formula: [
      ...score,
      { text: `${shares ? "\n" : ""}α[${row + 1}, ${col + 1}] = ${made}` },
      { text: format(at(view, row, col)), role: "o" },
      {
        text: `${mass === null ? "" : `; on the answer positions ${carrying}, ${format(mass)}`}${end}`,
      },
    ],
  };
}

/** The scores of attention with one head, whose vectors are not recorded. */
const scores: Readonly<Partial<Record<ModelName, string>>> = {
  bahdanau: "v · tanh(W q + U k)",
  dot: "q · k",
};

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
