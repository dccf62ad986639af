// Adapters from each kind of case to the public API. An adapter receives a case with its inputs as
// tensors. It returns the outputs that operations compute, by name, as tensors or plain { shape,
// data }; compare.mjs computes the gradients. `prepare` makes a module and returns the function
// that runs it. `load` loads a model and passes it to `run`.

import { modelAdapters } from "./models.mjs";

/**
 * @typedef {import("./cases.mjs").Case & {
 *   heed: import("heed").Heed,
 *   nn: typeof import("heed/nn"),
 *   models: typeof import("heed/models"),
 *   get: (name: string) => import("heed").Tensor | undefined,
 *   keep: (tensors: Record<string, import("heed").Tensor>) => void,
 * }} Given  `get` returns an input, the same tensor each time; `keep` declares more tensors to be inputs
 */

/** torch's masks are true where a key is blocked. */
function seen(heed, mask) {
  return mask?.dtype === "bool" ? heed.fromTorchMask(mask) : mask;
}

function sdpa({ heed, options, inputs, outputs, get }) {
  const isJoined = options.layout === "BLHD";
  // [B, L, H, D] and [B, L, H*D] are the same array.
  const join = (x) => (isJoined ? heed.reshape(x, [...x.shape.slice(0, 2), -1]) : x);
  const given = { needLse: true, isCausal: options.causal };
  if (isJoined) Object.assign(given, { heads: inputs.q.shape[2], kvHeads: inputs.k.shape[2] });
  if (options.scale != null) given.scale = options.scale;
  if (options.softcap != null) given.softcap = options.softcap;
  if (options.offset !== undefined) given.causalOffset = options.offset;
  if (options.left !== undefined) given.window = [options.left, options.right];
  if (inputs.attn_mask) given.mask = get("attn_mask");
  if (inputs.slopes) given.alibiSlopes = get("slopes");
  if (inputs.sink) given.sinks = get("sink");
  if (inputs.cu_seqlens_q) {
    given.cuSeqlens = { q: inputs.cu_seqlens_q.data, k: inputs.cu_seqlens_k.data };
  }
  const { output, lse } = heed.attention(join(get("q")), join(get("k")), join(get("v")), given);
  return { out: heed.reshape(output, outputs.out.shape), lse };
}

function mha({ heed, options, inputs, get }) {
  const query = get("query");
  const { num_heads: heads } = options;
  const given = { heads, isCausal: options.is_causal, needWeights: true };
  if (inputs.key_padding_mask) given.keyMask = seen(heed, get("key_padding_mask"));
  if (inputs.attn_mask) {
    // torch's mask of rank 3 is [B*H, L, S].
    const [batch, ...pairs] = inputs.attn_mask.shape;
    const mask = get("attn_mask");
    const own = pairs.length === 2 ? heed.reshape(mask, [batch / heads, heads, ...pairs]) : mask;
    given.mask = seen(heed, own);
  }
  const parameters = {
    inProjWeight: get("in_proj_weight"),
    qProjWeight: get("q_proj_weight"),
    kProjWeight: get("k_proj_weight"),
    vProjWeight: get("v_proj_weight"),
    inProjBias: get("in_proj_bias"),
    outProjWeight: get("out_proj.weight"),
    outProjBias: get("out_proj.bias"),
  };
  const run = (averageWeights) =>
    heed.multiHeadAttention(query, get("key") ?? query, get("value") ?? query, parameters, {
      ...given,
      averageWeights,
    });
  const { output, weights } = run(false);
  return { out: output, attn_weights: weights, attn_weights_avg: run(true).weights };
}

/** A layer whose parameters are inputs of the case, under torch's names. */
function layerOf(Layer, { heed, options, inputs, keep }) {
  const layer = new Layer(heed, options.d_model, options.nhead, {
    dimFeedforward: options.dim_feedforward,
    activation: options.activation,
    normFirst: options.norm_first,
    layerNormEps: options.layer_norm_eps,
    bias: options.bias,
    dropout: 0,
  });
  const names = Object.keys(layer.stateDict());
  layer.loadStateDict(Object.fromEntries(names.map((name) => [name, inputs[name]])));
  keep(layer.stateDict());
  return layer.eval();
}

const encoderLayer = {
  prepare(given) {
    const { heed, nn, options, get } = given;
    const layer = layerOf(nn.nn.TransformerEncoderLayer, given);
    return () => ({
      out: layer.forward(get("src"), {
        isCausal: options.is_causal,
        mask: seen(heed, get("src_mask")),
        keyMask: seen(heed, get("src_key_padding_mask")),
      }),
    });
  },
};

const decoderLayer = {
  prepare(given) {
    const { heed, nn, options, get } = given;
    const layer = layerOf(nn.nn.TransformerDecoderLayer, given);
    return () => ({
      out: layer.forward(get("tgt"), get("memory"), {
        tgtIsCausal: options.is_causal,
        tgtMask: seen(heed, get("tgt_mask")),
        tgtKeyMask: seen(heed, get("tgt_key_padding_mask")),
        memoryMask: seen(heed, get("memory_mask")),
        memoryKeyMask: seen(heed, get("memory_key_padding_mask")),
      }),
    });
  },
};

const layerNorm = ({ heed, options, get }) => ({
  out: heed.layerNorm(get("x"), {
    weight: get("weight"),
    bias: get("bias"),
    eps: options.eps,
    axes: options.normalized_shape.length,
  }),
});

const rmsNorm = ({ heed, options, get }) => ({
  out: heed.rmsNorm(get("x"), {
    weight: get("weight"),
    eps: options.eps,
    axes: options.normalized_shape.length,
  }),
});

const linear = ({ heed, get }) => ({ out: heed.linear(get("x"), get("weight"), get("bias")) });

const gelu = ({ heed, options, get }) => ({
  out: heed.activate(get("x"), options.approximate === "tanh" ? "geluTanh" : "gelu"),
});

function swiglu({ heed, get }) {
  const project = (x, name) => heed.linear(x, get(`${name}.weight`), get(`${name}.bias`));
  const x = get("x");
  const hidden = heed.swiglu(project(x, "gate_proj"), project(x, "up_proj"));
  return { out: project(hidden, "down_proj") };
}

const embedding = ({ heed, options, get }) => ({
  out: heed.embedding(get("ids"), get("weight"), {
    paddingIndex: options.padding_idx ?? undefined,
  }),
});

function gru({ heed, get, outputs }) {
  const parameters = {
    weightIh: get("weight_ih_l0"),
    weightHh: get("weight_hh_l0"),
    biasIh: get("bias_ih_l0"),
    biasHh: get("bias_hh_l0"),
  };
  const h0 = get("h0");
  const options = h0 ? { state: heed.reshape(h0, h0.shape.slice(1)) } : {};
  const { output, state } = heed.gru(get("x"), parameters, options);
  return { output, h_n: heed.reshape(state, outputs.h_n.shape) };
}

function additiveAttention({ heed, get }) {
  const { output, weights } = heed.additiveAttention(
    get("query"),
    get("keys"),
    get("values"),
    { queryWeight: get("w_q"), keyWeight: get("w_k"), bias: get("b"), scoreWeight: get("v") },
    { keyMask: seen(heed, get("key_padding_mask")) },
  );
  return { out: output, weights };
}

function luongAttention({ heed, options, get }) {
  const { output, weights } = heed.luongAttention(get("query"), get("keys"), get("values"), {
    score: options.score,
    weight: get("w"),
    scoreWeight: get("v"),
    keyMask: seen(heed, get("key_padding_mask")),
  });
  return { out: output, weights };
}

const crossEntropy = ({ heed, options, get }) => ({
  loss: heed.crossEntropy(get("logits"), get("targets"), {
    ignoreIndex: options.ignore_index ?? undefined,
    labelSmoothing: options.label_smoothing,
    reduction: options.reduction,
  }),
});

function nadarayaWatson({ heed, get }) {
  const { output, weights } = heed.kernelRegression(
    get("x_query"),
    get("x_train"),
    get("y_train"),
    get("bandwidth"),
  );
  return { out: output, weights };
}

function nonLocalMeans({ heed, options, get }) {
  const { output, weightSum } = heed.nonLocalMeans(get("image"), {
    patchRadius: options.patch_radius,
    searchRadius: options.search_radius,
    h: options.h,
    sigma: options.sigma,
    border: options.border,
  });
  return { out: output, weight_sum: weightSum };
}

/** Entry `step` of an input over all steps. */
const entry = (heed, x, step) =>
  heed.reshape(heed.slice(x, { axis: 0, start: step, length: 1 }), x.shape.slice(1));

const adam = (Optimiser) =>
  function steps({ heed, nn, options, inputs, get }) {
    const names = Object.keys(inputs).filter((name) => name.startsWith("p"));
    const parameters = names.map((name) => get(name));
    const optimiser = new nn.optim[Optimiser](parameters, {
      learningRate: options.lr,
      betas: options.betas,
      eps: options.eps,
      weightDecay: options.weight_decay,
    });
    const after = parameters.map(() => []);
    for (let step = 0; step < options.steps; ++step) {
      // A step frees the gradients that it takes.
      optimiser.step(
        names.map((name) => heed.multiply(entry(heed, get(name.replace("p", "g")), step), 1)),
      );
      for (const [i, parameter] of parameters.entries()) after[i].push(...parameter.data);
    }
    const results = {};
    for (const [i, name] of names.entries()) {
      const { shape } = parameters[i];
      results[`steps.${name}`] = { shape: [options.steps, ...shape], data: after[i] };
      const { tensors } = optimiser.stateDict();
      results[`exp_avg.${name}`] = tensors[`${i}.exp_avg`];
      results[`exp_avg_sq.${name}`] = tensors[`${i}.exp_avg_sq`];
    }
    return results;
  };

function clipGradNorm({ nn, options, inputs, get }) {
  const names = Object.keys(inputs);
  const gradients = names.map((name) => get(name));
  const norm = nn.optim.clipGradNorm(gradients, options.max_norm);
  const clipped = names.map((name, i) => [`clipped.${name}`, gradients[i]]);
  return { total_norm: { shape: [], data: [norm] }, ...Object.fromEntries(clipped) };
}

const onnxStages = ["scores", "capped", "masked", "weights"];

/**
 * The operator hides the keys beyond a mask's last axis, even if its size is 1. Heed broadcasts such an axis, as
 * numpy does.
 */
function padMask(inputs) {
  const { attn_mask: mask, K, past_key: past } = inputs;
  if (mask.shape.at(-1) !== 1 || K.shape.at(-2) + (past?.shape[2] ?? 0) === 1) return;
  const hidden = mask.dtype === "bool" ? 0 : -Infinity;
  const data = mask.data.flatMap((number) => [number, hidden]);
  inputs.attn_mask = { ...mask, shape: [...mask.shape.slice(0, -1), 2], data };
}

function onnxAttention({ heed, options, get, inputs, outputs }) {
  const [q, k, v] = [get("Q"), get("K"), get("V")];
  const given = {
    isCausal: options.is_causal === 1,
    window: [options.left_window_size ?? -1, options.right_window_size ?? -1],
    softcap: options.softcap ?? 0,
  };
  if (options.q_num_heads) {
    Object.assign(given, { heads: options.q_num_heads, kvHeads: options.kv_num_heads });
  }
  if (options.scale !== undefined) given.scale = options.scale;
  if (inputs.attn_mask) {
    padMask(inputs);
    given.mask = get("attn_mask");
  }
  if (inputs.nonpad_kv_seqlen) given.kvLengths = inputs.nonpad_kv_seqlen.data;
  if (inputs.past_key) {
    given.past = { key: get("past_key"), value: get("past_value") };
  }
  if (outputs.qk_matmul_output) given.capture = onnxStages[options.qk_matmul_output_mode ?? 0];
  const { output, capture, presentKey, presentValue } = heed.attention(q, k, v, given);
  return {
    Y: output,
    qk_matmul_output: capture,
    present_key: presentKey,
    present_value: presentValue,
  };
}

/** Heed's names of the operator's update rules. */
const linearRules = { linear: "linear", gated: "gated", delta: "delta", gated_delta: "gatedDelta" };

function onnxLinearAttention({ heed, options, get }) {
  const { output, presentState } = heed.linearAttention(get("query"), get("key"), get("value"), {
    rule: linearRules[options.update_rule ?? "gated_delta"],
    heads: options.q_num_heads,
    kvHeads: options.kv_num_heads,
    scale: options.scale || undefined,
    decay: get("decay"),
    beta: get("beta"),
    pastState: get("past_state"),
  });
  return { output, present_state: presentState };
}

function onnxRotaryEmbedding({ heed, options, get }) {
  const output = heed.rope(get("input"), {
    style: options.interleaved === 1 ? "interleaved" : "half",
    heads: options.num_heads || undefined,
    rotarySize: options.rotary_embedding_dim || undefined,
    cos: get("cos_cache"),
    sin: get("sin_cache"),
    positionIds: get("position_ids"),
  });
  return { output };
}

function rope({ heed, options, get }) {
  const out = heed.rope(get("x"), {
    style: options.style,
    base: options.base,
    rotarySize: options.rotary_dim,
    offset: options.offset,
    positionIds: get("position_ids"),
  });
  return { out };
}

function uniformAverage({ heed, options, get }) {
  const keyMask = seen(heed, get("key_padding_mask"));
  return { out: heed.average(get("x"), { isCausal: options.causal, keyMask }) };
}

function softmaxXxt({ heed, get }) {
  const { output, weights } = heed.selfSimilarity(get("x"));
  return { out: output, weights };
}

const sinusoidal = ({ heed, options: { length, dim, base, offset } }) => ({
  table: heed.sinusoidalEncoding(length, dim, { base, offset }),
});

/**
 * @type {Record<string, ((given: Given) => any) | { prepare(given: Given): () => any } |
 *   { load(given: Given): Promise<any>, run(given: any): any }>}
 */
export const adapters = {
  ...modelAdapters,
  sdpa,
  sdpa_window: sdpa,
  sdpa_softcap: sdpa,
  sdpa_alibi: sdpa,
  sdpa_sink: sdpa,
  sdpa_varlen: sdpa,
  mha,
  encoder_layer: encoderLayer,
  decoder_layer: decoderLayer,
  layer_norm: layerNorm,
  rms_norm: rmsNorm,
  linear,
  gelu,
  swiglu,
  embedding,
  gru,
  additive_attention: additiveAttention,
  luong_attention: luongAttention,
  cross_entropy: crossEntropy,
  nadaraya_watson: nadarayaWatson,
  non_local_means: nonLocalMeans,
  adam: adam("Adam"),
  adamw: adam("AdamW"),
  clip_grad_norm: clipGradNorm,
  uniform_average: uniformAverage,
  softmax_xxt: softmaxXxt,
  sinusoidal,
  rope,
  "onnx Attention": onnxAttention,
  "onnx LinearAttention": onnxLinearAttention,
  "onnx RotaryEmbedding": onnxRotaryEmbedding,
};
