/** The models that the room offers, and their names in links. */
import { type ExhibitId, exhibitIds, exhibitOf } from "./tasks/catalogue";

/** The page's own language model, a small model trained for one task, or a model of the person. */
export type Choice = "language" | ExhibitId | "yours";

export const choiceNames: readonly (readonly [Choice, string])[] = [
  ["language", "our language model"],
  ...exhibitIds.map((id) => [id, exhibitOf(id).name] as const),
  ["yours", "open yours"],
];

/** The model of a link: without a name our language model, and for every other name a model of the person. */
export function choiceOf(name: string | null): Choice {
  if (name === null) return "language";
  return choiceNames.find(([choice]) => choice === name)?.[0] ?? "yours";
}
