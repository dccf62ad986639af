// Random calls of attention in all its forms, and of caches, compared with the oracles in double precision.

import * as fc from "fast-check";
import type {
  Heed,
  KvCache,
  KvCacheOptions,
  MultiHeadAttentionParameters,
  PartialAttention,
  Tensor,
} from "heed";
import { Tape } from "heed/nn";
import { expect } from "vitest";
import { CacheModel } from "../cache_model.js";
import { expectAsOracle, floats } from "../compare.js";
import { linearAttention, multiHead, Parameters, scored } from "../layer_oracle.js";
import {
  attention as answerOf,
  joinHeads,
  packedAttention,
  type Question,
  rowsOf,
  type Values,
} from "../oracle.js";
import { expectClose, type Random, upload } from "../values.js";
import { at, flag, given, indices, maybe, pick, random, right, seed, whole } from "./family.js";

const heads = { B: whole(1, 2), G: whole(1, 2), group: whole(1, 3) };
const queries = fc.oneof({ weight: 4, arbitrary: whole(0, 9) }, whole(0, 60));
const keys = fc.oneof({ weight: 4, arbitrary: whole(0, 20) }, whole(0, 300));
const size = fc.oneof({ weight: 4, arbitrary: whole(1, 9) }, whole(1, 70));

/** Which axes of a broadcast array have size 1, and how many are left out. */
const thin = fc.record({
  isOne: fc.array(flag, { minLength: 4, maxLength: 4 }),
  dropped: whole(0, 4),
});
type Thin = { readonly isOne: readonly boolean[]; readonly dropped: number };
const thinned = (shape: readonly number[], { isOne, dropped }: Thin) =>
  shape.map((size, axis) => (isOne[axis] ? 1 : size)).slice(dropped);

const offset = fc.oneof(pick("topLeft", "bottomRight", "each"), whole(-5, 30), whole(-60, 300));
const windowSide = fc.oneof({ weight: 4, arbitrary: whole(-1, 12) }, whole(13, 100));
const tokensBefore = fc.oneof({ weight: 4, arbitrary: whole(0, 9) }, whole(10, 150));

/** An additive mask that hides a part of the keys. */
function added(draw: Random, shape: readonly number[]): Values {
  const mask = draw.array(shape, 2);
  return { data: mask.data.map((x) => (draw.next() < 0.3 ? -Infinity : x)), shape };
}

/** The number of keys of each sequence. */
const lengthsOf = (draw: Random, B: number, S: number) =>
  Array.from({ length: B }, () => draw.whole(0, S));

type CacheOptions = Required<KvCacheOptions>;

/** The longest sequence of all random caches, and the most tokens that one dropped. */
export const reached = { length: 0, dropped: 0 };

export const attention = {
  attention: right(
    fc.record({
      ...{ ...heads, L: queries, S: keys, D: size, Dv: size, seed, spread: pick(1, 3) },
      isCausal: maybe(flag),
      scale: maybe(pick(-1, 0, 0.3, 1)),
      softcap: maybe(pick(0, 2, 30)),
      causalOffset: maybe(offset),
      window: maybe(fc.tuple(windowSide, windowSide)),
      mask: maybe(fc.record({ ...{ isBool: flag }, thin })),
      bias: maybe(thin),
      ...{ hasLengths: flag, hasSlopes: flag, hasSinks: flag, past: maybe(tokensBefore) },
    }),
    (heed, given_) => {
      const { B, G, group, L, S, D, Dv, spread, mask, bias, past, ...rest } = given_;
      const { isCausal, scale, softcap, window } = rest;
      const draw = random(rest.seed);
      const H = G * group;
      const all = S + (past ?? 0);
      const pairs = [B, H, L, all];
      const causalOffset =
        rest.causalOffset === "each"
          ? Array.from({ length: B }, () => draw.whole(-L, all))
          : rest.causalOffset;
      const masked = mask && thinned(pairs, mask.thin);
      // A bias that is added to an additive mask is an error: there is one or the other.
      const hasBias = bias !== undefined && mask?.isBool !== false;
      const question: Question = {
        q: draw.array([B, H, L, D], spread),
        k: draw.array([B, G, S, D], spread),
        v: draw.array([B, G, S, Dv]),
        ...given({
          ...{ isCausal, scale, softcap, causalOffset, window },
          ...(masked && {
            mask: mask?.isBool
              ? { ...draw.bools(masked), isBool: true }
              : { ...added(draw, masked), isBool: false },
          }),
          bias: hasBias ? draw.array(thinned(pairs, bias)) : undefined,
          past:
            past === undefined
              ? undefined
              : { key: draw.array([B, G, past, D], spread), value: draw.array([B, G, past, Dv]) },
          kvLengths: rest.hasLengths ? lengthsOf(draw, B, all) : undefined,
          alibiSlopes: rest.hasSlopes ? draw.array([H]).data : undefined,
          sinks: rest.hasSinks ? draw.array([H], 3).data : undefined,
        }),
      };
      expectAsOracle(heed, question);
    },
  ),

  packed: right(
    fc.record({
      ...{ G: whole(1, 2), group: whole(1, 2), D: size, isCausal: flag, seed },
      lengths: fc.array(fc.tuple(whole(0, 9), whole(0, 20)), { minLength: 1, maxLength: 4 }),
      window: maybe(fc.tuple(whole(-1, 5), whole(-1, 5))),
    }),
    (heed, { G, group, D, isCausal, lengths, window, seed }) => {
      const draw = random(seed);
      const bounds = (of: 0 | 1) => [
        0,
        ...lengths.map((_, n) => lengths.slice(0, n + 1).reduce((sum, one) => sum + one[of], 0)),
      ];
      const cuSeqlens = { q: bounds(0), k: bounds(1) };
      const [Tq, Tk] = [cuSeqlens.q.at(-1) as number, cuSeqlens.k.at(-1) as number];
      const H = G * group;
      const question = {
        q: draw.array([Tq, H, D], 3),
        k: draw.array([Tk, G, D], 3),
        v: draw.array([Tk, G, D]),
        ...{ cuSeqlens, ...given({ isCausal, window }) },
      };
      const answer = packedAttention(question);
      const { q, k, v, ...options } = question;
      const result = heed.attention(upload(heed, q), upload(heed, k), upload(heed, v), {
        ...options,
        needLse: true,
      });
      expectClose(result.output, [Tq, H, D], answer.output);
      expectClose(result.lse, [H, Tq], answer.lse);
    },
  ),

  blockMask: right(
    fc.record({
      ...heads,
      L: queries,
      S: keys,
      D: size,
      step: whole(1, 5),
      reach: whole(0, 40),
      seed,
    }),
    (heed, { B, G, group, L, S, D, step, reach, seed }) => {
      const draw = random(seed);
      const maySee = ({ h, q, k }: { h: number; q: number; k: number }) =>
        (q + k + h) % step === 0 && Math.abs(q - k) <= reach;
      const H = G * group;
      const question = {
        ...{ q: draw.array([B, H, L, D], 3), k: draw.array([B, G, S, D], 3) },
        ...{ v: draw.array([B, G, S, D]), maySee },
      };
      const blockMask = heed.blockMask(maySee, { heads: H, queries: L, keys: S });
      expectAsOracle(heed, question, { blockMask });
    },
  ),

  mergeAttention: right(
    fc.record({ ...heads, L: queries, S: keys, D: size, cut: whole(0, 300), seed }),
    (heed, { B, G, group, L, S, D, cut, seed }) => {
      const draw = random(seed);
      const H = G * group;
      const [q, k, v] = [
        draw.array([B, H, L, D], 3),
        draw.array([B, G, S, D], 3),
        draw.array([B, G, S, D]),
      ];
      const part = (from: number, to: number): PartialAttention => {
        const [keys, values] = [rowsOf(k, from, to), rowsOf(v, from, to)];
        return heed.attention(floats(heed, q), floats(heed, keys), floats(heed, values), {
          needLse: true,
        });
      };
      const middle = Math.min(cut, S);
      const merged = heed.mergeAttention(part(0, middle), part(middle, S));
      const answer = answerOf({ q, k, v });
      expectClose(merged.output, [B, H, L, D], answer.output);
      expectClose(merged.lse, [B, H, L], answer.lse);
    },
  ),

  linearAttention: right(
    fc.record({
      ...{ ...heads, L: whole(0, 40), D: whole(1, 9), Dv: whole(1, 9), seed },
      ...{
        rule: pick("linear", "gated", "delta", "gatedDelta"),
        scale: maybe(pick(-1, 0.7)),
      },
      ...{ isJoined: flag, hasState: flag, decaysByRow: flag, isFlat: flag },
      isOne: fc.array(flag, { minLength: 3, maxLength: 3 }),
    }),
    (heed, { B, G, group, L, D, Dv, rule, scale, isOne, isJoined, ...rest }) => {
      const draw = random(rest.seed);
      const H = G * group;
      /** A rate up to `most` for each head and token, or the same along the axes of size 1: as given, and for each. */
      const rates = (size: number, most: number): { given: Tensor; each: Values } => {
        // Joined rates for each row of the state belong to all heads.
        const isWhole = isJoined && size > 1;
        const sizes = [B, G, L].map((n, axis) => (isOne[axis] && !(isWhole && axis === 1) ? 1 : n));
        const shape = [...sizes, size];
        const x = { data: draw.array(shape).data.map((x) => Math.abs(x) * most), shape };
        const flat = rest.isFlat && size === 1 ? { ...x, shape: sizes } : x;
        const all = [B, G, L, size];
        return {
          given: floats(heed, isJoined ? joinHeads(x) : flat),
          each: { data: indices(all).map((index) => at(x, index)), shape: all },
        };
      };
      // Short keys, and decays below 1, keep the state of order 1.
      const [q, k, v] = [
        draw.array([B, H, L, D]),
        draw.array([B, G, L, D], 1 / Math.sqrt(D)),
        draw.array([B, G, L, Dv]),
      ];
      const decay = /gated/.test(rule) ? rates(rest.decaysByRow ? D : 1, -0.5) : undefined;
      const beta = /elta/.test(rule) ? rates(1, 1) : undefined;
      const pastState = rest.hasState ? draw.array([B, G, D, Dv]) : undefined;
      const wanted = linearAttention({
        ...{ q, k, v },
        ...given({ scale, decay: decay?.each, beta: beta?.each, pastState }),
      });
      const laid = (x: Values) => floats(heed, isJoined ? joinHeads(x) : x);
      const result = heed.linearAttention(laid(q), laid(k), laid(v), {
        ...{ rule, ...given({ scale, decay: decay?.given, beta: beta?.given }) },
        ...(pastState && { pastState: floats(heed, pastState) }),
        ...(isJoined && { heads: H, kvHeads: G }),
      });
      const output = { data: wanted.output, shape: [B, H, L, Dv] };
      const { data, shape } = isJoined ? joinHeads(output) : output;
      expectClose(result.output, shape, data);
      expectClose(result.presentState, [B, G, D, Dv], wanted.state);
    },
  ),

  multiHeadAttention: right(
    fc.record({
      ...{ B: whole(1, 2), L: whole(1, 9), S: whole(1, 12), heads: whole(1, 3), D: whole(1, 8) },
      /** The sizes of keys and values; the projections then have separate weights. */
      others: maybe(fc.tuple(whole(1, 9), whole(1, 9))),
      mask: maybe(fc.record({ ...{ isBool: flag }, thin })),
      ...{ isSelf: flag, isCausal: flag, hasBias: flag, hasKeyMask: flag, isTaped: flag, seed },
      ...{ needWeights: flag, averageWeights: flag },
    }),
    (heed, { B, L, heads, D, others, mask, isCausal, hasBias, ...rest }) => {
      const draw = random(rest.seed);
      const { needWeights, averageWeights } = rest;
      const isSelf = rest.isSelf && others === undefined;
      const S = isSelf ? L : rest.S;
      const E = heads * D;
      const [ofKey, ofValue] = others ?? [E, E];
      const query = draw.array([B, L, E]);
      const key = isSelf ? query : draw.array([B, S, ofKey]);
      const value = isSelf ? query : draw.array([B, S, ofValue]);
      const weights = others
        ? {
            q_proj_weight: draw.array([E, E]),
            k_proj_weight: draw.array([E, ofKey]),
            v_proj_weight: draw.array([E, ofValue]),
          }
        : { in_proj_weight: draw.array([3 * E, E]) };
      const parameters = given({
        ...weights,
        in_proj_bias: hasBias ? draw.array([3 * E]) : undefined,
        "out_proj.weight": draw.array([E, E]),
        "out_proj.bias": hasBias ? draw.array([E]) : undefined,
      });
      const pairs = [B, heads, L, S];
      const masked = mask && thinned(pairs, mask.thin);
      const own = masked && (mask.isBool ? draw.bools(masked, 0.8) : draw.array(masked));
      const keyMask = rest.hasKeyMask ? draw.bools([B, S], 0.8) : undefined;
      /** The number that both masks add to a score. */
      const added = (index: readonly number[]) => {
        const [b, , , j] = index as [number, number, number, number];
        if (keyMask && at(keyMask, [b, j]) === 0) return -Infinity;
        if (own === undefined) return 0;
        return mask?.isBool ? (at(own, index) ? 0 : -Infinity) : at(own, index);
      };
      const wanted = multiHead(
        new Parameters(parameters as Record<string, Values>),
        heads,
        [query, key, value],
        { isCausal, mask: { data: indices(pairs).map(added), shape: pairs, isBool: false } },
      );
      const t = upload(heed, query);
      const run = () =>
        heed.multiHeadAttention(
          t,
          isSelf ? t : upload(heed, key),
          isSelf ? t : upload(heed, value),
          tensorsOf(heed, parameters),
          {
            ...{ heads, isCausal, needWeights, averageWeights },
            ...given({ mask: own && upload(heed, own) }),
            ...given({ keyMask: keyMask && upload(heed, keyMask) }),
          },
        );
      // While a tape records, the operation is computed in steps that have gradients.
      const result = rest.isTaped ? new Tape([t]).run(run) : run();
      expectClose(result.output, [B, L, E], wanted.output.data);
      const { weights: seen } = result;
      if (!needWeights || seen === undefined)
        expect([needWeights, seen]).toEqual([false, undefined]);
      else if (averageWeights) expectClose(seen, [B, L, S], meanOf(wanted.weights));
      else expectClose(seen, pairs, wanted.weights.data);
    },
  ),

  recurrent: right(
    fc.record({
      kind: pick("dot", "general", "additive"),
      B: whole(1, 2),
      L: whole(1, 5),
      S: whole(1, 12),
      ...{ D: whole(1, 9), Dv: whole(1, 9), seed },
    }),
    (heed, { kind, B, L, S, D, Dv, seed }) => {
      const draw = random(seed);
      const [query, keys, values] = [
        draw.array([B, L, D]),
        draw.array([B, S, D]),
        draw.array([B, S, Dv]),
      ];
      const [weight, other, v] = [draw.array([D, D]), draw.array([D, D]), draw.array([D])];
      const dot = (a: readonly number[], b: ArrayLike<number>) =>
        a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);
      const times = (w: Values, x: readonly number[]) =>
        x.map((_, row) => dot(x, Array.from(w.data).slice(row * D, (row + 1) * D)));
      const scores = {
        dot,
        general: (q: number[], k: number[]) => dot(q, times(weight, k)),
        additive: (q: number[], k: number[]) => {
          const [a, b] = [times(weight, q), times(other, k)];
          return dot(
            a.map((x, i) => Math.tanh(x + (b[i] as number))),
            v.data,
          );
        },
      };
      const [a, b, c] = [upload(heed, query), upload(heed, keys), upload(heed, values)];
      const w = upload(heed, weight);
      const result =
        kind === "additive"
          ? heed.additiveAttention(a, b, c, {
              ...{ queryWeight: w, keyWeight: upload(heed, other), scoreWeight: upload(heed, v) },
            })
          : heed.luongAttention(a, b, c, { score: kind, ...(kind === "general" && { weight: w }) });
      const wanted = scored(scores[kind], [query, keys, values]);
      expectClose(result.output, [B, L, Dv], wanted.output.data);
      expectClose(result.weights, [B, L, S], wanted.weights.data);
    },
  ),

  average: right(
    fc.record({
      ...{ B: whole(1, 2), L: whole(1, 12), D: whole(1, 9) },
      ...{ isCausal: flag, hasKeyMask: flag, isSimilar: flag, seed },
    }),
    (heed, { B, L, D, isCausal, hasKeyMask, isSimilar, seed }) => {
      const draw = random(seed);
      const x = draw.array([B, L, D]);
      const one = { data: x.data, shape: [B, 1, L, D] };
      const t = upload(heed, x);
      const qkv = { q: one, k: one, v: one };
      if (isSimilar) {
        const wanted = answerOf({ ...qkv, scale: 1 });
        const { output, weights } = heed.selfSimilarity(t);
        expectClose(output, [B, L, D], wanted.output);
        expectClose(weights, [B, L, L], wanted.weights);
        return;
      }
      const keyMask = hasKeyMask ? draw.bools([B, L]) : undefined;
      const mask = keyMask && { data: keyMask.data, shape: [B, 1, 1, L], isBool: true };
      const wanted = answerOf({ ...qkv, scale: 0, isCausal, ...given({ mask }) });
      const options = given({ isCausal, keyMask: keyMask && upload(heed, keyMask) });
      expectClose(heed.average(t, options), [B, L, D], wanted.output);
    },
  ),

  kernelRegression: right(
    fc.record({ Q: whole(1, 9), N: whole(1, 20), M: whole(1, 3), width: pick(0.2, 1, 5), seed }),
    (heed, { Q, N, M, width, seed }) => {
      const draw = random(seed);
      const [query, train, y] = [draw.array([Q]), draw.array([N]), draw.array([N, M])];
      const wanted = Array.from(query.data).flatMap((at) => {
        const powers = Array.from(train.data, (x) => Math.exp(-0.5 * ((at - x) / width) ** 2));
        const total = powers.reduce((sum, p) => sum + p, 0);
        return Array.from({ length: M }, (_, m) =>
          powers.reduce((sum, p, n) => sum + (p / total) * (y.data[n * M + m] as number), 0),
        );
      });
      const [a, b, c] = [upload(heed, query), upload(heed, train), upload(heed, y)];
      const { output } = heed.kernelRegression(a, b, c, heed.tensor([width]));
      expectClose(output, [Q, M], wanted);
    },
  ),

  cache: right(
    fc.record({
      ...{ batch: whole(1, 3), heads: whole(1, 2), headSize: whole(1, 20), valueSize: whole(1, 9) },
      ...{ capacity: pick(8, 60, 140, 400), dtype: pick("float32", "float16", "int8") },
      ...{ isRolling: flag, seed },
      acts: fc.array(
        fc.record({
          kind: pick("step", "step", "step", "append", "rewind", "share", "reorder"),
          size: fc.oneof(whole(0, 9), whole(10, 90)),
        }),
        { minLength: 1, maxLength: 20, size: "max" },
      ),
    }),
    (heed, { acts, seed, ...options }) => {
      const draw = random(seed);
      const { batch, capacity, isRolling } = options;
      const cache = heed.createKvCache(options);
      const model = new CacheModel(options);
      const one = () => draw.whole(0, batch - 1);
      for (const { kind, size } of acts) {
        if (kind === "step" || kind === "append") {
          const rooms = model.now().map(({ length }) => (isRolling ? size : capacity - length));
          const counts = rooms.map((room) =>
            draw.next() < 0.7 ? Math.min(size, room) : draw.whole(0, Math.min(size, room)),
          );
          extend(heed, { cache, model, options }, draw, { size, counts, attends: kind === "step" });
        } else if (kind === "rewind") {
          const b = one();
          const tokens = Math.min(size, model.heldBy(b));
          cache.rewind(tokens, b);
          model.rewind(b, tokens);
        } else if (kind === "share") {
          const [from, to] = [one(), one()];
          const { first, length } = model.now()[from] as { first: number; length: number };
          // A sequence that dropped its first token cannot be shared.
          if (first > 0) continue;
          const tokens = draw.pick(Math.min(size, length), draw.whole(0, length));
          cache.share({ from, to, tokens });
          model.share(from, to, tokens);
        } else {
          const order = Array.from({ length: batch }, one);
          cache.reorder(order);
          model.reorder(order);
        }
        model.expectSameSizes(cache);
        reached.length = Math.max(reached.length, ...cache.lengths);
        reached.dropped = Math.max(reached.dropped, ...cache.firsts);
      }
    },
  ),
};

/** Appends random tokens, of which each sequence takes its count, and attends from as many queries or from one or two. */
function extend(
  heed: Heed,
  { cache, model, options }: { cache: KvCache; model: CacheModel; options: CacheOptions },
  draw: Random,
  { size, counts, attends }: { size: number; counts: readonly number[]; attends: boolean },
): void {
  const { batch, heads, headSize, valueSize, dtype } = options;
  const k = draw.array([batch, heads, size, headSize], 2);
  const v = draw.array([batch, heads, size, valueSize]);
  if (!attends) {
    heed.scope(() => cache.append(floats(heed, k), floats(heed, v), counts));
    model.append(heed, k, v, counts);
    return;
  }
  const q = draw.array([batch, 2 * heads, draw.pick(size, 1, 2), headSize], 2);
  // With int8, steps of few queries round the queries and the weights to 16 bits.
  const tolerance = dtype === "int8" ? 1e-3 : undefined;
  model.expectSameStep(heed, cache, { q, k, v, counts }, tolerance);
}

/** The parameters of multi-head attention under the names of the engine. */
function tensorsOf(
  heed: Heed,
  parameters: Readonly<Record<string, Values>>,
): MultiHeadAttentionParameters {
  const entries = Object.entries(parameters).map(([name, values]) => [
    name.replace(/[_.]([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    floats(heed, values),
  ]);
  return Object.fromEntries(entries);
}

/** The mean over heads of weights [B, H, L, S]. */
function meanOf({ data, shape }: Values): number[] {
  const [B, H, L, S] = shape as [number, number, number, number];
  return indices([B, L, S]).map(([b = 0, i = 0, j = 0]) => {
    const all = Array.from({ length: H }, (_, h) => data[((b * H + h) * L + i) * S + j] as number);
    return all.reduce((sum, weight) => sum + weight, 0) / H;
  });
}
