// The first steps of training in double precision, with a simple tape: every operation records a function
// that adds to the gradients of its inputs. A value is { data, gradient }; its rows are tokens.

import { adamW, parameterShapes, trainingSteps, transpose } from "./cases.mjs";
import { gelu, geluSlope } from "./gelu.mjs";

const layerNormEps = 1e-5;

const activations = {
  relu: [(x) => Math.max(x, 0), (x) => (x > 0 ? 1 : 0)],
  gelu: [gelu, geluSlope],
};

/** c [n, m] += a [n, k] b [k, m] */
function addProduct(c, a, b, n, k, m) {
  for (let i = 0; i < n; ++i)
    for (let j = 0; j < k; ++j) {
      const factor = a[i * k + j];
      if (factor === 0) continue;
      for (let l = 0, [to, from] = [i * m, j * m]; l < m; ++l) c[to + l] += factor * b[from + l];
    }
}

const trainable = (data) => ({ data, gradient: new Float64Array(data.length) });
const zeros = (length) => trainable(new Float64Array(length));

/** The operations of a transformer on one tape. */
function operations(tape) {
  const record = (y, backward) => {
    tape.push(() => backward(y.gradient));
    return y;
  };
  return {
    embedding(tokens, weight, size) {
      const y = zeros(tokens.length * size);
      tokens.forEach((token, i) => {
        y.data.set(weight.data.subarray(token * size, (token + 1) * size), i * size);
      });
      return record(y, (d) => {
        for (let i = 0; i < d.length; ++i)
          weight.gradient[tokens[Math.floor(i / size)] * size + (i % size)] += d[i];
      });
    },
    /** x W^T + b */
    linear(x, weight, bias) {
      const outputs = bias.data.length;
      const inputs = weight.data.length / outputs;
      const rows = x.data.length / inputs;
      const y = zeros(rows * outputs);
      for (let i = 0; i < rows; ++i) y.data.set(bias.data, i * outputs);
      addProduct(y.data, x.data, transpose(weight.data, outputs, inputs), rows, inputs, outputs);
      return record(y, (d) => {
        addProduct(x.gradient, d, weight.data, rows, outputs, inputs);
        addProduct(weight.gradient, transpose(d, rows, outputs), x.data, outputs, rows, inputs);
        d.forEach((each, i) => {
          bias.gradient[i % outputs] += each;
        });
      });
    },
    activate(x, [compute, slope]) {
      return record(trainable(x.data.map(compute)), (d) => {
        for (let i = 0; i < d.length; ++i) x.gradient[i] += d[i] * slope(x.data[i]);
      });
    },
    add(a, b) {
      const y = trainable(a.data.map((each, i) => each + b.data[i]));
      return record(y, (d) => {
        for (let i = 0; i < d.length; ++i) {
          a.gradient[i] += d[i];
          b.gradient[i] += d[i];
        }
      });
    },
    layerNorm(x, weight, bias) {
      const size = bias.data.length;
      const y = zeros(x.data.length);
      const normal = new Float64Array(x.data.length);
      const factors = [];
      for (let from = 0; from < normal.length; from += size) {
        const row = x.data.subarray(from, from + size);
        const mean = row.reduce((a, b) => a + b) / size;
        const variance = row.reduce((sum, each) => sum + (each - mean) ** 2, 0) / size;
        factors.push(1 / Math.sqrt(variance + layerNormEps));
        row.forEach((each, i) => {
          normal[from + i] = (each - mean) * factors.at(-1);
          y.data[from + i] = normal[from + i] * weight.data[i] + bias.data[i];
        });
      }
      return record(y, (d) => {
        factors.forEach((factor, row) => {
          const from = row * size;
          let [sum, product] = [0, 0];
          for (let i = 0; i < size; ++i) {
            weight.gradient[i] += d[from + i] * normal[from + i];
            bias.gradient[i] += d[from + i];
            sum += d[from + i] * weight.data[i];
            product += d[from + i] * weight.data[i] * normal[from + i];
          }
          for (let i = 0; i < size; ++i) {
            const rest = d[from + i] * weight.data[i] - (sum + normal[from + i] * product) / size;
            x.gradient[from + i] += factor * rest;
          }
        });
      });
    },
    /** Attention of H heads, from joined queries, keys and values: [B L, 3 E] -> [B L, E]. */
    attention(qkv, { B, L, H, E }) {
      const size = E / H;
      const scale = 1 / Math.sqrt(size);
      const y = zeros(B * L * E);
      const weights = new Float64Array(B * H * L * L);
      const { data, gradient } = qkv;
      // The index of q of a row; k and v follow at distances of E.
      const place = (b, row, h) => (b * L + row) * 3 * E + h * size;
      const each = (run) => {
        for (let b = 0; b < B; ++b)
          for (let h = 0; h < H; ++h)
            for (let i = 0; i < L; ++i) {
              const from = ((b * H + h) * L + i) * L;
              run(
                b,
                h,
                place(b, i, h),
                (b * L + i) * E + h * size,
                weights.subarray(from, from + L),
              );
            }
      };
      each((b, h, q, o, row) => {
        for (let j = 0; j < L; ++j) {
          const k = place(b, j, h) + E;
          for (let c = 0; c < size; ++c) row[j] += scale * data[q + c] * data[k + c];
        }
        const highest = Math.max(...row);
        let total = 0;
        for (let j = 0; j < L; ++j) total += row[j] = Math.exp(row[j] - highest);
        for (let j = 0; j < L; ++j) {
          row[j] /= total;
          const v = place(b, j, h) + 2 * E;
          for (let c = 0; c < size; ++c) y.data[o + c] += row[j] * data[v + c];
        }
      });
      return record(y, (d) => {
        const dRow = new Float64Array(L);
        each((b, h, q, o, row) => {
          let delta = 0;
          for (let j = 0; j < L; ++j) {
            const v = place(b, j, h) + 2 * E;
            dRow[j] = 0;
            for (let c = 0; c < size; ++c) {
              dRow[j] += d[o + c] * data[v + c];
              gradient[v + c] += row[j] * d[o + c];
            }
            delta += row[j] * dRow[j];
          }
          for (let j = 0; j < L; ++j) {
            const k = place(b, j, h) + E;
            const dProduct = scale * row[j] * (dRow[j] - delta);
            for (let c = 0; c < size; ++c) {
              gradient[q + c] += dProduct * data[k + c];
              gradient[k + c] += dProduct * data[q + c];
            }
          }
        });
      });
    },
    /** The mean of -log softmax(logits)[target], where the backward pass begins. */
    crossEntropy(logits, targets) {
      const classes = logits.data.length / targets.length;
      let loss = 0;
      targets.forEach((target, i) => {
        const row = logits.data.subarray(i * classes, (i + 1) * classes);
        const highest = Math.max(...row);
        const total = row.reduce((sum, each) => sum + Math.exp(each - highest), 0);
        loss -= (row[target] - highest - Math.log(total)) / targets.length;
        row.forEach((each, c) => {
          const d = Math.exp(each - highest) / total - (c === target ? 1 : 0);
          logits.gradient[i * classes + c] = d / targets.length;
        });
      });
      return loss;
    },
  };
}

/**
 * The loss. Running the functions on the tape adds its gradients to the gradients of the
 * parameters.
 */
function lossOf(one, { tokens, targets }, p, tape) {
  const { embedding, linear, activate, add, layerNorm, attention, crossEntropy } = operations(tape);
  const ofLayer = (operation, x, name) => operation(x, p[`${name}.weight`], p[`${name}.bias`]);
  let x = embedding(tokens, p["embedding.weight"], one.E);
  for (let i = 0; i < one.layers; ++i) {
    const name = `encoder.layers.${i}`;
    const own = `${name}.self_attn`;
    const qkv = linear(x, p[`${own}.in_proj_weight`], p[`${own}.in_proj_bias`]);
    const attended = ofLayer(linear, attention(qkv, one), `${own}.out_proj`);
    x = ofLayer(layerNorm, add(x, attended), `${name}.norm1`);
    const hidden = activate(ofLayer(linear, x, `${name}.linear1`), activations[one.activation]);
    x = ofLayer(layerNorm, add(x, ofLayer(linear, hidden, `${name}.linear2`)), `${name}.norm2`);
  }
  return crossEntropy(ofLayer(linear, x, "head"), targets);
}

/** The losses of the first steps, with AdamW (Loshchilov and Hutter, 2019) between them. */
export function trainingLosses(one, inputs) {
  const { learningRate, betas, eps, weightDecay } = adamW;
  const names = Object.keys(parameterShapes(one));
  const parameters = Object.fromEntries(
    names.map((name) => [name, trainable(Float64Array.from(inputs[name]))]),
  );
  const averages = names.map((name) => [0, 1].map(() => new Float64Array(inputs[name].length)));
  const losses = [];
  for (let step = 1; ; ++step) {
    const tape = [];
    losses.push(lossOf(one, inputs, parameters, tape));
    if (step === trainingSteps) return losses;
    while (tape.length > 0) tape.pop()();
    names.forEach((name, n) => {
      const { data, gradient } = parameters[name];
      const [first, second] = averages[n];
      for (let i = 0; i < data.length; ++i) {
        const d = gradient[i];
        first[i] += (1 - betas[0]) * (d - first[i]);
        second[i] += (1 - betas[1]) * (d * d - second[i]);
        const size = Math.sqrt(second[i] / (1 - betas[1] ** step)) + eps;
        data[i] *= 1 - learningRate * weightDecay;
        data[i] -= (learningRate * first[i]) / (1 - betas[0] ** step) / size;
      }
      gradient.fill(0);
    });
  }
}
