// Computes every case in double precision, as simply as possible, for some rows of its answer: all rows
// of a small case, 8 per head of a large one.

import { visibleKeys } from "./cases.mjs";
import { gelu } from "./gelu.mjs";
import { decoderLogits } from "./oracle_decoder.mjs";
import { encoderStates } from "./oracle_encoder.mjs";
import { languageLogits } from "./oracle_language.mjs";
import { trainingLosses } from "./oracle_training.mjs";

const rowsPerHead = 8;

/** The first row, the last, and some between them that differ from head to head. */
function someOf(rows, head) {
  const count = Math.min(rowsPerHead, rows);
  return Array.from({ length: count }, (_, i) =>
    i === count - 1 ? rows - 1 : Math.min(rows - 1, Math.floor((i * rows) / count) + (i && head)),
  );
}

function dot(a, aStart, b, bStart, length) {
  let sum = 0;
  for (let i = 0; i < length; ++i) sum += a[aStart + i] * b[bStart + i];
  return sum;
}

/** softmax(q K^T / sqrt(D)) for the row of q at `start`, over keys [first, end) of a head. */
function weigh({ q, k }, start, head, [first, end], size) {
  const scores = Array.from(
    { length: end - first },
    (_, i) => dot(q, start, k, head + (first + i) * size, size) / Math.sqrt(size),
  );
  const highest = scores.reduce((a, b) => Math.max(a, b));
  const weights = scores.map((score) => Math.exp(score - highest));
  const total = weights.reduce((a, b) => a + b);
  return weights.map((weight) => weight / total);
}

/** sum += factor * x[start ...), if there is a sum. */
function add(sum, factor, x, start) {
  for (let i = 0; i < (sum?.length ?? 0); ++i) sum[i] += factor * x[start + i];
}

/** softmax(q K^T / sqrt(D)) V for the row of q at `start`, over keys [first, end) of a head. */
function attend({ q, k, v }, start, head, [first, end], size) {
  const output = new Float64Array(size);
  weigh({ q, k }, start, head, [first, end], size).forEach((weight, i) => {
    add(output, weight, v, head + (first + i) * size);
  });
  return output;
}

/** x W^T + b for the row of x at `start`. */
function project(x, start, weight, bias, inputs, outputs, firstOutput = 0) {
  return Float64Array.from({ length: outputs }, (_, i) => {
    const row = firstOutput + i;
    return dot(x, start, weight, row * inputs, inputs) + bias[row];
  });
}

/** An image with a mirrored border around it, double precision. */
function withBorder({ H, W, patchRadius: r }, { image }) {
  const mirrored = (place, size) => size - 1 - Math.abs(size - 1 - Math.abs(place));
  const width = W + 2 * r;
  return Float64Array.from({ length: (H + 2 * r) * width }, (_, i) => {
    const y = mirrored(Math.floor(i / width) - r, H);
    return image[y * W + mirrored((i % width) - r, W)];
  });
}

/** Rows [from, to) of the non-local means of an image (Buades et al., 2005): src/reference/local_means.hpp. */
export function nonLocalMeans(one, inputs, from, to) {
  const { H, W, patchRadius, searchRadius, h } = one;
  const side = 2 * patchRadius + 1;
  const width = W + 2 * patchRadius;
  const pixels = withBorder(one, inputs);
  const rows = new Float64Array((to - from) * W);
  for (let y = from; y < to; ++y)
    for (let x = 0; x < W; ++x) {
      let [sum, weights] = [0, 0];
      for (let v = Math.max(0, y - searchRadius); v <= Math.min(H - 1, y + searchRadius); ++v)
        for (let u = Math.max(0, x - searchRadius); u <= Math.min(W - 1, x + searchRadius); ++u) {
          let distance = 0;
          for (let dy = 0; dy < side; ++dy)
            for (let dx = 0; dx < side; ++dx) {
              const own = pixels[(y + dy) * width + x + dx];
              const other = pixels[(v + dy) * width + u + dx];
              distance += (own - other) ** 2;
            }
          const weight = Math.exp(-distance / (side * side * h * h));
          weights += weight;
          sum += weight * pixels[(v + patchRadius) * width + u + patchRadius];
        }
      rows[(y - from) * W + x] = sum / weights;
    }
  return rows;
}

function attentionGradients(one, { q, k, v, dOutput }) {
  const { H, L, D } = one;
  return Array.from({ length: H }, (_, h) => h * L * D).flatMap((head, h) => {
    // Not the first: a query that sees one key has a gradient of 0, and no relative error.
    const rows = someOf(L, h).filter((row) => row > 0);
    const zeros = () => new Map(rows.map((row) => [row, new Float64Array(D)]));
    const [dq, dk, dv] = [zeros(), zeros(), zeros()];
    for (let query = 0; query < L; ++query) {
      const start = head + query * D;
      const [first, end] = visibleKeys(one, query);
      const weights = weigh({ q, k }, start, head, [first, end], D);
      const dWeights = weights.map((_, i) => dot(dOutput, start, v, head + (first + i) * D, D));
      const delta = dot(weights, 0, dWeights, 0, end - first);
      weights.forEach((weight, i) => {
        const key = first + i;
        const dProduct = (weight * (dWeights[i] - delta)) / Math.sqrt(D);
        add(dq.get(query), dProduct, k, head + key * D);
        add(dk.get(key), dProduct, q, start);
        add(dv.get(key), weight, dOutput, start);
      });
    }
    return [dq, dk, dv].flatMap((gradient, part) =>
      rows.map((row) => [(part * H + h) * L * D + row * D, gradient.get(row)]),
    );
  });
}

/** For each kind, [index of its first number in the answer, the row] for some rows. */
const expected = {
  attention(one, inputs) {
    const { H, L, D } = one;
    return Array.from({ length: H }, (_, h) => h * L * D).flatMap((head, h) =>
      someOf(L, h).map((query) => {
        const start = head + query * D;
        return [start, attend(inputs, start, head, visibleKeys(one, query), D)];
      }),
    );
  },
  attentionBackward: attentionGradients,
  attentionGradients,
  decode({ H, G, D, cached }, inputs) {
    const keys = cached + 1;
    return Array.from({ length: H }, (_, h) => {
      const head = Math.floor(h / (H / G)) * keys * D;
      return [h * D, attend(inputs, h * D, head, [0, keys], D)];
    });
  },
  linear({ L, inputs, outputs, activation }, { x, weight, bias }) {
    return someOf(L, 1).map((row) => {
      const sums = project(x, row * inputs, weight, bias, inputs, outputs);
      return [row * outputs, activation === "gelu" ? sums.map(gelu) : sums];
    });
  },
  multiHead({ L, E, H }, { x, inProjWeight, inProjBias, outProjWeight, outProjBias }) {
    const size = E / H;
    const [q, k, v] = [0, 1, 2].map((part) => {
      const heads = new Float64Array(L * E); // [H, L, size]
      for (let row = 0; row < L; ++row) {
        const projected = project(x, row * E, inProjWeight, inProjBias, E, E, part * E);
        for (let h = 0; h < H; ++h)
          heads.set(projected.subarray(h * size, (h + 1) * size), (h * L + row) * size);
      }
      return heads;
    });
    return someOf(L, 1).map((row) => {
      const joined = new Float64Array(E);
      for (let h = 0; h < H; ++h) {
        const head = h * L * size;
        joined.set(attend({ q, k, v }, head + row * size, head, [0, L], size), h * size);
      }
      return [row * E, project(joined, 0, outProjWeight, outProjBias, E, E)];
    });
  },
  language: languageLogits,
  decoder: decoderLogits,
  encoder: encoderStates,
  trainingStep: (one, inputs) => trainingLosses(one, inputs).map((loss, step) => [step, [loss]]),
  nonLocalMeans: (one, inputs) =>
    someOf(one.H, 1).map((row) => [row * one.W, nonLocalMeans(one, inputs, row, row + 1)]),
};

/** Some rows of the right answer, for `errorOf`. */
export const expectedRows = (one, inputs) => expected[one.kind](one, inputs);

/**
 * The largest relative error of a row, |answer - expected| / |expected| in the Euclidean norm; NaN
 * if the answer has a NaN.
 */
export function errorOf(rows, answer) {
  let largest = 0;
  for (const [start, row] of rows) {
    let [difference, size] = [0, 0];
    row.forEach((value, i) => {
      difference += (answer[start + i] - value) ** 2;
      size += value ** 2;
    });
    largest = Math.max(largest, Math.sqrt(difference / size));
  }
  return largest;
}
