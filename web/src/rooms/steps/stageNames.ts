/** The stages of attention in the order of the computation, and the stages of a trained layer after it. */
const attentionTitles = {
  ...{ tokens: "Tokens", embedding: "Embedding", qkv: "Q, K, V", scores: "Scores" },
  ...{ scaled: "Scaled", masked: "Masked", weights: "Weights", output: "Output" },
  joined: "Joined",
} as const;
const blockTitles = {
  ...{ addnorm: "Add & Norm", feedforward: "Feed-forward", addnorm2: "Add & Norm" },
} as const;
export const titles = { ...attentionTitles, ...blockTitles } as const;

export type AttentionStage = keyof typeof attentionTitles;
export type BlockStage = keyof typeof blockTitles;
export type StageName = keyof typeof titles;

export const stageNames = Object.keys(titles) as readonly StageName[];

export const isBlockStage = (stage: StageName): stage is BlockStage =>
  Object.hasOwn(blockTitles, stage);

/** Only a trained layer has more than attention. */
export const stagesOf = ({ vectors }: { readonly vectors: string }) =>
  Object.keys(vectors === "learned" ? titles : attentionTitles) as readonly StageName[];
