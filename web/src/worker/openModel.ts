/** The language model of the person that is open in the room Models. Other rooms may use it, too. */
import type { CausalLanguageModel, MaskedLanguageModel } from "heed/models";
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
export function rotatesApart({ config }: ShownModel): boolean {
  return (
    config.kind === "causal" &&
    config.rotations?.some(
      ({ long, frequencies }) => long || 2 * frequencies.length < config.headSize,
    ) === true
  );
}

/** A layer with larger matrices of its heads would take too much memory and time to draw. */
const mostWeights = 2 ** 22;

/** A difference between the layers of an encoder and the steps; null if there is none. */
function otherEncoder({ hasNormsBefore, distances }: MaskedLanguageModel["config"]): string | null {
  if (hasNormsBefore)
    return "some of its layers see only tokens nearby, and the first has no norm (ModernBERT), and the steps do not show that";
  return distances > 0
    ? "it adds a learned number for each distance to its scores (MPNet), and the steps do not"
    : null;
}

/** A difference between the layers of a decoder and the steps; null if there is none. */
function otherDecoder(model: LanguageModel, config: CausalLanguageModel["config"]): string | null {
  if (config.hasOutputNorms)
    return "it normalises the outputs of attention and of the feed-forward network (Gemma), and the steps do not";
  if (config.scoresSoftcap !== undefined)
    return "it limits its scores (softcap), and the steps do not";
  if (rotatesApart(model))
    return "it rotates a part of each head only, or by other angles in longer texts, and the steps rotate whole heads";
  return config.scales.some((scale) => scale !== 1 / Math.sqrt(config.headSize))
    ? "it does not divide its scores by √d in each layer, and the steps do"
    : null;
}

/** Why “Step by step” cannot show the layers of a model; null if it can. */
export function whyNotWalked(model: ShownModel): string | null {
  if ("decode" in model) return "it has an encoder and a decoder, and the steps show one of them";
  const { config } = model;
  const { heads, headSize, size } = config;
  const otherwise = config.kind === "masked" ? otherEncoder(config) : otherDecoder(model, config);
  if (otherwise !== null) return otherwise;
  const first = model.model.layers[0]?.selfAttn.qProj.weight as { dtype?: string } | undefined;
  if (first?.dtype !== "float32" && first?.dtype !== "float16")
    return "its weights are stored in fewer bits: open it with weights of float32 or float16";
  const weights = heads * headSize * size;
  return weights > mostWeights
    ? `its matrices have ${weights.toLocaleString("en")} numbers, and a picture has ${mostWeights.toLocaleString("en")} at most`
    : null;
}
