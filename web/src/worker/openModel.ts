/** The language model of the person that is open in the room Models. Other rooms may use it, too. */
import type { CausalLanguageModel } from "heed/models";
import type { ReadableTokenizer } from "../shared/readableTokenizer";
import type { LanguageModel, ShownModel } from "./languageHeads";

export interface OpenModel {
  readonly model: ShownModel;
  readonly tokenizer: ReadableTokenizer;
  readonly card: {
    readonly name: string;
    /** How a link names it. */
    readonly link: string;
    /** See `whyNotWalked`. */
    readonly whyNotWalked: string | null;
  };
  /** Runs a request of the model, which is not freed before the request ends. */
  use<T>(run: () => T | Promise<T>): Promise<T>;
}

/** Whether “Step by step” shows its layers. */
export function isWalked(open: OpenModel): open is OpenModel & { readonly model: LanguageModel } {
  return open.card.whyNotWalked === null;
}

let open: OpenModel | null = null;

export const openModel = (): OpenModel | null => open;

export function setOpenModel(model: OpenModel | null): void {
  open = model;
}

/** Whether Phi-3 rotates only a part of each head, or by other angles in longer texts. */
const rotatesApart = ({ rotations, headSize }: CausalLanguageModel["config"]) =>
  rotations?.some(({ long, frequencies }) => long || 2 * frequencies.length < headSize) === true;

/** A layer with larger matrices of its heads would take too much memory and time to draw. */
const mostWeights = 2 ** 22;

interface Difference {
  readonly layers: string;
  /** How “Step by step” differs from them. */
  readonly steps: string;
}

/** A difference between the layers and the ones of GPT-2, Llama and BERT; null if there is none. */
export function differenceOf({ config }: LanguageModel): Difference | null {
  if (config.kind === "masked") {
    if (config.hasNormsBefore)
      return {
        layers: "some of its layers see only tokens nearby, and the first has no norm (ModernBERT)",
        steps: "the steps do not show that",
      };
    return config.distances > 0
      ? {
          layers: "it adds a learned number for each distance to its scores (MPNet)",
          steps: "the steps do not",
        }
      : null;
  }
  if (config.hasOutputNorms)
    return {
      layers: "it normalises the outputs of attention and of the feed-forward network (Gemma)",
      steps: "the steps do not",
    };
  return rotatesApart(config)
    ? {
        layers: "it rotates a part of each head only, or by other angles in longer texts",
        steps: "the steps rotate whole heads",
      }
    : null;
}

/** A rule for scores that the steps do not have; null for none. */
function otherScores({ config }: LanguageModel): string | null {
  if (config.kind === "masked") return null;
  if (config.scoresSoftcap !== undefined)
    return "it limits its scores (softcap), and the steps do not";
  return config.scales.some((scale) => scale !== 1 / Math.sqrt(config.headSize))
    ? "it does not divide its scores by √d in each layer, and the steps do"
    : null;
}

/** Why “Step by step” cannot show the layers of a model; null if it can. */
export function whyNotWalked(model: ShownModel): string | null {
  if ("decode" in model) return "it has an encoder and a decoder, and the steps show one of them";
  const { config } = model;
  const { heads, headSize, size } = config;
  const difference = differenceOf(model);
  const otherwise = difference
    ? `${difference.layers}, and ${difference.steps}`
    : otherScores(model);
  if (otherwise !== null) return otherwise;
  const first = model.model.layers[0]?.selfAttn.qProj.weight as { dtype?: string } | undefined;
  if (first?.dtype !== "float32" && first?.dtype !== "float16")
    return "its weights are stored in fewer bits: open it with weights of float32 or float16";
  const weights = heads * headSize * size;
  return weights > mostWeights
    ? `its matrices have ${weights.toLocaleString("en")} numbers, and a picture has ${mostWeights.toLocaleString("en")} at most`
    : null;
}
