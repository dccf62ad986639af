// The names of tensors in the checkpoints of Hugging Face's hub, and the parameters of a model that
// each tensor contains.

import type { HubModelConfig } from "./config.js";
import type { ParameterSpecs } from "./parameters.js";

/** A tensor that a checkpoint must have. */
export interface ExpectedTensor {
  /** The name without the prefix that some checkpoints have. */
  readonly name: string;
  readonly shape: readonly number[];
  /** The shape in which the loader reads the tensor: as rows of its parameters. */
  readonly rows: readonly number[];
  /** The parameters in the tensor, one after the other along the first axis. */
  readonly parameters: readonly string[];
  /** Whether the tensor is stored as [in, out]. */
  readonly isTransposed: boolean;
}

type Rules = readonly (readonly [own: RegExp | string, theirs: string])[];

const gpt2: Rules = [
  ["model.embed_tokens", "wte"],
  ["model.embed_positions", "wpe"],
  ["model.layers.", "h."],
  ["model.norm", "ln_f"],
  [".input_layernorm", ".ln_1"],
  [".post_attention_layernorm", ".ln_2"],
  [/\.self_attn\.[qkv]_proj/, ".attn.c_attn"],
  [".self_attn.o_proj", ".attn.c_proj"],
  [".mlp.up_proj", ".mlp.c_fc"],
  [".mlp.down_proj", ".mlp.c_proj"],
];

const llama: Rules = [[/^model\./, ""]];

const phi3: Rules = [
  ...llama,
  [/\.self_attn\.[qkv]_proj/, ".self_attn.qkv_proj"],
  // The first half of the rows is the gate.
  [/\.mlp\.(gate|up)_proj/, ".mlp.gate_up_proj"],
];

const embeddings: Rules = [
  ["model.embed_tokens", "embeddings.word_embeddings"],
  ["model.embed_positions", "embeddings.position_embeddings"],
  ["model.embed_types", "embeddings.token_type_embeddings"],
  ["model.embed_norm", "embeddings.LayerNorm"],
];

/** The names that ViT has from BERT: of its layers, and of the pooler. */
const encoderLayers = (attention: string): Rules => [
  ["model.layers.", "encoder.layer."],
  [".self_attn.q_proj", `${attention}.query`],
  [".self_attn.k_proj", `${attention}.key`],
  [".self_attn.v_proj", `${attention}.value`],
  [".self_attn.o_proj", ".attention.output.dense"],
  [".mlp.up_proj", ".intermediate.dense"],
  [".mlp.down_proj", ".output.dense"],
  ["pooler.", "pooler.dense."],
];

const bertLayers: Rules = [
  ...embeddings,
  ...encoderLayers(".attention.self"),
  [".post_attention_layernorm", ".attention.output.LayerNorm"],
  [".output_layernorm", ".output.LayerNorm"],
];

const bert: Rules = [
  ...bertLayers,
  ["lm_head.dense", "cls.predictions.transform.dense"],
  ["lm_head.norm", "cls.predictions.transform.LayerNorm"],
  ["lm_head.bias", "cls.predictions.bias"],
  ["lm_head.weight", "cls.predictions.decoder.weight"],
];

const robertaNorm: Rules[number] = ["lm_head.norm", "lm_head.layer_norm"];
const roberta: Rules = [...bertLayers, robertaNorm, ["lm_head.weight", "lm_head.decoder.weight"]];

const mpnet: Rules = [
  ["model.distances", "encoder.relative_attention_bias"],
  [/\.self_attn\.([qkvo])_proj/, ".attention.attn.$1"],
  [".post_attention_layernorm", ".attention.LayerNorm"],
  ...roberta,
];

const modernbert: Rules = [
  ["model.embed_tokens", "embeddings.tok_embeddings"],
  ["model.embed_norm", "embeddings.norm"],
  ["model.layers.", "layers."],
  [".input_layernorm", ".attn_norm"],
  [/\.self_attn\.[qkv]_proj/, ".attn.Wqkv"],
  [".self_attn.o_proj", ".attn.Wo"],
  [".post_attention_layernorm", ".mlp_norm"],
  // The first half of the rows is the gate.
  [/\.mlp\.(gate|up)_proj/, ".mlp.Wi"],
  [".mlp.down_proj", ".mlp.Wo"],
  ["model.norm", "final_norm"],
  [/^(lm_head|classifier)\.(dense|norm)/, "head.$2"],
  ["lm_head.", "decoder."],
];

const distilbert: Rules = [
  ...embeddings,
  ["model.layers.", "transformer.layer."],
  [/\.self_attn\.([qkv])_proj/, ".attention.$1_lin"],
  [".self_attn.o_proj", ".attention.out_lin"],
  [".post_attention_layernorm", ".sa_layer_norm"],
  [".mlp.up_proj", ".ffn.lin1"],
  [".mlp.down_proj", ".ffn.lin2"],
  [".output_layernorm", ".output_layer_norm"],
  ["pooler.", "pooler.dense."],
  ["lm_head.dense", "vocab_transform"],
  ["lm_head.norm", "vocab_layer_norm"],
  [/^lm_head\.(bias|weight)/, "vocab_projector.$1"],
  ["classifier.dense", "pre_classifier"],
];

const t5: Rules = [
  ["model.embed_tokens", "shared"],
  [/^model\.(..coder)\.norm/, "$1.final_layer_norm"],
  [/^model\.(..coder)\.distances/, "$1.block.0.layer.0.SelfAttention.relative_attention_bias"],
  [/^model\.(..coder)\.layers\./, "$1.block."],
  [".self_attn_norm", ".layer.0.layer_norm"],
  [".cross_attn_norm", ".layer.1.layer_norm"],
  [/\.self_attn\.(.)_proj/, ".layer.0.SelfAttention.$1"],
  [/\.cross_attn\.(.)_proj/, ".layer.1.EncDecAttention.$1"],
  // The feed-forward network is the second part of an encoder's layer, and the third of a decoder's.
  [/^(encoder.*)\.mlp/, "$1.layer.1.mlp"],
  [/^(decoder.*)\.mlp/, "$1.layer.2.mlp"],
  [".mlp_norm", ".layer_norm"],
  [".mlp.gate_proj", ".DenseReluDense.wi_0"],
  [".mlp.down_proj", ".DenseReluDense.wo"],
];
const t5Plain: Rules = [...t5, [".mlp.up_proj", ".DenseReluDense.wi"]];
const t5Gated: Rules = [...t5, [".mlp.up_proj", ".DenseReluDense.wi_1"]];

const bart: Rules = [
  ["model.embed_tokens", "shared"],
  [/^model\./, ""],
  ["embed_norm", "layernorm_embedding"],
  [".norm.", ".layer_norm."],
  [".self_attn_norm", ".self_attn_layer_norm"],
  [".cross_attn_norm", ".encoder_attn_layer_norm"],
  [".cross_attn.", ".encoder_attn."],
  [".o_proj", ".out_proj"],
  [".mlp_norm", ".final_layer_norm"],
  [".mlp.up_proj", ".fc1"],
  [".mlp.down_proj", ".fc2"],
  ["logits_bias", "final_logits_bias"],
];

const vit: Rules = [
  ["model.class_token", "embeddings.cls_token"],
  ["model.embed_positions.weight", "embeddings.position_embeddings"],
  ["model.embed_patches", "embeddings.patch_embeddings.projection"],
  ...encoderLayers(".attention.attention"),
  [".input_layernorm", ".layernorm_before"],
  [".post_attention_layernorm", ".layernorm_after"],
  ["model.norm", "layernorm"],
];

const layouts: Readonly<Record<string, { rules: Rules; prefix: string }>> = {
  gpt2: { rules: gpt2, prefix: "transformer." },
  phi3: { rules: phi3, prefix: "model." },
  bert: { rules: bert, prefix: "bert." },
  roberta: { rules: roberta, prefix: "roberta." },
  "xlm-roberta": { rules: roberta, prefix: "roberta." },
  mpnet: { rules: mpnet, prefix: "mpnet." },
  modernbert: { rules: modernbert, prefix: "model." },
  distilbert: { rules: distilbert, prefix: "distilbert." },
  vit: { rules: vit, prefix: "vit." },
  // The models of texts and images have the model of texts as a part.
  gemma3: { rules: [], prefix: "language_model." },
};
const llamaLayout = { rules: llama, prefix: "model." };
const bartLayout = { rules: bart, prefix: "model." };

function layoutOf(config: HubModelConfig): { rules: Rules; prefix: string } {
  if (config.kind !== "seq2seq") return layouts[config.modelType] ?? llamaLayout;
  if (config.norm === "layer") return bartLayout;
  return { rules: config.isGated ? t5Gated : t5Plain, prefix: "" };
}

/** The name of the last layer of a classifier. */
function classifierName(config: HubModelConfig): string {
  if (config.kind !== "masked") return "classifier";
  const { modelType, classifier } = config;
  if (classifier?.task === "question" && modelType !== "modernbert") return "qa_outputs";
  const isSplit = classifier?.task === "sequence" && layoutOf(config).rules.includes(robertaNorm);
  return isSplit ? "classifier.out_proj" : "classifier";
}

/** Returns the tensors that the checkpoint of a model with these parameters has. */
export function expectedTensors(config: HubModelConfig, specs: ParameterSpecs): ExpectedTensor[] {
  const rules: Rules = [...layoutOf(config).rules, ["classifier.out", classifierName(config)]];
  const groups = new Map<string, string[]>();
  for (const parameter of specs.keys()) {
    const name = rules.reduce((text, [own, theirs]) => text.replace(own, theirs), parameter);
    groups.set(name, [...(groups.get(name) ?? []), parameter]);
  }
  return [...groups].map(([name, parameters]) => {
    const parts = parameters.map((parameter) => specs.get(parameter));
    const [{ shape: [, ...rest] = [], role = "vector", stored } = {}] = parts;
    const count = parts.reduce((sum, part) => sum + (part?.shape[0] ?? 0), 0);
    // GPT-2's linear layers inside its blocks are stored transposed.
    const isTransposed = config.modelType === "gpt2" && role === "matrix" && name.startsWith("h.");
    const rows = isTransposed ? [...rest, count] : [count, ...rest];
    return { name, shape: stored ?? rows, rows, parameters, isTransposed };
  });
}

/**
 * Returns a function that maps a tensor's name to its name in a file. The file's name may have the
 * prefix of the architecture, and norms may have their older names (gamma and beta). For a missing
 * tensor, the function returns its expected name.
 */
export function namesIn(
  names: ReadonlySet<string>,
  config: HubModelConfig,
): (name: string) => string {
  const { prefix } = layoutOf(config);
  const isPrefixed = [...names].some((each) => each.startsWith(prefix));
  return (name) => {
    const older = name.replace(/LayerNorm\.weight$/, "LayerNorm.gamma");
    const oldest = older.replace(/LayerNorm\.bias$/, "LayerNorm.beta");
    const candidates = [name, `${prefix}${name}`, oldest, `${prefix}${oldest}`];
    const found = candidates.find((candidate) => names.has(candidate));
    if (found !== undefined) return found;
    const isHead =
      /^(lm_head|final_logits_bias|cls|vocab_|classifier|pre_classifier|qa_outputs|head\.|decoder\.(weight|bias)$)/.test(
        name,
      );
    return isPrefixed && !isHead ? `${prefix}${name}` : name;
  };
}
