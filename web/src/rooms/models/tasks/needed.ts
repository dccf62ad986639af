/** Finds for each answer the head whose ablation changes it. */
import { withoutHeads } from "heed/models";
import { attentionAt } from "../../../shared/attended";
import type { Input } from "../../../shared/typed";
import type { NeededHead } from "./answer";
import { askedOf, type Question } from "./asking";
import { type ModelProbe, probe } from "./probe";
import { headKey } from "./state";
import type { AttentiveModel } from "./trained";

type Needed = readonly (NeededHead | null)[];

interface Asked {
  /** The input with the model's own answer. */
  readonly input: Input;
  readonly questions: readonly Question[];
  /** The output with all heads. */
  readonly before: ModelProbe;
}

/** Ablates one head at a time. Of the heads that change an answer, returns the one that lowers its probability most. */
async function search(model: AttentiveModel, { input, questions, before }: Asked): Promise<Needed> {
  const needed: (NeededHead | null)[] = questions.map(() => null);
  for (const { path, heads } of before.attentions) {
    const place = attentionAt(path);
    if (!place) continue;
    for (let head = 0; head < heads; ++head) {
      const key = headKey(place.name, place.layer, head);
      const after = await withoutHeads(model, [{ path, head }], () => probe(model, input));
      for (const [i, { answers, instead, kept }] of askedOf(questions, before, after).entries()) {
        const [former, now] = [answers[0], instead?.[0]];
        const lost = (former?.probability ?? 0) - (kept ?? 0);
        if (now?.token !== former?.token && lost > (needed[i]?.lost ?? 0))
          needed[i] = { key, lost };
      }
    }
  }
  return needed;
}

/** The result for the last input of each model. It is freed with the model when the person leaves the view. */
const last = new WeakMap<AttentiveModel, { readonly inputKey: string; readonly needed: Needed }>();

/**
 * For each question the head whose ablation changes the answer. It does not depend on the ablated heads, so the search
 * runs once per input.
 *
 * @param inputKey differs for different inputs
 */
export async function neededHeads(
  model: AttentiveModel,
  inputKey: string,
  asked: Asked,
): Promise<Needed> {
  const known = last.get(model);
  if (known?.inputKey === inputKey) return known.needed;
  const needed = await search(model, asked);
  last.set(model, { inputKey, needed });
  return needed;
}
