/** The nine stages of attention, in the order of the computation. */
export const stageNames = [
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

export type StageName = (typeof stageNames)[number];

export function isStageName(text: string): text is StageName {
  return (stageNames as readonly string[]).includes(text);
}
