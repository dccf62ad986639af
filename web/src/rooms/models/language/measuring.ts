/** Measures the heads of a model on random tokens that are repeated. */
import type { CausalLanguageModel } from "heed/models";
import { nn } from "heed/nn";
import { headByHead } from "../../../worker/languageHeads";
import { type Kinds, measuredTokens, measuresOf, repeated, uniformMeasures } from "./kinds";

/** A start, then the same random tokens twice. An induction head attends to the token after the first occurrence. */
function repetition({ config }: CausalLanguageModel): number[] {
  const generator = new nn.Generator(1);
  // Vocabularies begin with special tokens and single bytes.
  const first = Math.min(257, config.vocabularySize >> 1);
  const choices = config.vocabularySize - first;
  const random = Array.from({ length: repeated }, () => first + (generator.next() % choices));
  return [0, ...random, ...random];
}

export function kindsOf(model: CausalLanguageModel): Kinds {
  const rows = measuredTokens;
  const measures = headByHead(model, { ids: repetition(model) }, ({ data, shape }) =>
    Array.from({ length: shape[0] as number }, (_, head) => {
      const weights = data.subarray(head * rows ** 2, (head + 1) * rows ** 2) as Float32Array;
      return measuresOf({ weights, rows });
    }),
  );
  return { measures, uniform: uniformMeasures(rows) };
}
