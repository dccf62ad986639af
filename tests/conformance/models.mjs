// Adapters of whole models: a case has the files of a model in the layout of Hugging Face's hub. `load` creates
// the model, and the adapter returns the outputs of its case by name.

/** @typedef {import("./adapters.mjs").Given & { model: any }} GivenModel */

const load = ({ heed, models, files }) => {
  const bytes = ([name, base64]) => [name, Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))];
  return models.loadModel(heed, Object.fromEntries(Object.entries(files).map(bytes)));
};

/** Runs a model, and returns its states and weights under the names of a case. */
function observe({ nn, model }, run) {
  const results = {};
  let layer = 0;
  const receive = (_, weights) => {
    results[`attentions.${layer++}`] = { shape: [...weights.shape], data: weights.data.slice() };
  };
  const result = nn.nn.captureAttention(model, receive, () => {
    const { hiddenStates, ...others } = run();
    return { others, hiddenStates };
  });
  for (const [i, state] of result.hiddenStates.entries()) results[`hidden_states.${i}`] = state;
  return { ...result.others, ...results };
}

function bert(given) {
  const { heed, model, get, inputs } = given;
  const { shape, data } = inputs.attention_mask;
  const { output, pooled, ...results } = observe(given, () =>
    model.forward(get("input_ids"), {
      keyMask: heed.tensor(Uint8Array.from(data), shape, "bool"),
      typeIds: get("token_type_ids"),
      needHiddenStates: true,
      needLogits: asks(given, /logits$/),
    }),
  );
  const embedding =
    asks(given, /^sentence_embedding$/) && model.sentence.forward(output, Uint8Array.from(data));
  return {
    ...{ ...results, last_hidden_state: output, pooler_output: pooled },
    ...(embedding && { sentence_embedding: embedding }),
  };
}

/** The logits of the first and the last token of an answer. */
function answer(given) {
  const { logits, ...results } = bert(given);
  const [batch, length] = logits.shape;
  const [start, end] = given.heed.split(logits, 2, { axis: -1 });
  const flat = (x) => given.heed.reshape(x, [batch, length]);
  return { ...results, logits, start_logits: flat(start), end_logits: flat(end) };
}

const encoder = (given) => (asks(given, /^(start|end)_logits/) ? answer : bert)(given);

/** Continues texts with the most likely tokens, one step at a time with a cache. */
function greedy({ heed, model, get, options }) {
  const count = options.new_tokens;
  let ids = get("input_ids");
  const [batch, length] = ids.shape;
  const cache = model.createCache({ batch, capacity: length + count });
  const steps = [];
  for (let step = 0; step < count; ++step) {
    const { logits } = model.forward(ids, { cache, onlyLast: true });
    ids = heed.tensor(heed.topK(logits, 1).indices.data.slice(), [batch, 1]);
    steps.push({ logits, ids });
  }
  cache.dispose();
  return greedyResults(heed, steps);
}

const greedyResults = (heed, steps) => ({
  greedy_tokens: heed.transpose(heed.tensor(steps.map(({ ids }) => [...ids.data]))),
  greedy_logits: heed.concat(
    steps.map(({ logits }) => logits),
    { axis: 1 },
  ),
});

const lossOf = ({ heed, model, get, inputs }) => {
  const { shape, data } = inputs.input_ids;
  const [batch, length] = shape;
  const next = data.filter((_, i) => i % length > 0);
  const { logits } = model.forward(get("input_ids"));
  const before = heed.slice(logits, { axis: 1, start: 0, length: length - 1 });
  return heed.crossEntropy(before, heed.tensor(Int32Array.from(next), [batch, length - 1]));
};

/** Whether a case lists an output with such a name. */
const asks = ({ outputs }, pattern) => Object.keys(outputs).some((name) => pattern.test(name));

/** Computes only the outputs that the case lists: a text of one token has no loss. */
function causal(given) {
  const { model, get } = given;
  const run = () => model.forward(get("input_ids"), { needHiddenStates: true });
  return {
    ...(asks(given, /^(logits$|hidden_states|attentions)/) && observe(given, run)),
    ...(asks(given, /^greedy_/) && greedy(given)),
    ...(asks(given, /^loss$/) && { loss: lossOf(given) }),
  };
}

/** A model with an encoder and a decoder. Rows of the encoder's padding are not compared. */
function seq2seq(given) {
  const { heed, nn, model, get, inputs, options } = given;
  const { shape, data } = inputs.attention_mask;
  const keyMask = heed.tensor(Uint8Array.from(data), shape, "bool");
  const results = {};
  const counts = {};
  const receive = (path, weights) => {
    const [, side, kind] = /(..coder)\.layers\.\d+\.(self|cross)/.exec(path);
    const name = kind === "cross" ? "cross_attentions" : `${side}_attentions`;
    counts[name] ??= 0;
    results[`${name}.${counts[name]++}`] = {
      shape: [...weights.shape],
      data: weights.data.slice(),
    };
  };
  const states = (name, list) => {
    for (const [i, state] of list.entries()) results[`${name}_hidden_states.${i}`] = state;
  };
  const memory = nn.nn.captureAttention(model, receive, () => {
    const encoded = model.encode(get("input_ids"), { keyMask, needHiddenStates: true });
    const decoded = model.decode(get("decoder_input_ids"), encoded.output, {
      ...{ keyMask, needHiddenStates: true },
    });
    states("encoder", encoded.hiddenStates);
    states("decoder", decoded.hiddenStates);
    results.logits = decoded.logits;
    return encoded.output;
  });
  if (!asks(given, /^greedy_/)) return results;
  const [batch, memoryLength] = shape;
  const count = options.new_tokens;
  const cache = model.createCache({ batch, capacity: count, memoryLength });
  const start = model.config.startTokens[0];
  const read = (ids) => {
    const { logits } = model.decode(ids, memory, { keyMask, cache, onlyLast: true });
    const next = heed.topK(logits, 1).indices.data.slice();
    return { logits, ids: heed.tensor(next, [batch, 1]) };
  };
  const steps = [read(heed.tensor(new Int32Array(batch).fill(start), [batch, 1]))];
  while (steps.length < count) steps.push(read(steps.at(-1).ids));
  cache.dispose();
  return { ...results, ...greedyResults(heed, steps) };
}

/** The parameters that each tensor of GPT-2 contains. */
const gpt2Parts = {
  "attn.c_attn": ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"],
  "attn.c_proj": ["self_attn.o_proj"],
  ln_1: ["input_layernorm"],
  ln_2: ["post_attention_layernorm"],
  "mlp.c_fc": ["mlp.up_proj"],
  "mlp.c_proj": ["mlp.down_proj"],
};
const gpt2Tables = { wte: "embed_tokens", wpe: "embed_positions", ln_f: "norm" };

function partsOfGpt2(name) {
  const block = /^transformer\.h\.(\d+)\.(.+)\.(weight|bias)$/.exec(name);
  if (block)
    return gpt2Parts[block[2]].map((part) => `model.layers.${block[1]}.${part}.${block[3]}`);
  const [, table, kind] = /^transformer\.(\w+)\.(weight|bias)$/.exec(name);
  return [`model.${gpt2Tables[table]}.${kind}`];
}

function gpt2(given) {
  if (!asks(given, /^grad/)) return causal(given);
  const { nn, model, outputs, get } = given;
  get("input_ids"); // made here, because valueAndGrad frees the tensors made in it
  const { gradients } = nn.valueAndGrad(model, () => lossOf(given));
  const names = model.namedParameters().map(([name]) => name);
  const gradientsOf = (name) => partsOfGpt2(name).map((part) => gradients[names.indexOf(part)]);
  const results = causal(given);
  for (const name of Object.keys(outputs)) {
    const [, kind, tensor] = /^(grad|grad_norm)\.(.+)$/.exec(name) ?? [];
    if (kind === "grad") results[name] = gradientsOf(tensor)[0];
    if (kind !== "grad_norm") continue;
    const numbers = gradientsOf(tensor).flatMap(({ data }) => [...data]);
    results[name] = { shape: [], data: [Math.hypot(...numbers)] };
  }
  return results;
}

export const modelAdapters = {
  ...Object.fromEntries(
    ["bert", "distilbert", "modernbert", "mpnet", "roberta", "xlm-roberta"].map((kind) => [
      kind,
      { load, run: encoder },
    ]),
  ),
  gemma3_text: { load, run: causal },
  gpt2: { load, run: gpt2 },
  ...{ bart: { load, run: seq2seq }, marian: { load, run: seq2seq }, t5: { load, run: seq2seq } },
  llama: { load, run: causal },
  mistral: { load, run: causal },
  qwen2: { load, run: causal },
  qwen3: { load, run: causal },
};
