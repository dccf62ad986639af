// Configs of the encoders that see both sides of each position. maskedModel.ts names their papers.

import { isWholeNumber } from "../../core/validate.js";
import type { Activation } from "../../ops/activate.js";
import {
  activationNames,
  type Fields,
  headSizeOf,
  isFor,
  isToken,
  type LanguageConfig,
  labelsOf,
  localLayers,
} from "./fields.js";
import { checkRotated, type Rotation, readRotations } from "./rotation.js";

/** A classifier labels a text, each token, or the first and last token of an answer. */
export type ClassifierTask = "sequence" | "token" | "question";

/** An encoder that sees both sides of each position: BERT, DistilBERT, RoBERTa, MPNet, ModernBERT. */
export interface MaskedConfig extends LanguageConfig {
  /** Distinguishes the kinds of models. */
  readonly kind: "masked";
  /** The number of token types; 0 if the model has none. */
  readonly types: number;
  /** The token of padding in RoBERTa, whose positions count from this token's number + 1. */
  readonly paddingToken: number | undefined;
  /** Whether the norms are before the parts of a layer (ModernBERT) instead of after them. */
  readonly hasNormsBefore: boolean;
  /** Whether the feed-forward network has a gate. */
  readonly isGated: boolean;
  /** Which layers have biases: attention, the feed-forward network, and the norms. */
  readonly biases: Readonly<Record<"attention" | "hidden" | "norm", boolean>>;
  /** The rotary position embedding of each layer; undefined for learned positions. */
  readonly rotations: readonly Rotation[] | undefined;
  /** For each layer, the number of keys on each side that a query sees; undefined for all. */
  readonly windows: readonly (number | undefined)[];
  /** The number of learned biases for distances between positions (MPNet); 0 for none. */
  readonly distances: number;
  /** Whether a model that is not loaded has a pooler. */
  readonly hasPooler: boolean;
  /** Whether a model that is not loaded has the head that predicts masked tokens. */
  readonly hasHead: boolean;
  /** The activation of this head, and whether its hidden layer and its logits have biases. */
  readonly head: { readonly activation: Activation; readonly biases: readonly [boolean, boolean] };
  /** Whether the logits of this head are computed with the table of the tokens. */
  readonly isTied: boolean;
  /** The classifier; undefined for a model without one. */
  readonly classifier: ClassifierConfig | undefined;
}

/** A classifier on the states of an encoder. */
export interface ClassifierConfig {
  /** What it labels. */
  readonly task: ClassifierTask;
  /** The names of the classes, in the order of the logits: `id2label`. */
  readonly labels: readonly string[];
  /** Whether the classes exclude each other, do not, or are values (`problem_type`). */
  readonly problem: "single" | "multiple" | "regression";
  /** The state of a text that it reads: the pooler's, the first, or the mean. */
  readonly reads: "pooled" | "first" | "mean";
  /** The activation of its hidden layer, and whether the layer has a norm; undefined without one. */
  readonly hidden: { readonly activation: Activation; readonly hasNorm: boolean } | undefined;
}

/** The fields of encoders as BERT has them, with norms after the parts of a layer. */
function bertLike(
  layers: number,
): Pick<
  MaskedConfig,
  "hasNormsBefore" | "isGated" | "biases" | "rotations" | "windows" | "distances"
> {
  return {
    ...{ hasNormsBefore: false, isGated: false, rotations: undefined, distances: 0 },
    biases: { attention: true, hidden: true, norm: true },
    windows: Array.from({ length: layers }, () => undefined),
  };
}

/** The number of rows that MPNet uses of its table of distances, which may have more. */
export const mpnetDistances = 32;
const isDistances = isWholeNumber(mpnetDistances, 2 ** 16);

export function readBert(fields: Fields, modelType: string): MaskedConfig {
  const size = fields.size("hidden_size");
  const heads = fields.size("num_attention_heads");
  const isBert = modelType === "bert";
  const isMpnet = modelType === "mpnet";
  if (!isMpnet) fields.choice("position_embedding_type", { absolute: true }, "absolute");
  // A decoder, which sees only the positions before its own, may have the same model_type.
  if (fields.flag("is_decoder", false)) throw fields.refuse("is_decoder", "false", true);
  const positions = fields.size("max_position_embeddings", 512);
  // The positions of MPNet count from the token 1, independent of its config.
  const padding = isMpnet ? 1 : fields.read("pad_token_id", isToken, isBert ? 0 : 1);
  if (!isBert && padding + 1 >= positions)
    throw fields.refuse("pad_token_id", `a token below ${positions - 1}`, padding);
  const layers = fields.layers("num_hidden_layers");
  const activation = fields.choice("hidden_act", activationNames, "gelu");
  const classifier = readClassifier(fields, (task) =>
    task !== "sequence"
      ? { reads: "first", hidden: undefined }
      : isBert
        ? { reads: "pooled", hidden: undefined }
        : { reads: "first", hidden: { activation: "tanh", hasNorm: false } },
  );
  return {
    ...{ kind: "masked", modelType, ...bertLike(layers) },
    vocabularySize: fields.size("vocab_size"),
    ...{ size, layers, heads, activation, classifier },
    headSize: headSizeOf(fields, size, heads, "num_attention_heads"),
    hiddenSize: fields.size("intermediate_size"),
    context: isBert ? positions : positions - padding - 1,
    eps: fields.positive("layer_norm_eps", 1e-12),
    initialDeviation: fields.positive("initializer_range", 0.02),
    types: isMpnet ? 0 : fields.size("type_vocab_size", isBert ? 2 : 1),
    paddingToken: isBert ? undefined : padding,
    distances: isMpnet ? fields.read("relative_attention_num_buckets", isDistances, 32) : 0,
    hasPooler: isFor(fields, "Model") || classifier?.reads === "pooled",
    hasHead: isFor(fields, "ForMaskedLM"),
    // RoBERTa's head always has GELU, independent of the activation of the layers.
    head: { activation: isBert ? activation : "gelu", biases: [true, true] },
    isTied: fields.flag("tie_word_embeddings", true),
  };
}

export function readDistilBert(fields: Fields): MaskedConfig {
  const size = fields.size("dim");
  const heads = fields.size("n_heads");
  const layers = fields.layers("n_layers");
  const activation = fields.choice("activation", activationNames, "gelu");
  return {
    ...{ kind: "masked", modelType: "distilbert", ...bertLike(layers) },
    vocabularySize: fields.size("vocab_size"),
    ...{ size, layers, heads, activation },
    headSize: headSizeOf(fields, size, heads, "n_heads"),
    hiddenSize: fields.size("hidden_dim"),
    context: fields.size("max_position_embeddings", 512),
    eps: 1e-12,
    initialDeviation: fields.positive("initializer_range", 0.02),
    ...{ types: 0, paddingToken: undefined, hasPooler: false },
    hasHead: isFor(fields, "ForMaskedLM"),
    head: { activation, biases: [true, true] },
    isTied: fields.flag("tie_word_embeddings", true),
    classifier: readClassifier(fields, (task) => ({
      reads: "first",
      hidden: task === "sequence" ? { activation: "relu", hasNorm: false } : undefined,
    })),
  };
}

/** ModernBERT (Warner et al., "Smarter, Better, Faster, Longer", 2024). */
export function readModernBert(fields: Fields): MaskedConfig {
  const size = fields.size("hidden_size", 768);
  const heads = fields.size("num_attention_heads", 12);
  const layers = fields.has("num_hidden_layers") ? fields.layers("num_hidden_layers") : 22;
  const headSize = headSizeOf(fields, size, heads, "num_attention_heads");
  checkRotated(fields, headSize);
  const every = fields.size("global_attn_every_n_layers", 3);
  const isLocal =
    localLayers(fields, layers) ?? Array.from({ length: layers }, (_, i) => i % every !== 0);
  const window = Math.floor(fields.size("local_attention", 128) / 2);
  const { global, local } = readRotations(fields, headSize, {
    global: ["global_rope_theta", 160_000],
    local: ["local_rope_theta", 10_000],
  });
  const hasBias = fields.flag("classifier_bias", false);
  const activation = fields.choice("classifier_activation", activationNames, "gelu");
  return {
    ...{ kind: "masked", modelType: "modernbert", hasNormsBefore: true, isGated: true },
    vocabularySize: fields.size("vocab_size", 50_368),
    ...{ size, layers, heads, headSize },
    hiddenSize: fields.size("intermediate_size", 1152),
    activation: fields.choice("hidden_activation", activationNames, "gelu"),
    context: fields.size("max_position_embeddings", 8192),
    eps: fields.positive("norm_eps", 1e-5),
    initialDeviation: fields.positive("initializer_range", 0.02),
    ...{ types: 0, paddingToken: undefined, distances: 0 },
    biases: {
      attention: fields.flag("attention_bias", false),
      hidden: fields.flag("mlp_bias", false),
      norm: fields.flag("norm_bias", false),
    },
    rotations: isLocal.map((each) => (each ? local : global)),
    windows: isLocal.map((each) => (each ? window : undefined)),
    hasPooler: false,
    hasHead: isFor(fields, "ForMaskedLM"),
    head: { activation, biases: [hasBias, fields.flag("decoder_bias", true)] },
    isTied: fields.flag("tie_word_embeddings", true),
    classifier: readClassifier(fields, () => ({
      reads: fields.choice("classifier_pooling", { cls: "first", mean: "mean" } as const, "cls"),
      hidden: { activation, hasNorm: true },
    })),
  };
}

/** Reads the classifier that the config names. */
function readClassifier(
  fields: Fields,
  form: (task: ClassifierTask) => Pick<ClassifierConfig, "reads" | "hidden">,
): ClassifierConfig | undefined {
  const endings = {
    ForSequenceClassification: "sequence",
    ForTokenClassification: "token",
    ForQuestionAnswering: "question",
  } as const;
  const found = Object.entries(endings).find(([ending]) => isFor(fields, ending));
  if (found === undefined) return undefined;
  const [, task] = found;
  const labels = task === "question" ? ["start", "end"] : labelsOf(fields);
  if (labels.length === 0) throw fields.refuse("id2label", "a text for each class", "none");
  const problems = {
    single_label_classification: "single",
    multi_label_classification: "multiple",
    regression: "regression",
  } as const;
  const usual = labels.length === 1 ? "multi_label_classification" : "single_label_classification";
  return { task, labels, problem: fields.choice("problem_type", problems, usual), ...form(task) };
}
