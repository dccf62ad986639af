/** Tests parts of "Step by step" without a browser: its story, its numbers, and the trial of the division by √d. */
import { type Heed, load } from "heed";
import { beforeAll, describe, expect, test } from "vitest";
import { explanationText, indexAt, indexIn, paceOf, placeAt, playFrom } from "#parts";
import { exampleKeyText } from "../../web/src/rooms/steps/example";
import { explainCell } from "../../web/src/rooms/steps/explain";
import { read, write } from "../../web/src/rooms/steps/link";
import type { Problem } from "../../web/src/rooms/steps/problem";
import { seededNumbers } from "../../web/src/rooms/steps/seeded";
import { initialState, type State } from "../../web/src/rooms/steps/settings";
import { farthestScore } from "../../web/src/rooms/steps/solution";
import solve from "../../web/src/rooms/steps/solve";
import { stagesOf } from "../../web/src/rooms/steps/stageNames";
import {
  problemOf,
  sentenceAttentionOf,
  withKeyText,
  withKind,
  withSizes,
} from "../../web/src/rooms/steps/state";
import {
  mostTrialSize,
  type TrialAnswer,
  type TrialRequest,
  trialSizes,
} from "../../web/src/rooms/steps/trial";
import solveTrial from "../../web/src/rooms/steps/trialSolve";
import { playPaceOf, storyOf } from "../../web/src/rooms/steps/unfolding";
import type { SolverContext } from "../../web/src/worker/solver";

const stageNames = stagesOf(initialState);

describe("The story of all stages", () => {
  const story = storyOf(initialState, sentenceAttentionOf(initialState));
  const places = Array.from({ length: story.count }, (_, index) => placeAt(story, index));

  test("runs through the nine stages in order, each from its first moment to its last", () => {
    const stages = places.map(({ stage }) => stage);
    expect([...new Set(stages)]).toEqual(stageNames);
    expect(stages.toSorted((a, b) => stageNames.indexOf(a) - stageNames.indexOf(b))).toEqual(
      stages,
    );
    // Five tokens, their vectors, and so on. The test of the time of a computation explains these moments.
    expect(story.chapters.map(({ count }) => count)).toEqual([5, 5, 19, 10, 9, 5, 14, 10, 5]);
    for (const [index, { stage, time }] of places.entries()) {
      expect(indexIn(story, { stage, time })).toBe(index);
      expect(places[index - 1]?.stage === stage ? time : 0).toBe(time);
    }
  });

  test("has an index for a completed stage, and for a time after its end", () => {
    expect(indexIn(story, { stage: "qkv", time: null })).toBe(28);
    expect(indexIn(story, { stage: "qkv", time: 9999 })).toBe(28);
  });

  test("continues from a moment, repeats a completed stage, and starts again after the end", () => {
    expect(playFrom(story, { stage: "scores", time: 3 })).toBe(32);
    expect(playFrom(story, { stage: "scores", time: 9 })).toBe(38);
    expect(playFrom(story, { stage: "scores", time: null })).toBe(29);
    expect(playFrom(story, { stage: "joined", time: null })).toBe(0);
    expect(playFrom(story, { stage: "joined", time: 4 })).toBe(0);
  });

  test("is played without the stage of the mask if no key is hidden", () => {
    const attention = sentenceAttentionOf(initialState);
    const stagesPlayed = (state: State) => {
      const pace = playPaceOf(story, state, attention);
      const seconds = Array.from({ length: 90 }, (_, second) => 1000 * second);
      const seen = seconds.map((time) => placeAt(story, indexAt(time, 0, story.count, pace)).stage);
      return [...new Set(seen)];
    };
    expect(stagesPlayed(initialState)).toEqual(stageNames.filter((stage) => stage !== "masked"));
    expect(stagesPlayed({ ...initialState, mask: "causal" })).toEqual(stageNames);
  });

  test("takes about a minute for a sentence of any length", () => {
    const secondsOf = (text: string) => {
      const state = { ...initialState, text, vectors: "random" as const };
      const long = storyOf(state, sentenceAttentionOf(state));
      const pace = paceOf(long);
      return Array.from({ length: long.count }, (_, i) => pace(i) / 1000).reduce((a, b) => a + b);
    };
    const pace = paceOf(story);
    const seconds = places.reduce((sum, _, index) => sum + pace(index) / 1000, 0);
    expect(seconds).toBeGreaterThan(40);
    expect(seconds).toBeLessThan(70);
    expect(secondsOf(Array.from({ length: 500 }, (_, i) => i).join(" "))).toBeLessThan(90);
  });
});

describe("The worked example", () => {
  let heed: Heed;
  beforeAll(async () => {
    heed = await load({ threads: 1 });
  });
  const solved = async (change: Partial<State>) => {
    const state = { ...initialState, ...change };
    const attention = sentenceAttentionOf(state);
    const problem = problemOf(state, attention) as Problem;
    const solution = await solve(problem, { heed } as SolverContext<never>);
    return { state, attention, solution };
  };

  test("has one colour scale for scores before and after the division and the mask", async () => {
    const { solution } = await solved({ mask: "causal" });
    // The largest score is 1.7 × 1.8 + 1.8 × 1.7 = 6.12, of “jumps” and “jumps”.
    expect(farthestScore(solution, 0)).toBeCloseTo(6.12, 5);
    const { solution: blind } = await solved({ mask: "padding", padFrom: 0 });
    expect(farthestScore(blind, 0)).toBeCloseTo(6.12, 5);
  });

  test("counts positions from 1 in a formula, as in its name", async () => {
    const { state, attention, solution } = await solved({ position: true });
    const formulaOf = (row: number, col: number) => {
      const cell = { matrix: "position", row, col } as const;
      const explanation = explainCell(cell, solution, state, attention);
      return explanation && explanationText(explanation);
    };
    expect(formulaOf(1, 0)).toBe(
      "Position, “quick”, entry 1: P[2, 1] = sin((2 − 1) ÷ 10000^(0/4)) = 0.841",
    );
    expect(formulaOf(4, 3)).toBe(
      "Position, “jumps”, entry 4: P[5, 4] = cos((5 − 1) ÷ 10000^(2/4)) = 0.999",
    );
  });

  test("keeps a head only if other sizes still have it", () => {
    const random = { ...initialState, vectors: "random" as const, heads: 4 };
    expect(withSizes({ ...random, head: 2 }, { headSize: 8 })).toMatchObject({ head: 2, heads: 4 });
    expect(withSizes({ ...random, head: 3 }, { heads: 2 })).toMatchObject({ head: 1, heads: 2 });
    // The page shows head 1 in place of a head that a link names in vain.
    expect(withSizes({ ...random, head: 9 }, { headSize: 8 })).toMatchObject({ head: 0 });
    const ablated = new Set([0, 3]);
    expect(withSizes({ ...random, ablated }, { heads: 2 }).ablated).toEqual(new Set([0]));
  });

  test("keeps its numbers through an encoder-decoder, which has given numbers too", async () => {
    const cross = { ...initialState, ...withKind(initialState, "cross") };
    const { solution } = await solved(cross);
    expect(solution.problem.source).toEqual({ kind: "example" });
    // K of “sleeps” is [1.5, 1.6], and Q of “quick” is [0.5, 0.6].
    expect(solution.arrays.scores[4 + 3]).toBeCloseTo(0.5 * 1.5 + 0.6 * 1.6, 5);
    expect(write(cross).toString()).toBe("keys=A+lazy+dog+sleeps");
    expect(read(write(cross)).state).toEqual(cross);
    expect({ ...cross, ...withKind(cross, "encoder") }).toEqual(initialState);
    expect(withKeyText(cross, `${exampleKeyText}!`).vectors).toBe("random");
    expect(read(new URLSearchParams("keys=no+one")).state.vectors).toBe("random");
  });
});

describe("The trial of the division by √d", () => {
  let heed: Heed;
  let answer: TrialAnswer;
  const request: TrialRequest = { keys: ["one", "two", "two", "four"], seed: "7" };
  const keys = request.keys.length;
  beforeAll(async () => {
    heed = await load({ threads: 1 });
    answer = await solveTrial(request, { heed } as SolverContext<never>);
  });

  /** Scores and weights in double precision. */
  function expected(size: number, divisor: number) {
    const query = seededNumbers("7 trial query", 64 * size).subarray(0, size);
    const scores = request.keys.map((token, i) => {
      const key = seededNumbers(`7 trial key ${i} ${token}`, size);
      return query.reduce((sum, x, n) => sum + x * (key[n] as number), 0) / divisor;
    });
    const largest = Math.max(...scores);
    const powers = scores.map((score) => Math.exp(score - largest));
    const sum = powers.reduce((a, b) => a + b);
    return { scores, weights: powers.map((power) => power / sum) };
  }

  test.each(trialSizes)("has correct scores, weights and gradients for d = %i", (size) => {
    const start = trialSizes.indexOf(size) * keys;
    for (const [side, divisor] of [
      [answer.divided, Math.sqrt(size)],
      [answer.plain, 1],
    ] as const) {
      const { scores, weights } = expected(size, divisor);
      for (const [j, weight] of weights.entries()) {
        expect(side.scores[start + j]).toBeCloseTo(scores[j] as number, 3);
        expect(side.weights[start + j]).toBeCloseTo(weight, 4);
        // ∂wⱼ/∂sⱼ of a softmax is wⱼ (1 − wⱼ).
        expect(side.gradients[start + j]).toBeCloseTo(weight * (1 - weight), 4);
      }
    }
  });

  test("has vectors whose dot products are the scores", () => {
    const row = (n: number) => answer.vectors.subarray(n * mostTrialSize, (n + 1) * mostTrialSize);
    expect(answer.vectors).toHaveLength((1 + keys) * mostTrialSize);
    for (const [n, size] of trialSizes.entries())
      for (let j = 0; j < keys; ++j) {
        const [query, key] = [row(0), row(j + 1)].map((vector) => vector.subarray(0, size));
        const score = query?.reduce((sum, x, d) => sum + x * (key?.[d] as number), 0);
        expect(answer.plain.scores[n * keys + j]).toBeCloseTo(score as number, 3);
      }
  });

  test("shows the purpose of the division: without it the gradients vanish as d grows", () => {
    const { divided, plain } = answer;
    const [first, last] = [0, trialSizes.length - 1];
    expect(plain.meanGradients[last]).toBeLessThan((plain.meanGradients[first] as number) / 4);
    for (const mean of divided.meanGradients) expect(mean).toBeGreaterThan(0.08);
    for (const [n, mean] of plain.meanGradients.entries())
      expect(mean).toBeLessThan(divided.meanGradients[n] as number);
  });
});
