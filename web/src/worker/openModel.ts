/** The language model of the person that is open in the room Models. Other rooms may use it, too. */
import type { ReadableTokenizer } from "../shared/readableTokenizer";
import type { LanguageModel } from "./languageHeads";

export interface OpenModel {
  readonly model: LanguageModel;
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

let open: OpenModel | null = null;

export const openModel = (): OpenModel | null => open;

export function setOpenModel(model: OpenModel | null): void {
  open = model;
}

/** Whether Phi-3 rotates only a part of each head, or by other angles in longer texts. */
export function rotatesApart({ config }: LanguageModel): boolean {
  const { headSize } = config;
  return (
    config.kind === "causal" &&
    config.rotations?.some((each) => each.long || 2 * each.frequencies.length < headSize) === true
  );
}

/** A layer with larger matrices of its heads would take too much memory and time to draw. */
const mostWeights = 2 ** 22;

/** Why “Step by step” cannot show the layers of a model; null if it can. */
export function whyNotWalked(model: LanguageModel): string | null {
  const { config } = model;
  const { heads, headSize, size } = config;
  if (config.kind !== "causal") return "it is an encoder, and the steps are those of a decoder";
  if (config.hasOutputNorms)
    return "it normalises the outputs of attention and of the feed-forward network (Gemma), and the steps do not";
  if (config.scoresSoftcap !== undefined)
    return "it limits its scores (softcap), and the steps do not";
  if (rotatesApart(model))
    return "it rotates a part of each head only, or by other angles in longer texts, and the steps rotate whole heads";
  if (config.scales.some((scale) => scale !== 1 / Math.sqrt(headSize)))
    return "it does not divide its scores by √d in each layer, and the steps do";
  const first = model.model.layers[0]?.selfAttn.qProj.weight as { dtype?: string } | undefined;
  if (first?.dtype !== "float32" && first?.dtype !== "float16")
    return "its weights are stored in fewer bits: open it with weights of float32 or float16";
  const weights = heads * headSize * size;
  return weights > mostWeights
    ? `its matrices have ${weights.toLocaleString("en")} numbers, and a picture has ${mostWeights.toLocaleString("en")} at most`
    : null;
}
