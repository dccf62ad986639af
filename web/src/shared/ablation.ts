/** The ablation of heads as a room's link stores it. */
import { choice, setting } from "./settings";

const ablations = ["zero", "mean"] as const;

/** The output of an ablated head: zeros, or its mean over a reference (see worker/ablating.ts). */
export type Ablation = (typeof ablations)[number];

export interface Ablated {
  /** The names of the heads to ablate. */
  readonly ablated: readonly string[];
  readonly ablation: Ablation;
}

/** @param headFrom reads the name of a head */
export const ablationSettings = (headFrom: (text: string) => string) => ({
  ablated: setting<readonly string[]>(
    [],
    (text) => [...new Set(text.split(",").filter(Boolean).map(headFrom))],
    { link: "ablate", write: (heads) => heads.join(",") },
  ),
  ablation: choice("zero", ablations),
});

/** "without 2 heads", or with the name of a single head "without layer 1, head 2 (mean)". */
export function withoutWords({ ablated, ablation }: Ablated, name = "1 head"): string {
  const heads = ablated.length === 1 ? name : `${ablated.length} heads`;
  return `without ${heads}${ablation === "mean" ? " (mean)" : ""}`;
}
