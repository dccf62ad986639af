// Generation from a step function: greedy, random, and by beam search, which is compared with an exhaustive
// search.

import type { Heed } from "heed";
import {
  type BeamSearchOptions,
  beamSearch,
  generate,
  nn,
  type SamplingOptions,
  type Step,
} from "heed/nn";
import { describe, expect, test } from "vitest";
import { floats } from "../compare.js";
import { engine } from "../engine.js";
import { randomise } from "../modules.js";
import { Random } from "../values.js";

const V = 4;
const end = 3;

/** Returns logits that depend on all tokens before and on the seed alone. */
function logitsAfter(tokens: readonly number[], seed: number): number[] {
  const random = new Random(tokens.reduce((hash, token) => 31 * hash + token + 1, seed));
  return Array.from({ length: V }, () => 3 * random.next());
}

const stepOf =
  (heed: Heed, seed: number): Step =>
  (sequences) =>
    heed.tensor(sequences.map((tokens) => logitsAfter(tokens, seed)));

const logSoftmax = (logits: number[]) => {
  const sum = Math.log(logits.reduce((total, logit) => total + Math.exp(logit), 0));
  return logits.map((logit) => logit - sum);
};

interface Found {
  tokens: number[];
  logProbability: number;
  isComplete: boolean;
}

/** Returns every sequence of at most maxLength tokens, with its probability and the changes of each step. */
function all(
  start: number[],
  seed: number,
  maxLength: number,
  change: (logs: number[], tokens: number[]) => number[] = (logs) => logs,
): Found[] {
  const grow = (tokens: number[], logProbability: number): Found[] => {
    if (tokens.at(-1) === end) return [{ tokens, logProbability, isComplete: true }];
    if (tokens.length === maxLength) return [{ tokens, logProbability, isComplete: false }];
    const logs = logSoftmax(logitsAfter([...start, ...tokens], seed));
    return change(logs, tokens).flatMap((log, token) =>
      grow([...tokens, token], logProbability + log),
    );
  };
  return grow([], 0);
}

const heed = engine({ threads: 1 });

describe("beam search", () => {
  test.each([0, 0.6, 2])(
    "with enough beams finds the best of all sequences (penalty %d)",
    async (alpha) => {
      for (let seed = 1; seed <= 5; ++seed) {
        const scored = all([0, 1], seed, 4).map((found) => ({
          ...found,
          score: found.logProbability / ((5 + found.tokens.length) / 6) ** alpha,
        }));
        scored.sort((a, b) => b.score - a.score);
        const beams = 81;
        const found = await beamSearch(heed(), stepOf(heed(), seed), {
          ...{ startTokens: [0, 1], endToken: end, maxLength: 4, beams, lengthPenalty: alpha },
        });
        expect(found).toHaveLength(beams);
        for (const [i, hypothesis] of found.entries()) {
          const { tokens, logProbability, score, isComplete } = scored[
            i
          ] as (typeof scored)[number];
          expect([hypothesis.tokens, hypothesis.isComplete]).toEqual([tokens, isComplete]);
          expect(hypothesis.logProbability).toBeCloseTo(logProbability, 4);
          expect(hypothesis.score).toBeCloseTo(score, 4);
        }
      }
    },
  );

  /** The same search in a few lines, without an early end. */
  function search(
    seed: number,
    { beams, maxLength, lengthPenalty = 0 }: BeamSearchOptions,
  ): number[][] {
    let live: Found[] = [{ tokens: [], logProbability: 0, isComplete: false }];
    const done: Found[] = [];
    for (let length = 0; length < maxLength; ++length) {
      const grown = live.flatMap(({ tokens, logProbability }) =>
        logSoftmax(logitsAfter(tokens, seed)).map((log, token) => ({
          tokens: [...tokens, token],
          logProbability: logProbability + log,
          isComplete: token === end,
        })),
      );
      grown.sort((a, b) => b.logProbability - a.logProbability);
      live = [];
      for (const each of grown) {
        if (live.length === beams) break;
        (each.isComplete ? done : live).push(each);
      }
    }
    const scoreOf = (each: Found) =>
      each.logProbability / ((5 + each.tokens.length) / 6) ** lengthPenalty;
    return [...done, ...live]
      .sort((a, b) => scoreOf(b) - scoreOf(a))
      .slice(0, beams)
      .map(({ tokens }) => tokens);
  }

  test("with few beams follows the most likely sequences, and ends early only if the result is certain", async () => {
    for (let seed = 1; seed <= 12; ++seed) {
      for (const beams of [1, 2, 3]) {
        for (const lengthPenalty of [0, 0.6, 1.5, -0.5]) {
          const options = { startTokens: [2], endToken: end, maxLength: 7, beams, lengthPenalty };
          let calls = 0;
          const step: Step = (sequences) => {
            ++calls;
            expect(sequences.every(([first]) => first === 2)).toBe(true);
            return heed().tensor(sequences.map((tokens) => logitsAfter(tokens.slice(1), seed)));
          };
          const found = await beamSearch(heed(), step, options);
          expect(found.map(({ tokens }) => tokens)).toEqual(search(seed, options));
          expect(calls).toBeLessThanOrEqual(7);
        }
      }
    }
  });

  test("tells the step which row each sequence continues", async () => {
    let before: (readonly number[])[] = [[0]];
    const step: Step = (sequences, order) => {
      expect([sequences.length, order.length]).toEqual([3, 3]);
      const isFirst = sequences[0]?.length === 1;
      for (const [row, tokens] of sequences.entries()) {
        const from = before[order[row] as number];
        expect(isFirst ? tokens : tokens.slice(0, -1)).toEqual(from);
      }
      before = [...sequences];
      return heed().tensor(sequences.map((tokens) => logitsAfter(tokens, 3)));
    };
    await beamSearch(heed(), step, { startTokens: [0], endToken: end, maxLength: 6, beams: 3 });
    expect(new Set(before.map(String)).size).toBe(3);
  });

  /** The changes of log probabilities, as the package transformers makes them. */
  const changed = (
    logs: number[],
    start: number[],
    tokens: readonly number[],
    {
      repetitionPenalty = 1,
      presencePenalty = 0,
      frequencyPenalty = 0,
    }: Partial<BeamSearchOptions>,
  ) =>
    logs.map((log, token) => {
      const times = tokens.filter((each) => each === token).length;
      // A log probability is negative, so that the factor lowers it.
      const factor = times > 0 || start.includes(token) ? repetitionPenalty : 1;
      return log * factor - (times > 0 ? presencePenalty : 0) - times * frequencyPenalty;
    });

  test.each<Partial<BeamSearchOptions>>([
    { repetitionPenalty: 1.7 },
    { repetitionPenalty: 0.5 },
    { presencePenalty: 1.5 },
    { frequencyPenalty: 0.8 },
    { repetitionPenalty: 1.2, presencePenalty: -0.5, frequencyPenalty: 0.3 },
  ])("lowers the log probabilities of repeated tokens: %o", async (options) => {
    let different = 0;
    for (let seed = 1; seed <= 5; ++seed) {
      const penalise = (logs: number[], tokens: number[]) => changed(logs, [0, 1], tokens, options);
      const [scored, plain] = [all([0, 1], seed, 4, penalise), all([0, 1], seed, 4)];
      for (const list of [scored, plain]) list.sort((a, b) => b.logProbability - a.logProbability);
      const given = { startTokens: [0, 1], endToken: end, maxLength: 4, beams: 81 };
      const found = await beamSearch(heed(), stepOf(heed(), seed), { ...given, ...options });
      expect(found.map(({ tokens }) => tokens)).toEqual(
        scored.slice(0, 81).map(({ tokens }) => tokens),
      );
      for (const [i, { logProbability }] of found.entries())
        expect(logProbability).toBeCloseTo(scored[i]?.logProbability ?? 0, 4);
      const order = (list: { tokens: number[] }[]) =>
        list.slice(0, 10).map(({ tokens }) => String(tokens));
      different += Number(order(found).join(" ") !== order(plain).join(" "));
    }
    expect(different).toBeGreaterThan(0);
  });

  test("passes log probabilities to a processor, which may exclude tokens", async () => {
    const without = (logs: number[]) => logs.map((log, token) => (token === 1 ? -Infinity : log));
    const scored = all([2], 3, 3, without).filter(
      ({ logProbability }) => logProbability > -Infinity,
    );
    scored.sort((a, b) => b.logProbability - a.logProbability);
    const seen = new Set<string>();
    const found = await beamSearch(heed(), stepOf(heed(), 3), {
      ...{ startTokens: [2], endToken: end, maxLength: 3, beams: 27 },
      logitsProcessor(logs, tokens) {
        seen.add(String(tokens));
        expect(logs.reduce((sum, log) => sum + Math.exp(log), 0)).toBeCloseTo(1, 5);
        logs[1] = -Infinity;
      },
    });
    expect(found.map(({ tokens }) => tokens)).toEqual(scored.map(({ tokens }) => tokens));
    expect(seen).toEqual(new Set(["2", "2,0", "2,2", "2,0,0", "2,0,2", "2,2,0", "2,2,2"]));
    const none = (logs: Float32Array) => void logs.fill(-Infinity);
    const options = { startTokens: [2], maxLength: 3, beams: 2, logitsProcessor: none };
    expect(await beamSearch(heed(), stepOf(heed(), 3), options)).toEqual([]);
    const later = (logs: Float32Array, tokens: readonly number[]) =>
      void (tokens.length > 2 && logs.fill(-Infinity));
    const some = { ...options, logitsProcessor: later };
    for (const { tokens, isComplete } of await beamSearch(heed(), stepOf(heed(), 3), some))
      expect([tokens.length, isComplete]).toEqual([2, false]);
    expect(heed().memory().tensors.count).toBe(0);
  });

  test("finds a longer sequence beside many end tokens", async () => {
    const step: Step = (sequences) =>
      heed().tensor(
        sequences.map(({ length }) =>
          length < 2 ? [5, 4.9, 4.8, 4.7, 4] : [-90, -90, -90, -90, 9],
        ),
      );
    const options = { startTokens: [9], endToken: [0, 1, 2, 3], maxLength: 10, lengthPenalty: 3 };
    const [narrow, wide] = [
      await beamSearch(heed(), step, { ...options, beams: 2 }),
      await beamSearch(heed(), step, { ...options, beams: 5 }),
    ];
    expect(narrow[0]).toEqual(wide[0]);
    expect(narrow[0]?.tokens).toEqual(Array.from({ length: 10 }, () => 4));
  });

  test("leaves out tokens without probability", async () => {
    const step: Step = (sequences) =>
      heed().tensor(
        sequences.map(({ length }) => [length < 3 ? 0 : -Infinity, -Infinity, -Infinity, 0]),
      );
    const found = await beamSearch(heed(), step, {
      startTokens: [1],
      endToken: end,
      maxLength: 9,
      beams: 4,
    });
    expect(found.map(({ tokens }) => tokens)).toEqual(
      expect.arrayContaining([[3], [0, 3], [0, 0, 3]]),
    );
    expect(found).toHaveLength(3);
  });
});

describe("generate", () => {
  test("takes the most likely token of each sequence until all have ended", async () => {
    const starts = [[0], [1], [2, 1, 0]];
    for (let seed = 1; seed <= 5; ++seed) {
      const rows: number[] = [];
      const step: Step = (sequences, order) => {
        rows.push(sequences.length);
        expect(order).toEqual([0, 1, 2]);
        return stepOf(heed(), seed)(sequences, order);
      };
      const options = { startTokens: starts, endToken: end, maxLength: 8 };
      const found = await generate(heed(), step, options);
      const expected = starts.map((start) => {
        const tokens: number[] = [];
        while (tokens.length < 8 && tokens.at(-1) !== end) {
          const logits = logitsAfter([...start, ...tokens], seed);
          tokens.push(logits.indexOf(Math.max(...logits)));
        }
        return tokens;
      });
      expect(found).toEqual(expected);
      expect(rows.every((count) => count === 3)).toBe(true);
      expect(rows).toHaveLength(Math.max(...expected.map(({ length }) => length)));
    }
  });

  test("ends at any of several tokens, and tells each step's tokens", async () => {
    const given = { startTokens: [[0], [1], [2]], maxLength: 9 };
    const endToken = [1, end];
    const last = new Set<number | undefined>();
    for (let seed = 1; seed <= 6; ++seed) {
      const steps: (number | undefined)[][] = [];
      const found = await generate(heed(), stepOf(heed(), seed), {
        ...{ ...given, endToken },
        onTokens: (tokens) => steps.push([...tokens]),
      });
      const whole = await generate(heed(), stepOf(heed(), seed), given);
      for (const [row, tokens] of found.entries()) {
        const first = (whole[row] as number[]).findIndex((token) => endToken.includes(token));
        expect(tokens).toEqual(whole[row]?.slice(0, first < 0 ? undefined : first + 1));
        const told = steps.map((step) => step[row]);
        expect(told.filter((token) => token !== undefined)).toEqual(tokens);
        expect(told.slice(tokens.length).every((token) => token === undefined)).toBe(true);
        if (first >= 0) last.add(tokens.at(-1));
      }
    }
    expect([...last].sort()).toEqual(endToken);
    const all = await generate(heed(), stepOf(heed(), 6), given);
    const some = await generate(heed(), stepOf(heed(), 6), { ...given, onTokens: () => false });
    expect(some).toEqual(all.map((tokens) => tokens.slice(0, 1)));
    // A list ends the sequences for which it has false, and the others go on as before.
    const ended = await generate(heed(), stepOf(heed(), 6), {
      ...given,
      onTokens: (tokens) => tokens.map((_, row) => row !== 1),
    });
    expect(ended).toEqual(all.map((tokens, row) => (row === 1 ? tokens.slice(0, 1) : tokens)));
  });

  test("draws with a list of seeds as each sequence alone with its seed", async () => {
    const given = { endToken: end, maxLength: 8, temperature: 1.5 };
    const [starts, seed] = [
      [[0], [0], [2, 1]],
      [7, 8, 7],
    ];
    for (const limits of [{}, { topK: 3 }, { minP: 0.1 }, { temperature: 0 }]) {
      const options = { ...given, ...limits };
      const startTokens = starts;
      const found = await generate(heed(), stepOf(heed(), 3), { ...options, startTokens, seed });
      for (const [row, start] of starts.entries()) {
        const own = { ...options, startTokens: [start], seed: seed[row] as number };
        expect(found[row]).toEqual((await generate(heed(), stepOf(heed(), 3), own))[0]);
      }
    }
    const refused = generate(heed(), stepOf(heed(), 3), {
      ...given,
      startTokens: starts,
      seed: [1],
    });
    await expect(refused).rejects.toThrow("seed: expected 3 seeds, one for each sequence, got 1");
    expect(heed().memory().tensors.count).toBe(0);
  });

  test("draws tokens by their probabilities, the same ones for the same seed", async () => {
    const logits = [0, 1, -Infinity, 2];
    const step: Step = (sequences) => heed().tensor(sequences.map(() => logits));
    const startTokens = Array.from({ length: 400 }, () => [0]);
    const options = { startTokens, maxLength: 10, temperature: 1, seed: 5 };
    const found = await generate(heed(), step, options);
    const counts = [0, 0, 0, 0];
    for (const token of found.flat()) counts[token] = (counts[token] ?? 0) + 1;
    const total = 1 + Math.E + Math.E ** 2;
    for (const [token, logit] of logits.entries())
      expect(Math.abs((counts[token] ?? 0) / 4000 - Math.exp(logit) / total)).toBeLessThan(0.03);
    expect(await generate(heed(), step, options)).toEqual(found);
    expect(await generate(heed(), step, { ...options, seed: 6 })).not.toEqual(found);
    const two = await generate(heed(), step, { ...options, topK: 2 });
    expect(new Set(two.flat())).toEqual(new Set([1, 3]));
    const one = await generate(heed(), step, { ...options, topP: 0.5 });
    expect(new Set(one.flat())).toEqual(new Set([3]));
  });
});

describe("limits and penalties", () => {
  const logits = [2.1, 1.9, 1.2, 0.7, 0.1, -0.4, -1.1, -1.2];
  const fixed: Step = (sequences) => heed().tensor(sequences.map(() => logits));

  /** The tokens that are drawn, over many seeds. */
  async function drawn(options: Partial<SamplingOptions>): Promise<number[]> {
    const startTokens = Array.from({ length: 600 }, () => [0]);
    const found = await generate(heed(), fixed, {
      startTokens,
      maxLength: 1,
      temperature: 1,
      ...options,
    });
    return [...new Set(found.flat())].sort((a, b) => a - b);
  }

  /** The tokens that each rule leaves, in double precision, in the order of the package transformers. */
  function left({
    temperature = 1,
    topK = 0,
    topP = 1,
    minP = 0,
    typicalP = 1,
  }: Partial<SamplingOptions>) {
    let tokens = logits
      .map((_, i) => i)
      .sort((a, b) => (logits[b] as number) - (logits[a] as number));
    const shares = () => {
      const all = tokens.map((i) => Math.exp((logits[i] as number) / temperature));
      const sum = all.reduce((a, b) => a + b, 0);
      return all.map((each) => each / sum);
    };
    const upTo = (list: number[], order: number[], most: number) => {
      let sum = 0;
      return order.filter((at) => {
        const isIn = sum < most;
        sum += list[at] as number;
        return isIn;
      });
    };
    if (topK > 0) tokens = tokens.slice(0, topK);
    const byShare = shares();
    tokens = upTo(
      byShare,
      tokens.map((_, at) => at),
      topP,
    ).map((at) => tokens[at] as number);
    const [most = 0] = shares();
    const now = shares();
    tokens = tokens.filter((_, at) => (now[at] as number) >= minP * most);
    const p = shares();
    const entropy = -p.reduce((sum, each) => sum + each * Math.log(each), 0);
    const distance = (at: number) => Math.abs(-Math.log(p[at] as number) - entropy);
    const order = tokens.map((_, at) => at).sort((a, b) => distance(a) - distance(b));
    if (typicalP < 1) tokens = upTo(p, order, typicalP).map((at) => tokens[at] as number);
    return tokens.sort((a, b) => a - b);
  }

  test.each<Partial<SamplingOptions>>([
    { minP: 0.2 },
    { minP: 0.2, temperature: 0.5 },
    { minP: 0.05, topK: 3 },
    { minP: 0.05, topP: 0.7 },
    { minP: 0.3, topP: 0.95, topK: 5 },
    { typicalP: 0.5 },
    { typicalP: 0.3, temperature: 2 },
    { typicalP: 0.6, topK: 5 },
    { typicalP: 0.6, minP: 0.1, topP: 0.9 },
  ])("leave the tokens of the reference: %o", async (options) => {
    expect(await drawn(options)).toEqual(left(options));
  });

  test("change nothing of the most likely token", async () => {
    const options = { startTokens: [[0]], maxLength: 1, minP: 0.9, typicalP: 0.1 };
    expect(await generate(heed(), fixed, options)).toEqual([[0]]);
  });

  test.each<[string, Partial<SamplingOptions>, number[]]>([
    // 2.1 / 1.5 = 1.4 is less than 1.9; then 1.9 / 1.5 = 1.27, and so on.
    ["a repeated token, start included", { repetitionPenalty: 1.5 }, [1, 0, 0, 0]],
    ["a generated token, once", { presencePenalty: 1 }, [0, 1, 2, 0]],
    ["a generated token, each time", { frequencyPenalty: 0.5 }, [0, 1, 0, 1]],
  ])("lower %s", async (_, options, wanted) => {
    const logitsOf: Step = (sequences) => heed().tensor(sequences.map(() => [2.1, 1.9, 1.2, -0.5]));
    const found = await generate(heed(), logitsOf, {
      startTokens: [[0]],
      maxLength: 4,
      ...options,
    });
    expect(found).toEqual([wanted]);
  });

  test("raise the distance of a negative logit of a repeated token", async () => {
    const logitsOf: Step = (sequences) => heed().tensor(sequences.map(() => [-1, -1.5]));
    const options = { startTokens: [[0], [1]], maxLength: 1, repetitionPenalty: 2 };
    expect(await generate(heed(), logitsOf, options)).toEqual([[1], [0]]);
  });

  test("pass the logits to a processor, which may exclude tokens", async () => {
    const seen: number[][] = [];
    const found = await generate(heed(), fixed, {
      ...{ startTokens: [[5]], maxLength: 3 },
      logitsProcessor(own, tokens) {
        seen.push([...tokens]);
        for (const token of tokens) own[token] = -Infinity;
      },
    });
    expect(found).toEqual([[0, 1, 2]]);
    expect(seen).toEqual([[5], [5, 0], [5, 0, 1]]);
    const none = {
      startTokens: [[5]],
      maxLength: 1,
      logitsProcessor: (own: Float32Array) => void own.fill(-Infinity),
    };
    await expect(generate(heed(), fixed, none)).rejects.toThrow("nothing but -inf in row 0");
    expect(heed().memory().tensors.count).toBe(0);
  });

  test("may be 1, which limits nothing", async () => {
    const options = { startTokens: [[0]], maxLength: 3, temperature: 1 };
    const all = await generate(heed(), fixed, options);
    expect(await generate(heed(), fixed, { ...options, topP: 1, typicalP: 1 })).toEqual(all);
  });

  test.each<[Partial<SamplingOptions>, string]>([
    [{ repetitionPenalty: 0 }, "repetitionPenalty: expected a positive number, got 0"],
    [{ minP: 1 }, "minP: expected a number from 0 to below 1, got 1"],
    [{ typicalP: 0 }, "typicalP: expected a number above 0 and up to 1, got 0"],
    [{ topP: -3 }, "topP: expected a number above 0 and up to 1, got -3"],
    [{ temperature: 1, minP: 0.1, topP: 5 }, "topP: expected a number above 0 and up to 1, got 5"],
  ])("are refused by name: %o", async (options, message) => {
    const call = generate(heed(), fixed, { startTokens: [[0]], maxLength: 1, ...options });
    await expect(call).rejects.toThrow(message);
  });
});

test("a transformer with a cache gives the sequences that it gives without one", async () => {
  const [E, vocabulary] = [8, 6];
  const scope = <T>(run: () => T) => heed().scope(run);
  using decoder = new nn.TransformerDecoder(heed(), E, 2, 2, { dimFeedforward: 16 });
  using embed = new nn.Embedding(heed(), vocabulary, E);
  using out = new nn.Linear(heed(), E, vocabulary);
  decoder.eval();
  for (const [i, module] of [decoder, embed, out].entries()) randomise(module, 771 + i);
  const memory = floats(heed(), new Random(774).array([1, 5, E]));
  const repeated = (rows: number) => heed().broadcastTo(memory, [rows, 5, E]);
  const logits = (x: ReturnType<typeof embed.forward>, rows: number) => {
    const last = heed().slice(x, { axis: 1, start: (x.shape[1] as number) - 1, length: 1 });
    return out.forward(heed().reshape(last, [rows, E]));
  };
  const plain: Step = (sequences) =>
    scope(() => {
      const ids = heed().tensor(Int32Array.from(sequences.flat()), [
        sequences.length,
        sequences[0]?.length ?? 0,
      ]);
      const x = decoder.forward(embed.forward(ids), repeated(sequences.length), {
        tgtIsCausal: true,
      });
      return logits(x, sequences.length);
    });
  const beams = 3;
  using cache = decoder.createCache({ batch: beams, capacity: 12, memoryLength: 5 });
  const cached: Step = (sequences, order) =>
    scope(() => {
      cache.reorder(order);
      const last = sequences.map((tokens) => tokens.at(-1) as number);
      const x = embed.forward(heed().tensor(Int32Array.from(last), [beams, 1]));
      const options = { tgtIsCausal: true, cache };
      return logits(decoder.forward(x, repeated(beams), options), beams);
    });
  const options = { startTokens: [0], endToken: 5, maxLength: 10, beams };
  const expected = await beamSearch(heed(), plain, options);
  const found = await beamSearch(heed(), cached, options);
  expect(found.map(({ tokens }) => tokens)).toEqual(expected.map(({ tokens }) => tokens));
  for (const [i, { logProbability }] of found.entries())
    expect(logProbability).toBeCloseTo(expected[i]?.logProbability ?? 0, 3);
  memory.dispose();
});

describe("a search", () => {
  const step: Step = (sequences) => heed().tensor(sequences.map(() => [0, 0, 0, 0]));
  const greedy = { startTokens: [[0]], maxLength: 100_000 };
  const beam = { startTokens: [0], maxLength: 100_000, beams: 2 };

  test("is stopped by its signal", async () => {
    const reason = new Error("enough");
    await expect(
      generate(heed(), step, { ...greedy, signal: AbortSignal.abort(reason) }),
    ).rejects.toBe(reason);
    for (const run of [
      (signal: AbortSignal) => generate(heed(), step, { ...greedy, signal }),
      (signal: AbortSignal) => beamSearch(heed(), step, { ...beam, signal }),
    ]) {
      // The timer can fire only because the search pauses.
      const controller = new AbortController();
      setTimeout(() => controller.abort(reason), 20);
      await expect(run(controller.signal)).rejects.toBe(reason);
    }
  });

  test("waits for an asynchronous step", async () => {
    const slow: Step = async (sequences, order) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      return step(sequences, order);
    };
    expect(await generate(heed(), slow, { ...greedy, maxLength: 3 })).toEqual([[0, 0, 0]]);
  });

  const any = (value: unknown) => value as never;
  const calls: Record<string, [run: () => Promise<unknown>, message: string]> = {
    "no start": [
      () => generate(heed(), step, { ...greedy, startTokens: [] }),
      "startTokens: expected a list of lists of tokens, one or more each, got []",
    ],
    "an empty start": [
      () => generate(heed(), step, { ...greedy, startTokens: [[1], []] }),
      "startTokens: expected a list of lists of tokens, one or more each, got [[1], []]",
    ],
    "no length": [
      () => generate(heed(), step, any({ startTokens: [[0]] })),
      "maxLength: expected a whole number from 1 to 1048576, got undefined",
    ],
    "no step": [() => generate(heed(), any(1), greedy), "step: expected a function, got 1"],
    "a step that gives no tensor": [
      () =>
        generate(
          heed(),
          any(() => 1),
          greedy,
        ),
      "step: expected to give a tensor, got 1",
    ],
    "logits of another shape": [
      () => generate(heed(), () => heed().ones([2, 4]), greedy),
      "step: expected to give logits [1, V], got [2, 4]",
    ],
    "no beams": [
      () => beamSearch(heed(), step, { ...beam, beams: 0 }),
      "beams: expected a whole number from 1 to 1024, got 0",
    ],
    "logits that are no numbers": [
      () =>
        beamSearch(
          heed(),
          () =>
            heed().tensor([
              [NaN, NaN],
              [NaN, NaN],
            ]),
          beam,
        ),
      "step: expected finite logits, got NaN",
    ],
    "logits of which some are no numbers": [
      () =>
        beamSearch(
          heed(),
          () =>
            heed().tensor([
              [1, NaN],
              [1, 2],
            ]),
          beam,
        ),
      "step: expected finite logits, got NaN",
    ],
    "logits of which none is finite": [
      () => beamSearch(heed(), () => heed().tensor([[-Infinity], [-Infinity]]), beam),
      "step: expected finite logits, got -Infinity",
    ],
    "another library's option": [
      () => beamSearch(heed(), step, any({ ...beam, numBeams: 2 })),
      "numBeams: expected an option of beamSearch (endToken, maxLength, signal, repetitionPenalty, presencePenalty, frequencyPenalty, logitsProcessor, startTokens, beams, lengthPenalty), got an unknown one",
    ],
  };
  test.each(Object.entries(calls))("refuses %s", async (_, [run, message]) => {
    await expect(run()).rejects.toMatchObject({ name: "HeedError", message });
  });

  test("frees logits that it refuses", async () => {
    const logits = () => heed().tensor([[Number.NaN, 1]]);
    const [ofSampling, ofBeams] = [logits(), logits()];
    await expect(generate(heed(), () => ofSampling, greedy)).rejects.toThrow(/NaN/);
    await expect(beamSearch(heed(), () => ofBeams, { ...beam, beams: 1 })).rejects.toThrow(/NaN/);
    expect([ofSampling, ofBeams].map(({ isDisposed }) => isDisposed)).toEqual([true, true]);
  });
});
