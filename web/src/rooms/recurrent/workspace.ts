import type { PointedCell } from "../../shared/Reading";
import type { Setter } from "../../shared/room";
import { workspaceIn } from "../../shared/workspaceIn";
import type { ModelName } from "./problem";
import type { DateSolution, ModelAnswers } from "./solve";
import { lastStep, type State } from "./state";

/** A character of the answer, one of the date, or both. They are highlighted in every picture. */
export interface PointedCharacters {
  readonly row?: number | undefined;
  readonly col?: number | undefined;
  /** The model whose picture the person points at. */
  readonly model?: ModelName | undefined;
}

export interface RecurrentWorkspace {
  /** The current state, with the text, the second model and the replaced token of the solution that is shown. */
  readonly state: State;
  readonly solution: DateSolution | null;
  /** The characters of the date, which are known before the first answer. */
  readonly source: readonly string[];
  readonly set: Setter<State>;
}

export const [RecurrentWorkspaceContext, useRecurrentWorkspace] = workspaceIn<RecurrentWorkspace>();

/** A separate context, because it changes much more often than the rest and few parts use it. */
export const [PointingContext, usePointing] = workspaceIn<PointedCell<PointedCharacters>>();

export const titles: Readonly<Record<ModelName, string>> = {
  rnn: "RNN without attention",
  bahdanau: "RNN with Bahdanau’s attention",
  dot: "RNN with dot-product attention",
  transformer: "Transformer, all attention",
};

export const shortTitles: Readonly<Record<ModelName, string>> = {
  ...{ rnn: "RNN", bahdanau: "Bahdanau", dot: "dot product", transformer: "Transformer" },
};

/** The number of steps of the longest run of all models. */
export function stepCountOf({ solution }: RecurrentWorkspace): number {
  const runs = solution?.models.flatMap(({ alone, taught }) => (taught ? [alone, taught] : alone));
  return Math.max(lastStep + 1, ...(runs ?? []).map(({ steps }) => steps.length));
}

/** The right answer or, if it is unknown, the Transformer's; without the end token. */
export function targetOf({ solution }: RecurrentWorkspace): readonly string[] {
  const { steps = [] } = solution?.models.at(-1)?.answer ?? {};
  return solution?.target ?? steps.slice(0, lastStep).map(({ top }) => top[0]?.token ?? "");
}

/** The models that are shown, in order, each with its result. */
export function shownModels({
  state,
  solution,
}: RecurrentWorkspace): (readonly [ModelName, ModelAnswers | null])[] {
  const names: ModelName[] = ["rnn", state.between, "transformer"];
  return names.map((name) => [name, solution?.models.find((each) => each.name === name) ?? null]);
}
