/** The form of a trained model, as far as the pictures and words about its layers need it. */
export interface ModelShape {
  /** As a sentence names it. */
  readonly name: string;
  readonly layers: number;
  readonly heads: number;
  readonly headSize: number;
  /** The size of the stream. */
  readonly size: number;
  /** The units of a feed-forward network. */
  readonly units: number;
  readonly norm: "RMS norm" | "layer norm";
  /** Whether a token sees only the tokens up to itself. */
  readonly isCausal: boolean;
  /** Whether norms follow the sums, so that attention reads the stream itself. */
  readonly isPostNorm: boolean;
  /** Whether queries and keys are rotated by their position; if not, the embedding has positions. */
  readonly rotates: boolean;
  /** Whether the queries and keys of each head are normalised. */
  readonly hasHeadNorms: boolean;
  /** The linear layers with biases. */
  readonly biases: { readonly qkv: boolean; readonly output: boolean; readonly hidden: boolean };
  /** The activation of the units, and whether it is the factor of another number. */
  readonly activation: string;
  readonly isGated: boolean;
  /** How many keys up to its own a query sees, for each layer; null for all. */
  readonly windows: readonly (number | null)[];
  /** Parts of sentences. The page has only the words about our model. */
  readonly words: {
    /** How the text becomes tokens. */
    readonly tokens: string;
    /** Of layer 0: the vector that a token gets, and the origin of its entries. */
    readonly vector: string;
    readonly embedding: string;
    /** How the layer reads the vector, and how it makes a number from the entry before these words. */
    readonly norm: string;
    readonly normed: string;
    /** The sentences after the one about the products of Q, K and V. */
    readonly projections: string;
    /** Which heads share keys and values. */
    readonly heads: string;
    readonly unit: string;
    /** The result that follows the norm after the last layer. */
    readonly end: string;
  };
}

/** Describes which heads share keys and values. */
export function groupWords(heads: number, kvHeads: number): string {
  if (kvHeads === heads) return "";
  const groups =
    kvHeads === 1 ? "All heads" : `Groups of ${heads / kvHeads} heads, from head 1 on,`;
  return ` ${groups} share keys and values; an edit changes one head only.`;
}

/** Words about the norm before attention. */
export function normWords(norm: "rms" | "layer") {
  const isRms = norm === "rms";
  const change = isRms
    ? "divides it by its root mean square, and multiplies by learned factors"
    : "subtracts its mean, divides by its standard deviation, multiplies by learned factors, and adds learned biases";
  return {
    norm: `The layer [normalises](input) it: ${change}.`,
    normed: isRms
      ? "÷ the root mean square of its row × a learned factor"
      : "− the mean of its row, all ÷ the standard deviation × a learned factor + a learned bias",
  };
}

/** Words about the input of a layer of a decoder. */
export const decoderWords = (rotates: boolean, norm: "rms" | "layer") => ({
  vector: `that the model learned for it${rotates ? "" : ", plus the learned one of its position"}`,
  embedding: rotates
    ? "learned by the model"
    : "the learned vectors of the token and of its position, added",
  ...normWords(norm),
});

export const unitWords = (activation: string, isGated: boolean) =>
  isGated
    ? `its gate after the activation ${activation}, times a second number, “up” (SwiGLU)`
    : `a sum after the activation ${activation}`;

/** The form of our language model. */
export const ourShape: ModelShape = {
  name: "our language model",
  ...{ layers: 6, heads: 6, headSize: 32, size: 192, units: 432, norm: "RMS norm" },
  ...{ rotates: true, hasHeadNorms: false, activation: "SiLU", isGated: true },
  ...{ isCausal: true, isPostNorm: false },
  biases: { qkv: false, output: false, hidden: false },
  windows: Array.from({ length: 6 }, () => null),
  words: {
    tokens:
      "The model puts a start before the text, and cuts it into words, parts of words (‑ed) and bytes (·).",
    ...{ ...decoderWords(true, "rms"), projections: "", heads: groupWords(6, 3) },
    unit: unitWords("SiLU", true),
    end: "the prediction of the next token",
  },
};
