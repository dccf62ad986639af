/** The explanation and the formulas of a stage after attention. Loaded when such a stage is first shown. */
import type { Formula, Kit } from "./formulas";
import type { StageText } from "./StageWords";
import type { State } from "./settings";
import type { ModelShape } from "./shape";
import type { BlockStage } from "./stageNames";

/** The kit is a parameter, so that this file shares no code with the room. */
export function blockWordsOf(
  { stage, layer }: Pick<State, "stage" | "layer">,
  model: ModelShape,
  kit: Kit,
): StageText {
  const { activation, isGated, isPostNorm, units, layers, words: named } = model;
  const { hidden } = model.biases;
  const { sub, words, gap, plus, norm, after } = kit;
  const readBy = (name: string): Formula => [
    ...[isPostNorm ? "Z" : "N", sub("W", words(name)), ...plus(hidden, words(name))],
  ];
  const [first, last] = isGated ? ["up", "down"] : ["1", "2"];
  const factor = hidden ? ["(", ...readBy(first), ")"] : readBy(first);
  const read = isGated ? [...readBy("gate"), ")⊙", ...factor] : [...readBy(first), ")"];
  const next = layer + 1 < layers ? `Layer ${layer + 2}` : null;
  const sum = "Attention’s result Y is added to the token’s vector E, which came into the layer";
  switch (stage as BlockStage) {
    case "addnorm":
      return isPostNorm
        ? {
            explanation: `${sum}. The sum is normalised to Z (post-norm, as in the first Transformer).`,
            formulas: [["Z=", norm, "(E+Y)"]],
          }
        : {
            explanation: `${sum}: the residual stream. The feed-forward network reads a normalised copy of it (pre-norm; the first Transformer normalised the sum itself).`,
            formulas: [["Z=E+Y", gap(), "N=", norm, "(Z)"]],
          };
    case "feedforward":
      return {
        explanation: `Each of the ${units} units reads the whole vector of this token, and no other token. A unit is ${named.unit}. A last matrix turns the units into a vector F.`,
        formulas: [
          ["U=", words(activation), "(", ...read],
          ["F=U", sub("W", words(last)), ...plus(hidden, words(last))],
        ],
      };
    case "addnorm2":
      return isPostNorm
        ? {
            explanation: `F is added to Z, and the sum normalised to Z′, which leaves the layer. ${next ? `${next} reads it as it is` : "The model’s answer is computed from it"}.`,
            formulas: [[after, "=", norm, "(Z+F)"]],
          }
        : {
            explanation: `F is added to the stream, which leaves the layer. ${next ? `${next} begins with the norm of it` : `A last norm follows, then ${named.end}`}.`,
            formulas: [[after, "=Z+F", gap(), norm, "(", after, ")"]],
          };
  }
}
