/** Tests parts of "Step by step" without a browser: its story, and the trial of the division by √d. */
import { type Heed, load } from "heed";
import { indexIn, paceOf, placeAt, playFrom } from "heed/view/parts";
import { beforeAll, describe, expect, test } from "vitest";
import { seededNumbers } from "../../web/src/rooms/steps/seeded";
import { stageNames } from "../../web/src/rooms/steps/stageNames";
import { initialState, sentenceAttentionOf } from "../../web/src/rooms/steps/state";
import { storyOf } from "../../web/src/rooms/steps/story";
import { type TrialAnswer, type TrialRequest, trialSizes } from "../../web/src/rooms/steps/trial";
import solveTrial from "../../web/src/rooms/steps/trialSolve";
import type { SolverContext } from "../../web/src/worker/solver";

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

  test("takes about a minute for a sentence of any length", () => {
    const secondsOf = (text: string) => {
      const state = { ...initialState, text, example: false };
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

  test("shows the purpose of the division: without it the gradients vanish as d grows", () => {
    const { divided, plain } = answer;
    const [first, last] = [0, trialSizes.length - 1];
    expect(plain.meanGradients[last]).toBeLessThan((plain.meanGradients[first] as number) / 4);
    for (const mean of divided.meanGradients) expect(mean).toBeGreaterThan(0.08);
    for (const [n, mean] of plain.meanGradients.entries())
      expect(mean).toBeLessThan(divided.meanGradients[n] as number);
  });
});
