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
  if (options.scale !== null) given.scale = options.scale;
  if (inputs.attn_mask) given.mask = tensor(heed, inputs.attn_mask);
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

/** The attributes and inputs of ONNX Attention that have a counterpart here so far. */
const onnxAttributes = [
  "is_causal",
  "scale",
  "q_num_heads",
  "kv_num_heads",
  "qk_matmul_output_mode",
];
const onnxInputs = ["Q", "K", "V", "attn_mask", "nonpad_kv_seqlen"];
const onnxStages = ["scores", "scores", "masked", "weights"];

function onnxAttention(heed, { options, inputs, outputs }) {
  const unknown = [
    ...Object.keys(options).filter(
      (name) => ![...onnxAttributes, "softmax_precision"].includes(name),
    ),
    ...Object.keys(inputs).filter((name) => !onnxInputs.includes(name)),
  ];
  if (unknown.length > 0) return `${unknown.join(", ")}: not covered yet`;
  const [q, k, v] = [inputs.Q, inputs.K, inputs.V].map((t) => tensor(heed, t));
  const given = { isCausal: options.is_causal === 1 };
  if (options.q_num_heads) {
    Object.assign(given, { heads: options.q_num_heads, kvHeads: options.kv_num_heads });
  }
  if (options.scale !== undefined) given.scale = options.scale;
  if (inputs.attn_mask) given.mask = tensor(heed, inputs.attn_mask);
  if (inputs.nonpad_kv_seqlen) given.kvLengths = inputs.nonpad_kv_seqlen.data;
  if (outputs.qk_matmul_output) given.capture = onnxStages[options.qk_matmul_output_mode ?? 0];
  const { output, capture } = heed.attention(q, k, v, given);
  return { Y: plain(output), qk_matmul_output: capture && plain(capture) };
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
  mha,
  uniform_average: uniformAverage,
  softmax_xxt: softmaxXxt,
  linear,
  embedding,
  sinusoidal,
  "onnx Attention": onnxAttention,
};
