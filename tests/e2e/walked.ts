/** Opens models of a person for "Step by step" without a page, and solves and explains a layer of theirs. */
import type { Heed } from "heed";
import { CausalLanguageModel, type HubConfig } from "heed/models";
import { type Explanation, explanationText } from "#parts";
import { explainCell } from "../../web/src/rooms/steps/explain";
import type { MatrixName } from "../../web/src/rooms/steps/matrices";
import type { Problem } from "../../web/src/rooms/steps/problem";
import { initialState, type State } from "../../web/src/rooms/steps/settings";
import solve from "../../web/src/rooms/steps/solve";
import { problemOf, sentenceAttentionOf, withLearned } from "../../web/src/rooms/steps/state";
import walk from "../../web/src/rooms/steps/walk";
import { ReadableTokenizer } from "../../web/src/shared/readableTokenizer";
import type { LanguageModel } from "../../web/src/worker/languageHeads";
import { setOpenModel, whyNotWalked } from "../../web/src/worker/openModel";
import type { SolverContext } from "../../web/src/worker/solver";
import { Random } from "../js/values";
import { published } from "./published";
import { contextOf } from "./solverContext";
import { wordTokenizer } from "./yours";

/** The number of tokens of the models. */
export const vocabulary = 23;

/** A model whose biases and norms are random, too. */
export function modelOf<M extends LanguageModel = CausalLanguageModel>(
  heed: Heed,
  config: HubConfig,
  Model: new (
    ...given: ConstructorParameters<typeof CausalLanguageModel>
  ) => M = CausalLanguageModel as never,
): M {
  const model = new Model(heed, config, { seed: 3 });
  const random = new Random(7);
  for (const { data, shape } of model.parameters()) {
    const { data: noise } = random.array([...shape], shape.length > 1 ? 0.3 : 0.5);
    (data as Float32Array).forEach((value, i) => {
      data[i] = value + (noise[i] as number);
    });
  }
  return model;
}

export const json = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes)) as object;

/** Opens a model as the room Models does. */
export function open(
  model: LanguageModel,
  size = vocabulary,
  ...others: Parameters<typeof wordTokenizer> extends [number, ...infer O] ? O : never
): void {
  const tokenizer = new ReadableTokenizer(json(wordTokenizer(size, ...others)), {});
  const card = { name: "tiny", link: "yours", whyNotWalked: whyNotWalked(model) };
  setOpenModel({ model, tokenizer, card, use: async (run) => run() });
}

/** @param heed needed for a model of a task */
export const asked = (model: string | null, text: string, heed?: Heed) =>
  walk({ model, text, base: published }, { heed } as SolverContext<never>);

/** The solution of a layer of the open model or, if `change` names one, of a task's. */
export async function solved(heed: Heed, change: Partial<State>) {
  const state: State = { ...initialState, ...withLearned("yours"), ...change };
  const { walked } = await asked(state.model, state.text, heed);
  const attention = sentenceAttentionOf(state, walked);
  const problem = problemOf(state, attention) as Problem;
  const solution = await solve(problem, contextOf(heed));
  return { state, attention, solution };
}

export type Found = Awaited<ReturnType<typeof solved>>;

/** The formula or the words about a number. */
export function said(
  { state, attention, solution }: Found,
  matrix: MatrixName,
  row: number,
  col: number,
) {
  const cell = { matrix, row, col };
  const { name, formula } = explainCell(cell, solution, state, attention) as Explanation;
  return explanationText({ name, formula: formula.flatMap((piece) => piece.all ?? [piece]) });
}

const numberOf = (text: string | undefined) =>
  Number((text ?? "").replace(/[()]/g, "").replaceAll("−", "-"));

/** The value of a formula of products, sums and rotations, and the value that it ends with. */
export function valuesOf(formula: string) {
  const [, terms = "", value] = /= (.*) [=≈] (−?[\d.]+)$/s.exec(formula) ?? [];
  const sum = terms
    .replaceAll(" + bias ", " + ")
    .split(" + ")
    .map((term) =>
      term.split("×").reduce((product, factor) => {
        const [, wave] = /(cos|sin)\(/.exec(factor) ?? [];
        return wave ? product : product * numberOf(factor.trim());
      }, 1),
    )
    .reduce((a, b) => a + b, 0);
  return { sum, value: numberOf(value) };
}
