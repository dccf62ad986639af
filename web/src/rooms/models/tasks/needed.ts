/** Finds for each answer the head whose ablation changes it. */
import { withoutHeads } from "heed/models";
import type { Input } from "../../../shared/typed";
import type { NeededHead } from "./answer";
import { askedOf, type Question, saidTo } from "./asking";
import { type ModelProbe, probe } from "./probe";
import type { AttentiveModel, Heads } from "./trained";

export type Needed = readonly (NeededHead | null)[];

interface Asked {
  /** The input with the model's own answer. */
  readonly answered: Input;
  readonly questions: readonly Question[];
  /** The output with all heads. */
  readonly probe: ModelProbe;
  /** The text that the model writes with all heads, if it writes one. */
  readonly written: readonly string[] | null;
}

/**
 * Ablates one head at a time. Of the heads that change an answer, returns the one that lowers its probability most. Of a
 * text that the model continues, the next token is asked, but the whole continuation is the answer.
 *
 * @param heads all heads by their keys
 */
export async function neededHeads(
  model: AttentiveModel,
  { answered, questions, probe: before, written }: Asked,
  heads: Heads,
): Promise<Needed> {
  const needed: (NeededHead | null)[] = questions.map(() => null);
  for (const [key, head] of heads) {
    const [after, continued] = await withoutHeads(model, [head], async () => [
      probe(model, answered),
      answered.kind === "continuation" ? (await model.write?.([answered]))?.[0] : undefined,
    ]);
    const isOther = continued !== undefined && continued.join() !== written?.join();
    for (const [i, asked] of askedOf(questions, before, after).entries()) {
      const [former, now] = [saidTo(asked), saidTo(asked, "without")];
      const lost = (former?.probability ?? 0) - (former?.without ?? 0);
      const isChanged = isOther || now !== former;
      if (isChanged && lost > (needed[i]?.lost ?? Number.NEGATIVE_INFINITY))
        needed[i] = { key, lost };
    }
  }
  return needed;
}
