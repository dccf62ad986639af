// <heed-steps> without a page: its numbers compared with the reference, and its picture as a function of time.

import { describe, expect, test } from "vitest";
import { indexIn } from "../../../dist/view/parts/story.js";
import { viewOn } from "../../../dist/view/picture/view.js";
import { type AttentionQuestion, attend } from "../../../dist/view/steps/attend.js";
import { headOf, rowToShow } from "../../../dist/view/steps/question.js";
import {
  durationOf,
  explainCell,
  indexAtTime,
  playOf,
  type Scenery,
  sceneAt,
  timeOf,
} from "../../../dist/view/steps/scene.js";
import { attention } from "../oracle.js";

/** Numbers from -2 to 2, the same at every run. */
function numbers(count: number, seed: number): Float64Array {
  let state = seed;
  return Float64Array.from({ length: count }, () => {
    state = (state * 48271) % 2147483647;
    return (4 * state) / 2147483647 - 2;
  });
}

const causal = (row: number, col: number) => col > row;

const sizes = { L: 5, S: 7, D: 3, Dv: 4 };

function questionOf(change: Partial<AttentionQuestion> = {}): AttentionQuestion {
  const { L, S, D, Dv } = sizes;
  return {
    q: viewOn(numbers(L * D, 1), L, D),
    k: viewOn(numbers(S * D, 2), S, D),
    v: viewOn(numbers(S * Dv, 3), S, Dv),
    ...{ scale: 1 / Math.sqrt(D), hides: undefined, row: 2 },
    ...change,
  };
}

function sceneryOf(question: AttentionQuestion, change: Partial<Scenery> = {}): Scenery {
  const { hides, row } = question;
  const attended = attend(question);
  const words = { queries: undefined, keys: undefined };
  return { attended, row, isMasked: hides !== undefined, ...words, scaling: "÷ √3", ...change };
}

describe("Attention for the pictures", () => {
  /** The reference's results for the same question. */
  function expected({ q, k, v, scale, hides }: AttentionQuestion) {
    const { L, S, D, Dv } = sizes;
    return attention({
      q: { data: q.data, shape: [1, 1, L, D] },
      k: { data: k.data, shape: [1, 1, S, D] },
      v: { data: v.data, shape: [1, 1, S, Dv] },
      scale,
      maySee: ({ q, k }) => !hides?.(q, k),
    });
  }

  test.for([
    ["without a mask", {}],
    ["with a causal mask", { hides: causal }],
    ["with a scale of its own", { scale: -1.5 }],
    ["with scores beyond e^709", { scale: 4000 }],
    ["with a query that sees no key", { hides: (row: number) => row === 2 }],
  ] as const)("is that of the reference, to the last bits, %s", ([, change]) => {
    const question = questionOf(change);
    const { views } = attend(question);
    const { output, weights, masked, scores } = expected(question);
    const pairs = [
      [views.scaled, scores],
      [views.masked, masked],
      [views.weights, weights],
      [views.output, output],
    ] as const;
    for (const [view, reference] of pairs) {
      expect(view.data.length).toBe(reference.length);
      for (const [i, value] of reference.entries()) {
        if (Number.isFinite(value))
          expect(Math.abs((view.data[i] as number) - value)).toBeLessThan(
            1e-13 * Math.max(1, Math.abs(value)),
          );
        else expect(view.data[i]).toBe(value);
      }
    }
  });

  test("has partial sums that end with the number of the cell", () => {
    const { views, running } = attend(questionOf());
    const [row, cols] = [2, sizes.S];
    expect(running.scores?.at(-1)).toBe(views.scores.data[row * cols]);
    expect(running.output?.at(-1)).toBeCloseTo(views.output.data[row * sizes.Dv] as number, 14);
    const sum = Array.from(views.exponentials.data).reduce((a, b) => a + b);
    expect(running.exponentials?.at(-1)).toBe(sum);
    expect(running.scores).toHaveLength(sizes.D);
  });

  test("leaves out the value of a hidden key, even if it is not a number", () => {
    const { S, Dv } = sizes;
    const data = numbers(S * Dv, 3);
    data[(S - 1) * Dv] = Number.NaN;
    const { views } = attend(questionOf({ v: viewOn(data, S, Dv), hides: causal }));
    expect(views.output.data.every(Number.isFinite)).toBe(true);
    const open = attend(questionOf({ v: viewOn(data, S, Dv) })).views;
    expect(Number.isNaN(open.output.data[0])).toBe(true);
    expect(Number.isNaN(open.output.data[1])).toBe(false);
  });
});

describe("What <heed-steps> shows", () => {
  const play = playOf(sceneryOf(questionOf({ hides: causal })));

  test("goes through the stages in order, the masked scores only with a mask", () => {
    const names = ["inputs", "scores", "scaled", "masked", "weights", "output"];
    expect(play.story.chapters.map(({ stage }) => stage)).toEqual(names);
    const open = playOf(sceneryOf(questionOf()));
    const unmasked = names.filter((name) => name !== "masked");
    expect(open.story.chapters.map(({ stage }) => stage)).toEqual(unmasked);
  });

  test("is a function of time: each step from its own time to that of the next", () => {
    const { count } = play.story;
    for (let index = 0; index < count; ++index) {
      const [start, end] = [timeOf(play, index), timeOf(play, index + 1)];
      expect(end).toBeGreaterThan(start);
      for (const time of [start, (start + end) / 2, end - 1e-3])
        expect(indexAtTime(play, time)).toBe(index);
    }
    expect(indexAtTime(play, durationOf(play))).toBe(count - 1);
    expect(indexAtTime(play, Number.POSITIVE_INFINITY)).toBe(count - 1);
    expect(durationOf(play)).toBeGreaterThan(20);
    expect(durationOf(play)).toBeLessThan(60);
  });

  test("computes the first score term by term, then its row, then all rows", () => {
    const start = play.story.chapters[1]?.start as number;
    const end = indexIn(play.story, { stage: "scores", time: null });
    const scenes = Array.from({ length: end - start }, (_, i) => sceneAt(play, start + i));
    const moments = scenes.map(({ unfolding }) => unfolding?.moment);
    const of = (row: number, col: number | null, terms: number | null = null) => ({
      ...{ matrix: "scores", row, col, terms },
    });
    expect(moments).toEqual([
      ...[of(2, 0, 1), of(2, 0, 2), of(2, 0, 3)],
      ...[of(2, 1), of(2, 2), of(2, 3), of(2, 4), of(2, 5), of(2, 6)],
      ...[of(0, null), of(1, null), of(3, null)],
    ]);
    const sums = scenes.slice(0, 3).map(({ unfolding }) => unfolding?.sum);
    expect(sums).toEqual(Array.from(play.attended.running.scores ?? []));
    // The factors of the last term are lit, within their row and column.
    expect(scenes[1]?.highlights).toEqual([
      { matrix: "q", row: 2 },
      { matrix: "q", row: 2, col: 1 },
      { matrix: "k", row: 0 },
      { matrix: "k", row: 0, col: 1 },
    ]);
    const isMade = scenes[4]?.unfolding?.isMade;
    expect([isMade?.("scores", 2, 2), isMade?.("scores", 2, 3), isMade?.("scores", 0, 0)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test("sums the exponentials of a row before it divides by the sum", () => {
    const start = play.story.chapters[4]?.start as number;
    const sums = Array.from({ length: sizes.S }, (_, i) => sceneAt(play, start + i));
    expect(sums.map(({ unfolding }) => unfolding?.moment.matrix)).toEqual(
      Array(sizes.S).fill("exponentials"),
    );
    expect(sums.map(({ unfolding }) => unfolding?.sum)).toEqual(
      Array.from(play.attended.running.exponentials ?? []),
    );
    expect(sceneAt(play, start + sizes.S).unfolding?.moment).toMatchObject({
      ...{ matrix: "weights", row: 2, col: 0 },
    });
  });

  test("writes formulas with the numbers of the cell, and names tokens where there are any", () => {
    const q = viewOn(Float64Array.of(1, 2), 1, 2);
    const k = viewOn(Float64Array.of(3, -4, 0, 1), 2, 2);
    const v = viewOn(Float64Array.of(10, 20), 2, 1);
    const question = { q, k, v, scale: 0.5, hides: undefined, row: 0 };
    const words = { queries: ["it"], keys: ["the", "cat"] };
    const own = sceneryOf(question, { scaling: "× 0.5", ...words });
    const text = (matrix: "scores" | "scaled" | "weights" | "output", col: number) => {
      const explained = explainCell(own, { matrix, row: 0, col });
      const formula = explained?.formula.map(({ text }) => text.replaceAll("\u00a0", " ")).join("");
      return `${explained?.name}: ${formula}`;
    };
    expect(text("scores", 0)).toBe(
      "Scores, “it” attends to “the”: QKᵀ[1, 1] = 1.000 × 3.000 + 2.000 × (−4.000) = −5.000",
    );
    expect(text("scaled", 0)).toBe(
      "Scaled scores, “it” attends to “the”: S[1, 1] = (−5.000) × 0.5 = −2.500",
    );
    const [first, second] = [Math.exp(-2.5), Math.exp(1)];
    const [sum, weight] = [first + second, second / (first + second)];
    expect(text("weights", 1)).toBe(
      `Weights, “it” attends to “cat”: A[1, 2] = e^1.000 ÷ (e^(−2.500) + e^1.000) = ${second.toFixed(3)} ÷ ${sum.toFixed(3)} = ${weight.toFixed(3)}`,
    );
    const output = 10 * (first / sum) + 20 * weight;
    expect(text("output", 0)).toBe(
      `Output of the head, “it”, entry 1: O[1, 1] = ${(first / sum).toFixed(3)} × 10.000 + ${weight.toFixed(3)} × 20.000 = ${output.toFixed(3)}`,
    );
    const nameless = sceneryOf(question);
    expect(explainCell(nameless, { matrix: "scores", row: 0, col: 1 })?.name).toBe(
      "Scores, query 1 attends to key 2",
    );
  });

  test("says how a row is masked", () => {
    const start = play.story.chapters[3]?.start as number;
    const explanation = sceneAt(play, start + 1).explanation;
    expect(explanation?.name).toBe("Masked scores, query 2");
    expect(explanation?.formula[0]?.text).toBe("The mask hides 5 of 7 keys from it.");
  });

  test("starts with the first query that sees the most keys", () => {
    expect(rowToShow(5, 5, undefined)).toBe(0);
    expect(rowToShow(5, 5, causal)).toBe(4);
    expect(rowToShow(5, 3, causal)).toBe(2);
  });
});

describe("q, k and v", () => {
  const shaped = (...shape: number[]) => {
    const data = numbers(
      shape.reduce((a, b) => a * b),
      5,
    );
    return [{ shape, data }];
  };

  test("may have heads, of which several share one of k and v", () => {
    const [q, k, v] = [shaped(4, 2, 3), shaped(2, 5, 3), shaped(2, 5, 1)];
    const views = headOf(q, k, v, 3);
    expect([views.q.offset, views.k.offset, views.v.offset]).toEqual([18, 15, 5]);
    expect(headOf(q, k, v, 1).k.offset).toBe(0);
  });

  test.for([
    [shaped(2, 3), shaped(2, 4), shaped(2, 1), 0, "k: expected rows of 3, as q has, got 4"],
    [shaped(2, 3), shaped(2, 3), shaped(5, 1), 0, "v: expected 2 rows, as k has, got 5"],
    [shaped(2), shaped(2, 3), shaped(5, 1), 0, "q: expected [L, D] or [heads, L, D], got [2]"],
    [
      ...[shaped(4, 2, 3), shaped(3, 2, 3), shaped(3, 2, 3), 0],
      "k: expected a number of heads that divides the 4 of q, got 3",
    ],
    [
      ...[shaped(4, 2, 3), shaped(2, 2, 3), shaped(4, 2, 3), 0],
      "v: expected 2 heads, as k has, got 4",
    ],
    [shaped(2, 3), shaped(2, 3), shaped(2, 1), 1, "head: expected a number below 1, got 1"],
    [
      ...[shaped(1025, 1), shaped(1024, 1), shaped(1024, 1), 0],
      "q and k: expected at most 1048576 scores and 134217728 products, got [1025, 1024] scores of vectors of 1",
    ],
  ] as const)("that do not fit are refused: %#", ([q, k, v, head, message]) => {
    const read = () => headOf(q as never, k as never, v as never, head as number);
    expect(read).toThrow(expect.objectContaining({ name: "HeedError", message }));
  });

  test("need a shape", () => {
    const bare = [{ shape: undefined, data: numbers(6, 1) }];
    expect(() => headOf(bare, shaped(2, 3), shaped(2, 1), 0)).toThrow(
      "q: expected [L, D] or [heads, L, D], as lists, a tensor or { shape, data }, got no shape",
    );
  });
});
