/** The models that the room offers, and their names in links. */
import { ourModel, yourModel } from "./language/state";
import { type ExhibitId, exhibitIds, exhibitOf } from "./tasks/catalogue";

/** The page's own language model, a small model trained for one task, or a model of the person. */
export type Choice = typeof ourModel | ExhibitId | typeof yourModel;

export const choiceNames: readonly (readonly [Choice, string])[] = [
  [ourModel, "our language model"],
  ...exhibitIds.map((id) => [id, exhibitOf(id).name] as const),
  [yourModel, "open yours"],
];

export function isTask(name: string | null): name is ExhibitId {
  return (exhibitIds as (string | null)[]).includes(name);
}
