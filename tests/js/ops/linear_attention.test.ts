// Linear attention, compared with its recurrence in double precision.

import type { Heed, LinearAttentionOptions } from "heed";
import { expect, test } from "vitest";
import { floats } from "../compare.js";
import { describeEngines } from "../engine.js";
import { type LinearQuestion, linearAttention } from "../layer_oracle.js";
import { joinHeads, rowsOf, type Values } from "../oracle.js";
import { expectClose, expectSameBits, Random } from "../values.js";

type Rule = NonNullable<LinearAttentionOptions["rule"]>;
const rules: Rule[] = ["linear", "gated", "delta", "gatedDelta"];

const [B, H, G, L, D, Dv] = [2, 4, 2, 37, 8, 6];

/** Returns the inputs of a rule, with decays below 1 and betas between 0 and 1. */
function ask(random: Random, rule: Rule, isSingle = true): LinearQuestion {
  const question: LinearQuestion = {
    q: random.array([B, H, L, D]),
    k: random.array([B, G, L, D], 0.5),
    v: random.array([B, G, L, Dv]),
  };
  const negative = ({ data, shape }: Values) => ({
    data: Float32Array.from(data, (x) => -Math.abs(x)),
    shape,
  });
  const positive = ({ data, shape }: Values) => ({
    data: Float32Array.from(data, Math.abs),
    shape,
  });
  if (/gated/.test(rule))
    question.decay = negative(random.array(isSingle ? [B, G, L] : [B, G, L, D], 0.5));
  if (/elta/.test(rule)) question.beta = positive(random.array([B, G, L]));
  return question;
}

function optionsOf(heed: Heed, rule: Rule, question: LinearQuestion): LinearAttentionOptions {
  const { scale, decay, beta, pastState } = question;
  return {
    rule,
    ...(scale !== undefined && { scale }),
    ...(decay && { decay: floats(heed, decay) }),
    ...(beta && { beta: floats(heed, beta) }),
    ...(pastState && { pastState: floats(heed, pastState) }),
  };
}

describeEngines((heed) => {
  function expectAsRecurrence(rule: Rule, question: LinearQuestion): void {
    heed().scope(() => {
      const { q, k, v } = question;
      const options = optionsOf(heed(), rule, question);
      const tensors = [floats(heed(), q), floats(heed(), k), floats(heed(), v)] as const;
      const { output, presentState } = heed().linearAttention(...tensors, options);
      const answer = linearAttention(question);
      expectClose(output, [B, H, L, Dv], answer.output);
      expectClose(presentState, [B, G, D, Dv], answer.state);
    });
  }

  test.each(rules)("%s gives what its recurrence gives, from no state and from one", (rule) => {
    const random = new Random(91);
    for (const isSingle of [true, false]) {
      const question = ask(random, rule, isSingle);
      expectAsRecurrence(rule, question);
      expectAsRecurrence(rule, { ...question, pastState: random.array([B, G, D, Dv]), scale: 0.7 });
    }
  });

  test.each(rules)(
    "%s takes [B, L, H*D] too, with one decay for a head or for each row",
    (rule) => {
      const random = new Random(92);
      for (const isSingle of [true, false]) {
        const question = ask(random, rule, isSingle);
        const { q, k, v, decay, beta } = question;
        const joined = (x: Values) => {
          const isPlain = x.shape.length === 3;
          const whole = isPlain ? { data: x.data, shape: [...x.shape, 1] } : x;
          return floats(heed(), joinHeads(whole));
        };
        heed().scope(() => {
          const { output, presentState } = heed().linearAttention(joined(q), joined(k), joined(v), {
            ...{ rule, heads: H, kvHeads: G },
            ...(decay && { decay: joined(decay) }),
            ...(beta && { beta: joined(beta) }),
          });
          const answer = linearAttention(question);
          const wanted = joinHeads({ data: answer.output, shape: [B, H, L, Dv] });
          expectClose(output, [B, L, H * Dv], wanted.data);
          expectClose(presentState, [B, G, D, Dv], answer.state);
        });
      }
    },
  );

  test.each(["delta", "gatedDelta"] as const)("%s takes one rate for all heads", (rule) => {
    const question = ask(new Random(97), rule);
    const { q, k, v, decay, beta } = question;
    // Shape [B, 1, L], and the same values repeated for each head.
    const one = ({ data }: Values): Values => ({
      data: Array.from({ length: B }, (_, b) =>
        Array.from(data).slice(b * G * L, b * G * L + L),
      ).flat(),
      shape: [B, 1, L],
    });
    const repeated = (x: Values): Values => ({
      data: Array.from({ length: B * G }, (_, bg) => {
        const b = Math.floor(bg / G);
        return Array.from(x.data).slice(b * L, (b + 1) * L);
      }).flat(),
      shape: [B, G, L],
    });
    const shared = { ...(decay && { decay: one(decay) }), ...(beta && { beta: one(beta) }) };
    const answer = linearAttention({
      ...{ q, k, v },
      ...(shared.decay && { decay: repeated(shared.decay) }),
      ...(shared.beta && { beta: repeated(shared.beta) }),
    });
    heed().scope(() => {
      const options = optionsOf(heed(), rule, { q, k, v, ...shared });
      const tensors = [floats(heed(), q), floats(heed(), k), floats(heed(), v)] as const;
      const { output, presentState } = heed().linearAttention(...tensors, options);
      expectClose(output, [B, H, L, Dv], answer.output);
      expectClose(presentState, [B, G, D, Dv], answer.state);
      // ONNX's form: rates [B, L, 1] with values [B, L, H*D]. The array of one head is the same.
      const joined = (x: Values) => floats(heed(), joinHeads(x));
      const single = (x: Values) => floats(heed(), { data: x.data, shape: [B, L, 1] });
      const packed = heed().linearAttention(joined(q), joined(k), joined(v), {
        ...{ rule, heads: H, kvHeads: G },
        ...(shared.decay && { decay: single(shared.decay) }),
        ...(shared.beta && { beta: single(shared.beta) }),
      });
      const wanted = joinHeads({ data: answer.output, shape: [B, H, L, Dv] });
      expectClose(packed.output, [B, L, H * Dv], wanted.data);
      expectClose(packed.presentState, [B, G, D, Dv], answer.state);
    });
  });

  test.each(rules)("%s token by token, state handed on, gives the same bits as at once", (rule) => {
    const question = ask(new Random(93), rule);
    heed().scope(() => {
      const { q, k, v } = question;
      const tensors = [floats(heed(), q), floats(heed(), k), floats(heed(), v)] as const;
      const whole = heed().linearAttention(...tensors, optionsOf(heed(), rule, question));
      const output = { data: whole.output.data.slice(), shape: whole.output.shape };
      let pastState: Values | undefined;
      for (const [from, to] of [
        [0, 1],
        [1, 20],
        [20, L],
      ] as const) {
        // biome-ignore format: one line
        const part = (x: Values) => {
          const isPlain = x.shape.length === 3;
          const rows = rowsOf(isPlain ? { data: x.data, shape: [...x.shape, 1] } : x, from, to);
          return isPlain ? { data: rows.data, shape: rows.shape.slice(0, 3) } : rows;
        };
        const piece: LinearQuestion = { q: part(q), k: part(k), v: part(v) };
        if (question.decay) piece.decay = part(question.decay);
        if (question.beta) piece.beta = part(question.beta);
        if (pastState) piece.pastState = pastState;
        const inputs = [
          floats(heed(), piece.q),
          floats(heed(), piece.k),
          floats(heed(), piece.v),
        ] as const;
        const step = heed().linearAttention(...inputs, optionsOf(heed(), rule, piece));
        expectSameBits(step.output.data, Float32Array.from(rowsOf(output, from, to).data));
        pastState = { data: step.presentState.data.slice(), shape: [B, G, D, Dv] };
      }
      expectSameBits(whole.presentState.data, pastState?.data as Float32Array);
    });
  });

  test("the linear rule is causal attention whose weights are the scores", () => {
    const question = ask(new Random(94), "linear");
    heed().scope(() => {
      const [q, k, v] = [
        floats(heed(), question.q),
        floats(heed(), question.k),
        floats(heed(), question.v),
      ];
      const { output } = heed().linearAttention(q, k, v);
      const { capture } = heed().attention(q, k, v, { capture: "scores" });
      const scores = capture.data.slice();
      const sums = output.data.map((_, at) => {
        const [c, i] = [at % Dv, Math.floor(at / Dv) % L];
        const bh = Math.floor(at / (Dv * L));
        const bg = Math.floor(bh / (H / G));
        let sum = 0;
        for (let j = 0; j <= i; ++j)
          sum +=
            (scores[(bh * L + i) * L + j] as number) *
            (question.v.data[(bg * L + j) * Dv + c] as number);
        return sum;
      });
      expectClose(output, [B, H, L, Dv], sums);
    });
  });

  test("the delta rule with a beta of 1 replaces the value of a key", () => {
    heed().scope(() => {
      const [q, k] = [heed().tensor([[[[1, 0], [1, 0]]]]), heed().tensor([[[[1, 0], [1, 0]]]])]; // biome-ignore format: one line
      const v = heed().tensor([[[[5], [7]]]]);
      const beta = heed().tensor([[[1, 1]]]);
      const { output } = heed().linearAttention(q, k, v, { rule: "delta", beta, scale: 1 });
      expect(output.toArray()).toEqual([[[[5], [7]]]]);
      const sum = heed().linearAttention(q, k, v, { scale: 1 });
      expect(sum.output.toArray()).toEqual([[[[5], [12]]]]);
    });
  });

  test("a call without tokens leaves the state unchanged", () => {
    heed().scope(() => {
      const nothing = (size: number) => heed().tensor(new Float32Array(), [1, 1, 0, size]);
      const pastState = heed().tensor([[[[1, 2, 3], [4, 5, 6]]]]); // biome-ignore format: one line
      const result = heed().linearAttention(nothing(2), nothing(2), nothing(3), { pastState });
      expect(result.output.shape).toEqual([1, 1, 0, 3]);
      expect(result.presentState.toArray()).toEqual(pastState.toArray());
    });
  });
});
