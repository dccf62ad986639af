// Runs one case through the public API and compares. Works in Node and in a page.

import { adapters } from "./adapters.mjs";

const special = { inf: Infinity, "-inf": -Infinity, nan: NaN };
const numbers = (data) =>
  data.map((value) => (typeof value === "string" ? special[value] : Number(value)));

/** A case's tensors as plain arrays of numbers. */
function decode(tensors) {
  return Object.fromEntries(
    Object.entries(tensors).map(([name, t]) => [name, { ...t, data: numbers(t.data) }]),
  );
}

/** The outputs of encoders with a row for each position. */
const byPosition =
  /^(encoder_)?(hidden_states|attentions)\.|^(last_hidden_state|start_logits|end_logits)$/;

/**
 * Tells whether an element belongs to a padded position of an encoder whose case does not compare
 * them: a query that sees no key has no defined weights.
 */
function paddingOf({ inputs, notes = "" }, name, { shape }) {
  const mask = notes.includes("only where attention_mask is 1") && inputs.attention_mask;
  const isByPosition =
    byPosition.test(name) || (name === "logits" && shape.length === 3 && !inputs.decoder_input_ids);
  if (!mask || !isByPosition) return () => false;
  const axis = name.includes("attentions") ? 2 : 1;
  const size = (axes) => axes.reduce((product, length) => product * length, 1);
  const [row, text, length] = [size(shape.slice(axis + 1)), size(shape.slice(1)), shape[axis]];
  return (i) => mask.data[Math.floor(i / text) * length + (Math.floor(i / row) % length)] === 0;
}

function difference(got, want, tolerance, isPadding) {
  if (got.shape.join() !== want.shape.join())
    return `shape [${got.shape}] instead of [${want.shape}]`;
  for (let i = 0; i < want.data.length; ++i) {
    const [g, w] = [got.data[i], want.data[i]];
    if (Object.is(g, w) || g === w || isPadding(i)) continue;
    // Negated, so that a NaN on one side counts as a difference.
    if (!(Math.abs(g - w) <= tolerance.abs + tolerance.rel * Math.abs(w))) {
      return `[${i}] is ${g} instead of ${w}`;
    }
  }
  return null;
}

function tensor(heed, { dtype, shape, data }) {
  if (dtype === "bool") return heed.tensor(Uint8Array.from(data), shape, "bool");
  if (dtype === "int64" || dtype === "int32") return heed.tensor(Int32Array.from(data), shape);
  return heed.tensor(Float32Array.from(data), shape);
}

const isTensor = (value) => value?.toArray !== undefined;
const plain = (value) =>
  isTensor(value) ? { shape: [...value.shape], data: Array.from(value.data) } : value;

/**
 * Computes a case's outputs and, if it has any, its gradients. An input dY is the gradient of a
 * loss with respect to the output Y, an output dX the gradient with respect to the input X.
 */
function compute(heed, nn, adapter, testCase, model) {
  const inputs = decode(testCase.inputs);
  const tensors = new Map();
  const get = (name) => {
    if (!tensors.has(name) && inputs[name]) tensors.set(name, tensor(heed, inputs[name]));
    return tensors.get(name);
  };
  const keep = (made) => {
    for (const [name, value] of Object.entries(made)) tensors.set(name, value);
  };
  const given = { ...testCase, inputs, heed, nn, get, keep, model };
  if (adapter.load) return adapter.run(given);
  // Modules are created before recording starts.
  const run = adapter.prepare?.(given) ?? (() => adapter(given));
  const upstream = Object.keys(inputs).filter(
    (name) => name.startsWith("d") && testCase.outputs[name.slice(1)],
  );
  if (upstream.length === 0) return run();

  const wanted = Object.keys(testCase.outputs)
    .filter((name) => name.startsWith("d") && inputs[name.slice(1)])
    .map((name) => name.slice(1));
  const sources = wanted.map(get);
  const { aux, gradients } = nn.valueAndGrad(sources, () => {
    const results = run();
    const terms = upstream.map((name) =>
      heed.sum(heed.multiply(results[name.slice(1)], get(name))),
    );
    return [terms.reduce((sum, term) => heed.add(sum, term)), results];
  });
  const named = wanted.map((name, i) => [`d${name}`, gradients[i]]);
  return { ...aux, ...Object.fromEntries(named) };
}

/**
 * @param {{ heed: any, nn: any, models: any }} library
 * @returns {Promise<{ name: string, verdict: "passed" | "failed" | "skipped", detail: string }>}
 */
export async function runCase({ heed, nn, models }, testCase) {
  const adapter = adapters[testCase.kind];
  const report = (verdict, detail) => ({ name: testCase.name, verdict, detail });
  if (adapter === undefined) return report("skipped", `kind ${testCase.kind} is not covered yet`);
  let model;
  try {
    model = await adapter.load?.({ ...testCase, heed, models });
    return heed.scope(() => {
      const got = compute(heed, nn, adapter, testCase, model);
      const wanted = Object.entries(decode(testCase.outputs));
      const inputs = decode(testCase.inputs);
      for (const [name, want] of wanted) {
        if (got[name] === undefined) return report("failed", `${name} is missing`);
        const isPadding = paddingOf({ ...testCase, inputs }, name, want);
        const problem = difference(plain(got[name]), want, testCase.tolerance, isPadding);
        if (problem) return report("failed", `${name}${problem}`);
      }
      return report("passed", wanted.map(([name]) => name).join(", "));
    });
  } catch (error) {
    return report("failed", `${error.name}: ${error.message}`);
  } finally {
    model?.dispose();
  }
}
