// The report of a training of a language model: its curves and its final results.

import { columns, inLines, shortened } from "../report.mjs";

/** report.json */
export function reportOfText({ trainer, plan, corpus, log, scores, samples, weights }) {
  const { name, recipe, seed } = plan;
  const { tokenizer, train, counts, bytes } = corpus;
  const { info } = trainer.model.heed;
  const report = {
    ...{ name, parameters: trainer.model.parameters().reduce((sum, { size }) => sum + size, 0) },
    bytes: weights.length,
    ...{ seed, versions: { heed: info.version, variant: info.variant } },
    text: { documents: counts, bytes, tokens: train.length, vocabulary: tokenizer.size },
    steps: trainer.stepCount,
    bestStep: trainer.best.step,
    tokens: trainer.stepCount * recipe.batch * recipe.length,
    seconds: Math.round(log.seconds),
    processorSeconds: Math.round(log.processorSeconds),
    recipe,
    heldOut: shortened(scores),
    samples,
    curve: columns(shortened(log.points)),
    validation: columns(shortened(log.looks)),
  };
  return inLines(report);
}
