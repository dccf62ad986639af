/** The solver of the whole Transformer of dates. */
import { loadModel, TransformerModel } from "heed/models";
import { type TransformerQuestion, transformerNetwork } from "../../../network/transformer";
import type { Solver } from "../../../worker/solver";
import { filesOf } from "../trained";

export interface NetworkQuestion extends TransformerQuestion {
  /** The base address of the models' folders. */
  readonly base: string;
}

const solve = (async ({ base, ...question }, { heed }) => {
  const model = loadModel(heed, await filesOf(base, "transformer"));
  try {
    if (!(model instanceof TransformerModel)) throw new RangeError("it is no Transformer");
    return transformerNetwork(model, question);
  } finally {
    model.dispose();
  }
}) satisfies Solver<NetworkQuestion, unknown>;

export default solve;
