/** The words of each stage: its name on a button, and a sentence that describes it. */
import type { Play, StepsStage } from "./scene.js";

export const stageTitles: Readonly<Record<StepsStage, string>> = {
  inputs: "Q, K, V",
  scores: "Scores",
  scaled: "Scaled",
  masked: "Masked",
  weights: "Weights",
  output: "Output",
};

export function stageWords(stage: StepsStage, { scaling }: Pick<Play, "scaling">): string {
  switch (stage) {
    case "inputs":
      return "Each row of Q is a query: what a token looks for. Each row of K is a key, by which a token is found, and the same row of V is its value: what it passes on.";
    case "scores":
      return "A query and a key are multiplied entry by entry, and the products added up. This score is large where both point the same way.";
    case "scaled":
      if (scaling === "") return "The scores stay as they are: the scale is 1.";
      return scaling.startsWith("÷")
        ? `Longer vectors have larger scores, so each score is divided by the root of their length: ${scaling}.`
        : `Each score is multiplied by the scale: ${scaling}.`;
    case "masked":
      return "The mask hides keys from queries. A hidden score is −∞, and its weight will be 0.";
    case "weights":
      return "The softmax turns each row of scores into weights: e to the power of each score, divided by the sum of the row.";
    case "output":
      return "Each value is multiplied by its weight, and they are added up: the output of a query is a weighted mean of the values.";
  }
}
