/** The stages of attention in the order of the computation, and the stages of a trained layer after it. */
const attentionStages = [
  "tokens",
  "embedding",
  "qkv",
  "scores",
  "scaled",
  "masked",
  "weights",
  "output",
  "joined",
] as const;
const blockStages = ["addnorm", "feedforward", "addnorm2"] as const;
const all = [...attentionStages, ...blockStages] as const;

export type AttentionStage = (typeof attentionStages)[number];
export type BlockStage = (typeof blockStages)[number];
export type StageName = (typeof all)[number];

export function isStageName(text: string): text is StageName {
  return (all as readonly string[]).includes(text);
}

export function isBlockStage(stage: StageName): stage is BlockStage {
  return (blockStages as readonly string[]).includes(stage);
}

/** Only a trained layer has more than attention. */
export const stagesOf = ({ vectors }: { readonly vectors: string }): readonly StageName[] =>
  vectors === "learned" ? all : attentionStages;
