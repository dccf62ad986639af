/** The solver that finds the person's model, which is open in the room Models, and its tokens of a text. */
import type { CausalLanguageModel, MaskedLanguageModel } from "heed/models";
import { label } from "../../shared/pieces";
import type { LanguageModel } from "../../worker/languageHeads";
import { type OpenModel, openModel } from "../../worker/openModel";
import type { Solver } from "../../worker/solver";
import type { ModelShape } from "./shape";
import { maxTokens, type Tokens } from "./tokens";

export interface WalkRequest {
  /** How links name the model whose layers are shown; null for our language model. */
  readonly model: string | null;
  readonly text: string;
}

/** A model of the person, and a text that it reads. */
export interface Walked {
  readonly shape: ModelShape;
  readonly tokens: Tokens;
}

export interface WalkAnswer {
  /** The open model of the person and the mask of its attention, if its layers can be shown. */
  readonly open:
    | (Pick<OpenModel["card"], "name" | "link"> & { readonly mask: "causal" | "none" })
    | null;
  /** The model of the request. */
  readonly walked: Walked | null;
  /** Why the model of the request is not shown. */
  readonly why: string | null;
}

/** Describes which heads share keys and values. */
function groupWords({ heads, kvHeads }: CausalLanguageModel["config"]): string {
  if (kvHeads === heads) return "";
  const size = heads / kvHeads;
  const edits = "an edit changes one head only.";
  if (kvHeads === 1) return ` All heads share keys and values; ${edits}`;
  if (size > 2)
    return ` Heads 1 to ${size} share keys and values, and so do each ${size} after them; ${edits}`;
  const others = Array.from({ length: kvHeads - 1 }, (_, i) => `${2 * i + 3} and ${2 * i + 4}`);
  const listed = kvHeads > 4 ? "each two after them" : others.join(", ");
  return ` Heads 1 and 2 share keys and values, as do ${listed}; ${edits}`;
}

const headNorms =
  " Each head’s query and key are divided by their root mean square, and multiplied by learned factors.";

const activations: Readonly<Record<string, string>> = {
  ...{ gelu: "GELU", geluTanh: "GELU", silu: "SiLU", relu: "ReLU" },
};

/** Words about the input of a layer of a decoder. */
function decoderWords({ rotations, norm }: CausalLanguageModel["config"]) {
  const isRms = norm === "rms";
  const change = isRms
    ? "divides it by its root mean square, and multiplies it by learned factors"
    : "subtracts its mean, divides it by its standard deviation, multiplies it by learned factors, and adds learned biases";
  return {
    vector: `that the model learned for it${rotations ? "" : ", plus the learned one of its position"}`,
    embedding: rotations
      ? "learned by the model"
      : "the learned vectors of the token and of its position, added",
    norm: `The layer [normalises](input) it: ${change}.`,
    normed: isRms
      ? "÷ the root mean square of its row × a learned factor"
      : "− the mean of its row, all ÷ the standard deviation of the row, × a learned factor + a learned bias",
  };
}

/** Words about the input of a layer of an encoder. */
function encoderWords({ types }: MaskedLanguageModel["config"]) {
  return {
    vector: `that the model learned for it, plus the vector${types > 0 ? "s of its position and of its type" : " of its position"}, normalised`,
    embedding: `the vectors of the token${types > 0 ? ", of its position and of its type" : " and of its position"}, added and normalised`,
    norm: "The layer [reads](input) it as it is: its norms follow its two sums (post-norm).",
    normed: "as it is",
  };
}

/** The special tokens that the tokenizer puts before and after each text. */
function endsOf(tokenizer: OpenModel["tokenizer"]) {
  const ends = tokenizer.tokensOf(tokenizer.idsOf("")).filter(({ isSpecial }) => isSpecial);
  const ids = tokenizer.idsOf("a");
  return {
    start: ends.find(({ id }) => id === ids[0]),
    end: ends.find(({ id }) => id === ids.at(-1)),
  };
}

function tokenWords(tokenizer: OpenModel["tokenizer"]): string {
  const { start, end } = endsOf(tokenizer);
  const put = [
    ...(start ? [`“${label(start.piece)}” before them`] : []),
    ...(end ? [`“${label(end.piece)}” after them`] : []),
  ];
  const words = "The tokenizer of the model cuts the text into its tokens";
  return put.length > 0 ? `${words}, and puts ${put.join(" and ")}.` : `${words}.`;
}

/**
 * @param name as sentences name the model
 * @param tokens how its text becomes tokens
 */
export function shapeOf({ config }: LanguageModel, name: string, tokens: string): ModelShape {
  const { layers, heads, headSize, size, isGated } = config;
  const activation = activations[config.activation] ?? config.activation;
  const isCausal = config.kind === "causal";
  const hasHeadNorms = isCausal && config.hasHeadNorms;
  const { hidden } = config.biases;
  const biases = isCausal
    ? config.biases
    : { qkv: config.biases.attention, output: config.biases.attention, hidden };
  const after = `after the activation ${activation}`;
  return {
    ...{ name, layers, heads, headSize, size, units: config.hiddenSize, isPostNorm: !isCausal },
    norm: isCausal && config.norm === "rms" ? "RMS norm" : "layer norm",
    ...{ rotates: config.rotations !== undefined, hasHeadNorms, biases, isGated, activation },
    windows: Array.from(config.windows, (window) => window ?? null),
    words: {
      ...{ tokens, ...(isCausal ? decoderWords(config) : encoderWords(config)) },
      projections: `${biases.qkv ? " A learned bias is added to each." : ""}${hasHeadNorms ? headNorms : ""}`,
      heads: isCausal ? groupWords(config) : "",
      unit: isGated ? `its gate ${after}, times a second number, “up” (SwiGLU)` : `a sum ${after}`,
    },
  };
}

function tokensOf({ tokenizer, model }: OpenModel, text: string): Tokens {
  const all = text.trim() === "" ? [] : tokenizer.idsOf(text);
  const most = Math.min(maxTokens, model.config.context);
  const cut = all.length > most;
  // An encoder expects the end after a text that is cut, too.
  const end = cut && model.config.kind === "masked" ? endsOf(tokenizer).end : undefined;
  const ids = end ? [...all.slice(0, most - 1), end.id] : all.slice(0, most);
  const tokens = tokenizer.tokensOf(ids).map(({ piece }) => label(piece));
  return {
    tokens,
    ids,
    kept: cut ? tokenizer.textOf(ids) : text,
    cut,
    most: end ? most - 1 : most,
  };
}

const solve: Solver<WalkRequest, WalkAnswer> = ({ model, text }) => {
  const found = openModel();
  const why = found?.card.whyNotWalked ?? null;
  const mask = found?.model.config.kind === "causal" ? "causal" : "none";
  const open: WalkAnswer["open"] =
    found && why === null ? { name: found.card.name, link: found.card.link, mask } : null;
  if (model === null) return { open, walked: null, why: null };
  if (!found || found.card.link !== model)
    return {
      ...{ open, walked: null },
      why: `The model of the link${model === "yours" ? "" : `, ${model},`} is not open: open it in the room Models, and choose “Step by step” there.`,
    };
  const refused = (why: string) => ({
    ...{ open, walked: null },
    why: `The layers of ${found.card.name} are not shown: ${why}.`,
  });
  if (why !== null) return refused(why);
  const tokens = tokensOf(found, text);
  const { vocabularySize } = found.model.config;
  if (tokens.ids?.some((id) => id >= vocabularySize))
    return refused("its tokenizer has more tokens than its vocabulary");
  const shape = shapeOf(found.model, found.card.name, tokenWords(found.tokenizer));
  return { open, walked: { shape, tokens }, why: null };
};

export default solve;
