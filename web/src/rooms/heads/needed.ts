/** Finds the head that each answer needs: without it the model answers something else. */
import { withoutHeads } from "heed/models";
import { attentionAt } from "../../shared/attended";
import type { Input } from "../../shared/typed";
import type { NeededHead } from "./answer";
import { askedOf, type Question } from "./asking";
import { type ModelProbe, probe } from "./probe";
import { headKey } from "./state";
import type { AttentiveModel } from "./trained";

type Needed = readonly (NeededHead | null)[];

interface Asked {
  /** With the model's own answer. */
  readonly input: Input;
  readonly questions: readonly Question[];
  /** With all heads. */
  readonly before: ModelProbe;
}

/** Runs the model once without each head. Of the heads that change an answer, the one that it loses most without. */
async function search(model: AttentiveModel, { input, questions, before }: Asked): Promise<Needed> {
  const needed: (NeededHead | null)[] = questions.map(() => null);
  for (const { path, heads } of before.attentions) {
    const place = attentionAt(path);
    if (!place) continue;
    for (let head = 0; head < heads; ++head) {
      const key = headKey(place.name, place.layer, head);
      const after = await withoutHeads(model, [{ path, head }], () => probe(model, input));
      for (const [i, { says, instead, kept }] of askedOf(questions, before, after).entries()) {
        const [said, now] = [says[0], instead?.[0]];
        const lost = (said?.probability ?? 0) - (kept ?? 0);
        if (now?.token !== said?.token && lost > (needed[i]?.lost ?? 0)) needed[i] = { key, lost };
      }
    }
  }
  return needed;
}

/** What was found for the last input of each model; it goes with the model when the room is left. */
const last = new WeakMap<AttentiveModel, { readonly inputKey: string; readonly needed: Needed }>();

/**
 * For each question the head that its answer needs. It does not depend on the heads that are dropped, so it is searched
 * for once per input.
 *
 * @param inputKey the same for the same input only
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
