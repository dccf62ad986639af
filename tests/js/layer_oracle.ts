// Layers in double precision, written directly from their papers. Parameters have the names of a state
// dict. Tests compare modules with them.

import {
  activations,
  attention,
  joinHeads,
  linear as linearOf,
  splitHeads,
  type Values,
} from "./oracle.js";

/** Parameters by name. A prefix selects the parameters of one layer. */
export class Parameters {
  readonly #all: Readonly<Record<string, Values>>;
  readonly #prefix: string;

  constructor(all: Readonly<Record<string, Values>>, prefix = "") {
    this.#all = all;
    this.#prefix = prefix;
  }

  of(layer: string): Parameters {
    return new Parameters(this.#all, `${this.#prefix}${layer}.`);
  }

  find(name: string): Values | undefined {
    return this.#all[this.#prefix + name];
  }

  get(name: string): Values {
    const found = this.find(name);
    if (found === undefined) throw new Error(`there is no ${this.#prefix}${name}`);
    return found;
  }
}

export function linear(p: Parameters, x: Values): Values {
  const weight = p.get("weight");
  const shape = [...x.shape.slice(0, -1), weight.shape[0] as number];
  return { data: linearOf(x, weight, p.find("bias")?.data), shape };
}

export const add = (a: Values, b: Values): Values => ({
  data: Array.from(a.data, (value, i) => value + (b.data[i] as number)),
  shape: a.shape,
});

export const multiply = (a: Values, b: Values): Values => ({
  data: Array.from(a.data, (value, i) => value * (b.data[i] as number)),
  shape: a.shape,
});

export const map = (x: Values, f: (value: number) => number): Values => ({
  data: Array.from(x.data, f),
  shape: x.shape,
});

/** Applies a function to each row of the last axis. */
export function mapRows(x: Values, f: (row: number[]) => number[]): Values {
  const size = x.shape.at(-1) as number;
  const rows = Array.from({ length: x.data.length / size }, (_, r) =>
    f(Array.from({ length: size }, (_, c) => x.data[r * size + c] as number)),
  );
  return { data: rows.flat(), shape: x.shape };
}

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

export function layerNorm(p: Parameters, x: Values, eps = 1e-5): Values {
  const [weight, bias] = [p.find("weight")?.data, p.find("bias")?.data];
  return mapRows(x, (row) => {
    const middle = mean(row);
    const deviation = Math.sqrt(mean(row.map((value) => (value - middle) ** 2)) + eps);
    return row.map(
      (value, c) => ((value - middle) / deviation) * (weight?.[c] ?? 1) + (bias?.[c] ?? 0),
    );
  });
}

export function rmsNorm(p: Parameters, x: Values, eps: number): Values {
  const weight = p.find("weight")?.data;
  return mapRows(x, (row) => {
    const root = Math.sqrt(mean(row.map((value) => value * value)) + eps);
    return row.map((value, c) => (value / root) * (weight?.[c] ?? 1));
  });
}

export interface Masks {
  isCausal?: boolean;
  /** [B, S], 1 where a key may be seen, else 0. */
  keyMask?: Values;
  /** As in attention, instead of keyMask. */
  mask?: Values & { isBool: boolean };
}

/** Computes multi-head attention from its parts (Vaswani et al., 2017, section 3.2.2). */
export function multiHead(
  p: Parameters,
  heads: number,
  [query, key, value]: readonly [Values, Values, Values],
  { isCausal = false, keyMask, mask: own }: Masks = {},
): { output: Values; weights: Values } {
  const [B, L, E] = query.shape as [number, number, number];
  const S = key.shape[1] as number;
  const joint = p.find("in_proj_weight");
  const bias = p.find("in_proj_bias");
  const project = (x: Values, name: string, part: number): Values => {
    const size = x.shape.at(-1) as number;
    const rows = joint && Array.from(joint.data).slice(part * E * size, (part + 1) * E * size);
    const weight = rows ? { data: rows, shape: [E, size] } : p.get(`${name}_proj_weight`);
    const ownBias = bias && Array.from(bias.data).slice(part * E, (part + 1) * E);
    return splitHeads(
      { data: linearOf(x, weight, ownBias), shape: [...x.shape.slice(0, 2), E] },
      heads,
    );
  };
  const mask = keyMask ? { data: keyMask.data, shape: [B, 1, 1, S], isBool: true } : own;
  const answer = attention({
    q: project(query, "q", 0),
    k: project(key, "k", 1),
    v: project(value, "v", 2),
    isCausal,
    ...(mask && { mask }),
  });
  const joined = joinHeads({ data: answer.output, shape: [B, heads, L, E / heads] });
  return {
    output: linear(p.of("out_proj"), joined),
    weights: { data: answer.weights, shape: [B, heads, L, S] },
  };
}

export interface Turn {
  style?: "half" | "interleaved";
  rotarySize?: number;
  /** The angle of pair c in row i of batch entry b. */
  angle: (b: number, i: number, c: number) => number;
}

/** Rotates pairs of the first `rotarySize` entries of each row of x [B, H, L, D] (Su et al., 2021). */
export function rotated({ data, shape }: Values, { style = "half", angle, ...turn }: Turn): Values {
  const [B, H, L, D] = shape as [number, number, number, number];
  const { rotarySize = D } = turn;
  const y = Array.from(data);
  for (let row = 0; row < B * H * L; ++row) {
    for (let c = 0; c < rotarySize / 2; ++c) {
      const first = row * D + (style === "half" ? c : 2 * c);
      const second = style === "half" ? first + rotarySize / 2 : first + 1;
      const turned = angle(Math.floor(row / (H * L)), row % L, c);
      const [x0, x1] = [data[first] as number, data[second] as number];
      y[first] = x0 * Math.cos(turned) - x1 * Math.sin(turned);
      y[second] = x0 * Math.sin(turned) + x1 * Math.cos(turned);
    }
  }
  return { data: y, shape };
}

export interface LinearQuestion {
  /** [B, H, L, D], [B, G, L, D], [B, G, L, Dv] */
  q: Values;
  k: Values;
  v: Values;
  scale?: number;
  /** [B, G, L, 1] or [B, G, L, D] */
  decay?: Values;
  /** [B, G, L, 1] */
  beta?: Values;
  /** [B, G, D, Dv] */
  pastState?: Values;
}

/** The recurrence of linear attention. For each token: decay the state, write to it, read from it. */
export function linearAttention(question: LinearQuestion): { output: number[]; state: number[] } {
  const { q, k, v, decay, beta, pastState } = question;
  const [B, H, L, D] = q.shape as [number, number, number, number];
  const [G, Dv] = [k.shape[1], v.shape[3]] as [number, number];
  const scale = question.scale ?? 1 / Math.sqrt(D);
  const output = new Array<number>(B * H * L * Dv).fill(0);
  const states: number[] = [];
  const range = (n: number) => Array.from({ length: n }, (_, i) => i);
  for (const bg of range(B * G)) {
    const row = ({ data }: Values, t: number, size: number) =>
      range(size).map((i) => data[(bg * L + t) * size + i] as number);
    const state = range(D).map((d) =>
      range(Dv).map((c) => (pastState?.data[(bg * D + d) * Dv + c] ?? 0) as number),
    );
    for (const t of range(L)) {
      const [key, value] = [row(k, t, D), row(v, t, Dv)];
      if (decay) {
        const size = decay.shape[3] as number;
        const logs = row(decay, t, size);
        state.forEach((s, d) => {
          for (const c of range(Dv)) s[c] = (s[c] as number) * Math.exp(logs[d % size] as number);
        });
      }
      const read = (x: number[], c: number) =>
        x.reduce((sum, number, d) => sum + number * (state[d]?.[c] as number), 0);
      const written = value.map((number, c) =>
        beta ? (row(beta, t, 1)[0] as number) * (number - read(key, c)) : number,
      );
      state.forEach((s, d) => {
        for (const c of range(Dv))
          s[c] = (s[c] as number) + (key[d] as number) * (written[c] as number);
      });
      const group = H / G;
      for (const h of range(group)) {
        const head = Math.floor(bg / G) * H + (bg % G) * group + h;
        const at = head * L + t;
        const query = range(D).map((d) => q.data[at * D + d] as number);
        for (const c of range(Dv)) output[at * Dv + c] = scale * read(query, c);
      }
    }
    states.push(...state.flat());
  }
  return { output, state: states };
}

export interface LayerKind {
  heads: number;
  activation?: "relu" | "gelu";
  normFirst?: boolean;
}

/** A part of a layer, under the names of nn.SublayerParts; `weights` of an attention, `units` of a network. */
export interface Sublayer {
  before: Values;
  input: Values;
  added: Values;
  after: Values;
  weights?: Values;
  units?: Values;
}

export type Sublayers = Record<"selfAttn" | "feedForward", Sublayer> & { multiheadAttn?: Sublayer };

function residual(
  kind: LayerKind,
  p: Parameters,
  before: Values,
  part: (x: Values) => { output: Values; weights?: Values; units?: Values },
): Sublayer {
  const input = kind.normFirst ? layerNorm(p, before) : before;
  const { output: added, ...more } = part(input);
  const sum = add(before, added);
  return { before, input, added, after: kind.normFirst ? sum : layerNorm(p, sum), ...more };
}

function feedForward(kind: LayerKind, p: Parameters, x: Values) {
  const units = map(linear(p.of("linear1"), x), activations[kind.activation ?? "relu"]);
  return { output: linear(p.of("linear2"), units), units };
}

export function encoderParts(p: Parameters, kind: LayerKind, src: Values, masks: Masks): Sublayers {
  const selfAttn = residual(kind, p.of("norm1"), src, (x) =>
    multiHead(p.of("self_attn"), kind.heads, [x, x, x], masks),
  );
  const rest = (x: Values) => feedForward(kind, p, x);
  return { selfAttn, feedForward: residual(kind, p.of("norm2"), selfAttn.after, rest) };
}

export function encoderLayer(p: Parameters, kind: LayerKind, src: Values, masks: Masks): Values {
  return encoderParts(p, kind, src, masks).feedForward.after;
}

export function decoderParts(
  p: Parameters,
  kind: LayerKind,
  [tgt, memory]: readonly [Values, Values],
  own: Masks,
  others: Masks,
): Sublayers {
  const { heads } = kind;
  const selfAttn = residual(kind, p.of("norm1"), tgt, (x) =>
    multiHead(p.of("self_attn"), heads, [x, x, x], own),
  );
  const multiheadAttn = residual(kind, p.of("norm2"), selfAttn.after, (x) =>
    multiHead(p.of("multihead_attn"), heads, [x, memory, memory], others),
  );
  const rest = (x: Values) => feedForward(kind, p, x);
  const last = residual(kind, p.of("norm3"), multiheadAttn.after, rest);
  return { selfAttn, multiheadAttn, feedForward: last };
}

export function decoderLayer(
  p: Parameters,
  kind: LayerKind,
  inputs: readonly [Values, Values],
  own: Masks,
  others: Masks,
): Values {
  return decoderParts(p, kind, inputs, own, others).feedForward.after;
}

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

/** Computes one layer of a gated recurrent unit (Cho et al., 2014), as torch.nn.GRU does. */
export function gruLayer(
  p: Parameters,
  layer: number,
  x: Values,
  before: readonly number[] | undefined,
  lengths?: readonly number[],
): { output: Values; state: number[] } {
  const [B, L, I] = x.shape as [number, number, number];
  const hidden = p.get(`weight_hh_l${layer}`).shape[1] as number;
  const at = (kind: string, row: Values) =>
    linearOf(row, p.get(`weight_${kind}_l${layer}`), p.find(`bias_${kind}_l${layer}`)?.data);
  const output: number[] = [];
  const state: number[] = [];
  for (let b = 0; b < B; ++b) {
    let h = Array.from({ length: hidden }, (_, c) => before?.[b * hidden + c] ?? 0);
    for (let t = 0; t < L; ++t) {
      if (t >= (lengths?.[b] ?? L)) {
        output.push(...h.map(() => 0));
        continue;
      }
      const begin = (b * L + t) * I;
      const row = { data: Array.from(x.data).slice(begin, begin + I), shape: [1, I] };
      const [i, s] = [at("ih", row), at("hh", { data: h, shape: [1, hidden] })];
      h = h.map((value, c) => {
        const gate = (n: number) =>
          [i[n * hidden + c] as number, s[n * hidden + c] as number] as const;
        const r = sigmoid(gate(0)[0] + gate(0)[1]);
        const z = sigmoid(gate(1)[0] + gate(1)[1]);
        const n = Math.tanh(gate(2)[0] + r * gate(2)[1]);
        return (1 - z) * n + z * value;
      });
      output.push(...h);
    }
    state.push(...h);
  }
  return { output: { data: output, shape: [B, L, hidden] }, state };
}

/** Computes attention with any score function of a query and a key, each an array of numbers. */
export function scored(
  score: (query: number[], key: number[]) => number,
  [query, keys, values]: readonly [Values, Values, Values],
  keyMask?: Values,
): { output: Values; weights: Values } {
  const [B, L] = query.shape as [number, number, number];
  const [, S] = keys.shape as [number, number, number];
  const Dv = values.shape[2] as number;
  const rowOf = (x: Values, row: number) => {
    const size = x.shape[2] as number;
    return Array.from(x.data).slice(row * size, (row + 1) * size);
  };
  const output: number[] = [];
  const weights: number[] = [];
  for (let b = 0; b < B; ++b) {
    for (let i = 0; i < L; ++i) {
      const e = Array.from({ length: S }, (_, j) =>
        keyMask?.data[b * S + j] === 0
          ? 0
          : Math.exp(score(rowOf(query, b * L + i), rowOf(keys, b * S + j))),
      );
      const sum = e.reduce((total, value) => total + value, 0);
      const row = e.map((value) => value / sum);
      weights.push(...row);
      for (let c = 0; c < Dv; ++c)
        output.push(
          row.reduce((total, w, j) => total + w * (rowOf(values, b * S + j)[c] as number), 0),
        );
    }
  }
  return {
    output: { data: output, shape: [B, L, Dv] },
    weights: { data: weights, shape: [B, L, S] },
  };
}

export const softmax = (row: number[]): number[] => {
  const most = Math.max(...row);
  const powers = row.map((x) => Math.exp(x - most));
  const total = powers.reduce((sum, x) => sum + x, 0);
  return powers.map((x) => x / total);
};
