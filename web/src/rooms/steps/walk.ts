/** The solver that finds the person's model, which is open in the room Models, and its tokens of a text. */
import type { CausalLanguageModel } from "heed/models";
import { label } from "../../shared/pieces";
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
  /** The open model of the person, if its layers can be shown. */
  readonly open: Pick<OpenModel["card"], "name" | "link"> | null;
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

const activations: Readonly<Record<string, string>> = {
  ...{ gelu: "GELU", geluTanh: "GELU", silu: "SiLU", relu: "ReLU" },
};

function wordsOf(config: CausalLanguageModel["config"], activation: string): ModelShape["words"] {
  const isRms = config.norm === "rms";
  const after = `after the activation ${activation}`;
  const biases = config.biases.qkv ? " A learned bias is added to each." : "";
  const norms = config.hasHeadNorms
    ? " Each head’s query and key are divided by their root mean square, and multiplied by learned factors."
    : "";
  return {
    embedding: config.rotations
      ? "learned by the model"
      : "the learned vectors of the token and of its position, added",
    norm: isRms
      ? "divides it by its root mean square, and multiplies it by learned factors"
      : "subtracts its mean, divides it by its standard deviation, multiplies it by learned factors, and adds learned biases",
    normed: isRms
      ? "÷ the root mean square of its row × a learned factor"
      : "− the mean of its row, all ÷ the standard deviation of the row, × a learned factor + a learned bias",
    projections: `${biases}${norms}`,
    heads: groupWords(config),
    unit: config.isGated
      ? `its gate ${after}, times a second number, “up” (SwiGLU)`
      : `a sum ${after}`,
  };
}

/** @param name as sentences name the model */
export function shapeOf({ config }: CausalLanguageModel, name: string): ModelShape {
  const { layers, heads, headSize, size, hasHeadNorms, biases, isGated } = config;
  const activation = activations[config.activation] ?? config.activation;
  return {
    ...{ name, layers, heads, headSize, size, units: config.hiddenSize },
    norm: config.norm === "rms" ? "RMS norm" : "layer norm",
    ...{ rotates: config.rotations !== undefined, hasHeadNorms, biases, isGated, activation },
    windows: Array.from(config.windows, (window) => window ?? null),
    words: wordsOf(config, activation),
  };
}

function tokensOf({ tokenizer, model }: OpenModel, text: string): Tokens {
  const all = text.trim() === "" ? [] : tokenizer.idsOf(text);
  const most = Math.min(maxTokens, model.config.context);
  const ids = all.slice(0, most);
  const cut = ids.length < all.length;
  const tokens = tokenizer.tokensOf(ids).map(({ piece }) => label(piece));
  return { tokens, ids, kept: cut ? tokenizer.textOf(ids) : text, cut, most };
}

const solve: Solver<WalkRequest, WalkAnswer> = ({ model, text }) => {
  const found = openModel();
  const why = found?.card.whyNotWalked ?? null;
  const open = found && why === null ? { name: found.card.name, link: found.card.link } : null;
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
  const shape = shapeOf(found.model as CausalLanguageModel, found.card.name);
  return { open, walked: { shape, tokens }, why: null };
};

export default solve;
