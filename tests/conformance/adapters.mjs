// How each kind of case is put to the public API. An adapter gets the engine and a case with its
// inputs as arrays of numbers, and returns { name: { shape, data } }, or the reason why the case
// cannot be put yet.

/** @typedef {import("./cases.mjs").Case} Case */

function tensor(heed, { dtype, shape, data }) {
  if (dtype === "bool") return heed.tensor(Uint8Array.from(data), shape);
  if (dtype === "int64" || dtype === "int32") return heed.tensor(Int32Array.from(data), shape);
  return heed.tensor(Float32Array.from(data), shape);
}

const plain = (result, shape = [...result.shape]) => ({ shape, data: Array.from(result.data) });

/** [B, L, H, D] and [B, L, H*D] are the same array. */
const joined = ({ dtype, shape: [b, l, h, d], data }) => ({ dtype, shape: [b, l, h * d], data });

function sdpa(heed, { options, inputs, outputs }) {
  const isJoined = options.layout === "BLHD";
  const [q, k, v] = [inputs.q, inputs.k, inputs.v].map((t) =>
    tensor(heed, isJoined ? joined(t) : t),
  );
  const given = { needLse: true, isCausal: options.causal };
  if (isJoined) Object.assign(given, { heads: inputs.q.shape[2], kvHeads: inputs.k.shape[2] });
  if (options.scale != null) given.scale = options.scale;
  if (options.softcap != null) given.softcap = options.softcap;
  if (options.offset !== undefined) given.causalOffset = options.offset;
  if (options.left !== undefined) given.window = [options.left, options.right];
  if (inputs.attn_mask) given.mask = tensor(heed, inputs.attn_mask);
  if (inputs.slopes) given.alibiSlopes = tensor(heed, inputs.slopes);
  if (inputs.sink) given.sinks = tensor(heed, inputs.sink);
  if (inputs.cu_seqlens_q) {
    given.cuSeqlens = { q: inputs.cu_seqlens_q.data, k: inputs.cu_seqlens_k.data };
  }
  const { output, lse } = heed.attention(q, k, v, given);
  return { out: plain(output, outputs.out.shape), lse: plain(lse) };
}

function mha(heed, { options, inputs }) {
  const get = (name) => (inputs[name] ? tensor(heed, inputs[name]) : undefined);
  const query = get("query");
  const { num_heads: heads } = options;
  const given = { heads, isCausal: options.is_causal, needWeights: true };
  if (inputs.key_padding_mask) given.keyMask = heed.fromTorchMask(get("key_padding_mask"));
  if (inputs.attn_mask) {
    // torch's mask of rank 3 is [B*H, L, S].
    const { shape, ...mask } = inputs.attn_mask;
    const own = shape.length === 3 ? [shape[0] / heads, heads, shape[1], shape[2]] : shape;
    const torch = tensor(heed, { ...mask, shape: own });
    given.mask = torch.dtype === "bool" ? heed.fromTorchMask(torch) : torch;
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
  return {
    out: plain(output),
    attn_weights: plain(weights),
    attn_weights_avg: plain(run(true).weights),
  };
}

const onnxStages = ["scores", "capped", "masked", "weights"];

function onnxAttention(heed, { options, inputs, outputs }) {
  const [q, k, v] = [inputs.Q, inputs.K, inputs.V].map((t) => tensor(heed, t));
  const given = {
    isCausal: options.is_causal === 1,
    window: [options.left_window_size ?? -1, options.right_window_size ?? -1],
    softcap: options.softcap ?? 0,
  };
  if (options.q_num_heads) {
    Object.assign(given, { heads: options.q_num_heads, kvHeads: options.kv_num_heads });
  }
  if (options.scale !== undefined) given.scale = options.scale;
  if (inputs.attn_mask) given.mask = tensor(heed, inputs.attn_mask);
  if (inputs.nonpad_kv_seqlen) given.kvLengths = inputs.nonpad_kv_seqlen.data;
  if (inputs.past_key) {
    given.past = { key: tensor(heed, inputs.past_key), value: tensor(heed, inputs.past_value) };
  }
  if (outputs.qk_matmul_output) given.capture = onnxStages[options.qk_matmul_output_mode ?? 0];
  const { output, capture, presentKey, presentValue } = heed.attention(q, k, v, given);
  return {
    Y: plain(output),
    qk_matmul_output: capture && plain(capture),
    present_key: presentKey && plain(presentKey),
    present_value: presentValue && plain(presentValue),
  };
}

/** How the operator's names for update rules are called here. */
const linearRules = { linear: "linear", gated: "gated", delta: "delta", gated_delta: "gatedDelta" };

function onnxLinearAttention(heed, { options, inputs }) {
  const get = (name) => inputs[name] && tensor(heed, inputs[name]);
  const { output, presentState } = heed.linearAttention(get("query"), get("key"), get("value"), {
    rule: linearRules[options.update_rule ?? "gated_delta"],
    heads: options.q_num_heads,
    kvHeads: options.kv_num_heads,
    scale: options.scale,
    decay: get("decay"),
    beta: get("beta"),
    pastState: get("past_state"),
  });
  return { output: plain(output), present_state: plain(presentState) };
}

function onnxRotaryEmbedding(heed, { options, inputs }) {
  const output = heed.rope(tensor(heed, inputs.input), {
    style: options.interleaved === 1 ? "interleaved" : "half",
    heads: options.num_heads,
    rotarySize: options.rotary_embedding_dim || undefined,
    cos: tensor(heed, inputs.cos_cache),
    sin: tensor(heed, inputs.sin_cache),
    positionIds: inputs.position_ids && tensor(heed, inputs.position_ids),
  });
  return { output: plain(output) };
}

function rope(heed, { options, inputs }) {
  const out = heed.rope(tensor(heed, inputs.x), {
    style: options.style,
    base: options.base,
    rotarySize: options.rotary_dim,
    offset: options.offset,
    positionIds: inputs.position_ids && tensor(heed, inputs.position_ids),
  });
  return { out: plain(out) };
}

function uniformAverage(heed, { options, inputs }) {
  const given = { isCausal: options.causal };
  if (inputs.key_padding_mask) {
    given.keyMask = heed.fromTorchMask(tensor(heed, inputs.key_padding_mask));
  }
  return { out: plain(heed.average(tensor(heed, inputs.x), given)) };
}

function softmaxXxt(heed, { inputs }) {
  const { output, weights } = heed.selfSimilarity(tensor(heed, inputs.x));
  return { out: plain(output), weights: plain(weights) };
}

const linear = (heed, { inputs }) => ({
  out: plain(
    heed.linear(
      tensor(heed, inputs.x),
      tensor(heed, inputs.weight),
      inputs.bias && tensor(heed, inputs.bias),
    ),
  ),
});

const embedding = (heed, { inputs }) => ({
  out: plain(heed.embedding(tensor(heed, inputs.ids), tensor(heed, inputs.weight))),
});

const sinusoidal = (heed, { options: { length, dim, base, offset } }) => ({
  table: plain(heed.sinusoidalEncoding(length, dim, { base, offset })),
});

/** @type {Record<string, (heed: import("heed").Heed, testCase: Case) => any>} */
export const adapters = {
  sdpa,
  sdpa_window: sdpa,
  sdpa_softcap: sdpa,
  sdpa_alibi: sdpa,
  sdpa_sink: sdpa,
  sdpa_varlen: sdpa,
  mha,
  uniform_average: uniformAverage,
  softmax_xxt: softmaxXxt,
  linear,
  embedding,
  sinusoidal,
  rope,
  "onnx Attention": onnxAttention,
  "onnx LinearAttention": onnxLinearAttention,
  "onnx RotaryEmbedding": onnxRotaryEmbedding,
};
