// The language model of the repository, and the recipe of its training.

/**
 * Of the learning rates 2e-3, 4e-3 and 8e-3, the second one was the best after 500 steps of 2048 tokens (held-out
 * losses 5.41, 5.31 and 5.68 nats). This training is 36 times as long. The steps take 95 minutes on two cores. The
 * vocabulary has 4096 tokens instead of 2048, because more of them are whole words, and Kneser-Ney 5-grams predict the
 * text equally well (1.482 and 1.487 bits per byte).
 */
export const writePlan = {
  name: "write",
  kind: "text",
  /** A file to learn from, which replaces the sources. */
  text: undefined,
  vocabulary: 4096,
  /** Fields of config.json. */
  config: {
    hidden_size: 192,
    intermediate_size: 432,
    num_hidden_layers: 6,
    num_attention_heads: 6,
    num_key_value_heads: 3,
    rms_norm_eps: 1e-6,
    rope_theta: 10000,
  },
  recipe: {
    batch: 8,
    length: 512,
    steps: 9000,
    learningRate: 3e-3,
    warmupSteps: 200,
    weightDecay: 0.1,
    clipNorm: 1,
    checkEvery: 250,
  },
  seed: 1,
};

/** The fields of config.json that every model has. */
export function configOf({ config, recipe }, vocabulary) {
  return {
    architectures: ["LlamaForCausalLM"],
    model_type: "llama",
    vocab_size: vocabulary,
    ...config,
    max_position_embeddings: recipe.length,
    hidden_act: "silu",
    tie_word_embeddings: true,
    initializer_range: 0.02,
    bos_token_id: 0,
    eos_token_id: 0,
    torch_dtype: "float16",
  };
}
