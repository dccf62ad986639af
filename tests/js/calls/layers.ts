// Random calls of layers, compared with the oracles in double precision.

import * as fc from "fast-check";
import type { Heed } from "heed";
import { floats } from "../compare.js";
import {
  gruLayer,
  layerNorm,
  map,
  Parameters,
  rmsNorm,
  rotated,
  softmax,
} from "../layer_oracle.js";
import { activations, joinHeads, linear, type Values } from "../oracle.js";
import { expectClose, expectSameBits, sizeOf, upload } from "../values.js";
import { at, flag, given, maybe, pick, random, right, seed, sizes, whole } from "./family.js";

const functions = {
  ...activations,
  tanh: Math.tanh,
  sigmoid: (x: number) => 1 / (1 + Math.exp(-x)),
};
const activation = pick("relu", "gelu", "geluTanh", "silu", "tanh", "sigmoid");

export const layers = {
  linear: right(
    fc.record({
      rows: fc.oneof(
        fc.array(whole(0, 100), { maxLength: 1 }),
        fc.array(whole(0, 6), { maxLength: 3 }),
      ),
      ...{ inputs: whole(0, 130), outputs: fc.oneof(whole(0, 70), whole(71, 300)) },
      ...{ hasBias: flag, isPacked: flag, activation: maybe(activation), seed },
    }),
    (heed, { rows, inputs, outputs, hasBias, isPacked, activation, seed }) => {
      const draw = random(seed);
      const [x, weight] = [draw.array([...rows, inputs]), draw.array([outputs, inputs])];
      const count = sizeOf(rows);
      const bias = hasBias ? draw.array([outputs]) : undefined;
      const before: number[] =
        inputs === 0
          ? Array.from({ length: count * outputs }, (_, i) => bias?.data[i % outputs] ?? 0)
          : linear(x, weight, bias?.data);
      const options = given({ bias: bias && upload(heed, bias), activation });
      const w = upload(heed, weight);
      const result = heed.linear(upload(heed, x), isPacked ? heed.packWeights(w) : w, options);
      const wanted = activation ? before.map(functions[activation]) : before;
      expectClose(result, [...rows, outputs], wanted);
    },
  ),

  activate: right(
    fc.record({ shape: sizes(0), name: activation, spread: whole(1, 12), seed }),
    (heed, { shape, name, spread, seed }) => {
      const x = random(seed).array(shape, spread);
      expectClose(heed.activate(upload(heed, x), name), shape, map(x, functions[name]).data);
    },
  ),

  swiglu: right(fc.record({ shape: sizes(0), seed }), (heed, { shape, seed }) => {
    const draw = random(seed);
    const [gate, up] = [draw.array(shape, 5), draw.array(shape)];
    const wanted = Array.from(gate.data, (x, i) => functions.silu(x) * (up.data[i] as number));
    expectClose(heed.swiglu(upload(heed, gate), upload(heed, up)), shape, wanted);
  }),

  norms: right(
    fc.record({
      ...{ rows: sizes(0), size: whole(1, 130), isRms: flag },
      ...{ hasWeight: flag, hasBias: flag, eps: maybe(pick(1e-6, 1e-5, 0.1)), seed },
    }),
    (heed, { rows, size, isRms, hasWeight, hasBias, eps, seed }) => {
      const draw = random(seed);
      const x = draw.array([...rows, size], 3);
      const weight = hasWeight ? draw.array([size]) : undefined;
      const bias = hasBias && !isRms ? draw.array([size]) : undefined;
      const parameters = new Parameters(given({ weight, bias }) as Record<string, Values>);
      const options = given({
        weight: weight && upload(heed, weight),
        bias: bias && upload(heed, bias),
        eps,
      });
      const result = isRms
        ? heed.rmsNorm(upload(heed, x), options)
        : heed.layerNorm(upload(heed, x), options);
      const wanted = isRms ? rmsNorm(parameters, x, eps ?? 1e-6) : layerNorm(parameters, x, eps);
      // A row of one number or of nearly equal ones loses digits in its difference from the mean.
      expectClose(result, x.shape, wanted.data, 2e-4);
    },
  ),

  crossEntropy: right(
    fc.record({
      ...{ rows: whole(1, 9), classes: whole(1, 70), spread: whole(1, 30), seed },
      ...{ isIgnored: flag, labelSmoothing: maybe(pick(0, 0.1, 0.5)) },
      reduction: maybe(pick("mean", "none")),
    }),
    (heed, { rows, classes, spread, isIgnored, labelSmoothing, reduction, seed }) => {
      const draw = random(seed);
      const x = draw.array([rows, classes], spread);
      const targets = Int32Array.from({ length: rows }, (_, r) =>
        isIgnored && r > 0 && draw.next() < 0.3 ? -100 : draw.whole(0, classes - 1),
      );
      const share = labelSmoothing ?? 0;
      const losses = Array.from(targets, (target, r) => {
        if (target === -100) return 0;
        const logs = softmax(Array.from(x.data.subarray(r * classes, (r + 1) * classes))).map(
          Math.log,
        );
        const mean = logs.reduce((sum, log) => sum + log, 0) / classes;
        return -(1 - share) * (logs[target] as number) - share * mean;
      });
      const counted = targets.filter((target) => target !== -100).length;
      const wanted =
        reduction === "none" ? losses : [losses.reduce((sum, loss) => sum + loss, 0) / counted];
      const options = given({
        labelSmoothing,
        reduction,
        ignoreIndex: isIgnored ? -100 : undefined,
      });
      const result = heed.crossEntropy(upload(heed, x), heed.tensor(targets), options);
      expectClose(result, reduction === "none" ? [rows] : [], wanted);
    },
  ),

  embedding: right(
    fc.record({ rows: sizes(0), entries: whole(1, 20), size: whole(0, 40), seed }),
    (heed, { rows, entries, size, seed }) => {
      const draw = random(seed);
      const table = draw.array([entries, size]);
      const ids = Int32Array.from(draw.array(rows).data, () => draw.whole(0, entries - 1));
      const wanted = Array.from(ids).flatMap((id) =>
        Array.from(table.data.subarray(id * size, (id + 1) * size)),
      );
      const result = heed.embedding(heed.tensor(ids, rows), upload(heed, table));
      expectClose(result, [...rows, size], wanted, 0);
    },
  ),

  rope: right(
    fc.record({
      B: whole(1, 2),
      H: whole(1, 3),
      L: whole(0, 9),
      half: whole(1, 32),
      turned: whole(1, 32),
      ...{ style: maybe(pick("half", "interleaved")), base: maybe(pick(100, 10000, 1e6)) },
      ...{ offset: maybe(fc.oneof(whole(-100, 5000), whole(100_000, 131_072))), seed },
      ...{ isJoined: flag, ids: maybe(pick("each", "shared")) },
      table: maybe(pick("positions", "each", "shared")),
    }),
    (heed, { B, H, L, half, turned, style, base, isJoined, table, ...rest }) => {
      const draw = random(rest.seed);
      const D = 2 * half;
      const pairs = Math.min(turned, half);
      const x = draw.array([B, H, L, D]);
      // A table of positions has 60, one of rows needs none.
      const isByRow = table === "each" || table === "shared";
      const offset = table === undefined ? rest.offset : rest.offset && Math.abs(rest.offset) % 50;
      const rows = (kind: "each" | "shared") => [kind === "each" ? B : 1, L];
      const places = rest.ids && !isByRow ? rows(rest.ids) : undefined;
      const ids = places && {
        data: Int32Array.from(draw.array(places).data, () => draw.whole(table ? 0 : -10, 59)),
        shape: places,
      };
      const angles = table && draw.array([...(isByRow ? rows(table) : [60]), pairs], 3);
      const angle = (b: number, i: number, c: number) => {
        if (angles && isByRow) return at(angles, [b, i, c]);
        const position = ids ? at(ids, [b, i]) : i + (offset ?? 0);
        return angles ? at(angles, [position, c]) : position * (base ?? 10000) ** (-c / pairs);
      };
      const rotarySize = 2 * pairs;
      const wanted = rotated(x, { ...given({ style }), rotarySize, angle });
      const [from, to] = isJoined ? [joinHeads(x), joinHeads(wanted)] : [x, wanted];
      const result = heed.rope(floats(heed, from), {
        ...given({ style, rotarySize, base }),
        ...given({ offset: ids || isByRow ? undefined : offset }),
        ...given({ heads: isJoined ? H : undefined, positionIds: ids && upload(heed, ids) }),
        ...(angles && {
          cos: floats(heed, map(angles, Math.cos)),
          sin: floats(heed, map(angles, Math.sin)),
        }),
      });
      expectClose(result, from.shape, to.data, 1e-6);
    },
  ),

  gru: right(
    fc.record({
      ...{ B: whole(1, 3), L: whole(1, 5), inputs: whole(1, 9), hidden: whole(1, 20) },
      ...{ hasBias: flag, hasState: flag, hasLengths: flag, seed },
    }),
    (heed, { B, L, inputs, hidden, hasBias, hasState, hasLengths, seed }) => {
      const draw = random(seed);
      const x = draw.array([B, L, inputs]);
      const all: Record<string, Values & { data: Float32Array }> = {
        weight_ih_l0: draw.array([3 * hidden, inputs]),
        weight_hh_l0: draw.array([3 * hidden, hidden]),
        ...(hasBias && {
          bias_ih_l0: draw.array([3 * hidden]),
          bias_hh_l0: draw.array([3 * hidden]),
        }),
      };
      const state = hasState ? draw.array([B, hidden]) : undefined;
      const lengths = hasLengths ? Array.from({ length: B }, () => draw.whole(1, L)) : undefined;
      const before = state && Array.from(state.data);
      const wanted = gruLayer(new Parameters(all), 0, x, before, lengths);
      const tensors = uploadAll(heed, all);
      const result = heed.gru(
        upload(heed, x),
        {
          weightIh: tensors.weight_ih_l0 as never,
          weightHh: tensors.weight_hh_l0 as never,
          ...given({ biasIh: tensors.bias_ih_l0, biasHh: tensors.bias_hh_l0 }),
        },
        given({ state: state && upload(heed, state), lengths }),
      );
      expectClose(result.output, [B, L, hidden], wanted.output.data);
      expectClose(result.state, [B, hidden], wanted.state);
    },
  ),

  dropout: right(
    fc.record({ shape: sizes(0), rate: pick(0, 0.1, 0.5, 0.9), seed }),
    (heed, { shape, rate, seed }) => {
      const x = random(seed).array(shape);
      const tensor = upload(heed, x);
      const [first, second] = [0, 1].map(() => heed.dropout(tensor, { rate, seed })) as [
        typeof tensor,
        typeof tensor,
      ];
      expectSameBits(second.data, first.data);
      const wanted = Array.from(x.data, (number, i) =>
        first.data[i] === 0 ? 0 : number / (1 - rate),
      );
      expectClose(first, shape, wanted);
    },
  ),

  sample: right(
    fc.record({
      ...{ rows: whole(1, 4), N: whole(1, 60), spread: whole(1, 9), seed },
      temperature: maybe(pick(0, 0.5, 2)),
      topK: maybe(whole(1, 5)),
      topP: maybe(pick(0.1, 0.9, 1)),
    }),
    (heed, { rows, N, spread, seed, ...options }) => {
      const logits = upload(heed, random(seed).array([rows, N], spread));
      const draw = () => heed.sample(logits, { ...given(options), seed });
      const first = draw();
      expectSameBits(draw().data, first.data);
      const isDrawn = (id: number) => Number.isInteger(id) && id >= 0 && id < N;
      if (!Array.from(first.data).every(isDrawn)) throw new Error(`sampled ${first.data} of ${N}`);
      const { indices } = heed.topK(logits, Math.min(options.topK ?? N, N));
      const k = indices.shape[1] as number;
      for (const [r, id] of Array.from(first.data).entries())
        if (!indices.data.subarray(r * k, (r + 1) * k).includes(id))
          throw new Error(`row ${r}: ${id} is not among the ${k} most likely`);
    },
  ),
};

function uploadAll(heed: Heed, all: Readonly<Record<string, Values & { data: Float32Array }>>) {
  return Object.fromEntries(Object.entries(all).map(([name, x]) => [name, upload(heed, x)]));
}
