/** The heads of this room's model, measured on random tokens that are repeated. */
import type { CausalLanguageModel } from "heed/models";
import { nn } from "heed/nn";
import { layerByLayer, perHead, readIn } from "../../../worker/languageHeads";
import { measuresOf, repeated } from "./measures";
import type { HeadMeasures } from "./messages";

/** The start, then the same random tokens twice. An induction head attends to the token after the first occurrence. */
function repetition(model: CausalLanguageModel, start: number): number[] {
  const generator = new nn.Generator(1);
  // Not the start, nor single bytes.
  const first = 257;
  const choices = model.config.vocabularySize - first;
  const random = Array.from({ length: repeated }, () => first + (generator.next() % choices));
  return [start, ...random, ...random];
}

export function measureHeads(model: CausalLanguageModel, start: number): HeadMeasures[] {
  const { heed, config } = model;
  const ids = repetition(model, start);
  const rows = ids.length;
  return heed.scope(() => {
    const { kept } = layerByLayer(
      model,
      ({ data }) => data.slice() as Float32Array,
      () => readIn(model, ids),
    );
    return perHead(kept, config.heads).map(({ key, weights }) => ({
      key,
      ...measuresOf({ weights, rows }),
    }));
  });
}
