// The n-gram model that is the baseline of a language model. It is compared with small cases computed by hand, and with
// the definition computed from maps of texts.

import { nn } from "heed/nn";
import { describe, expect, test } from "vitest";
import { KneserNey } from "../../../web/train/text/kneserNey.mjs";

const sumOver = (model: KneserNey, vocabulary: number, history: readonly number[]) =>
  Array.from({ length: vocabulary }, (_, token) => model.probability(token, history)).reduce(
    (sum, p) => sum + p,
    0,
  );

describe("modified Kneser-Ney smoothing", () => {
  test("gives the values of a case computed by hand", () => {
    // a b a b a c: bigrams ab 2, ba 2, ac 1. There are too few for estimated discounts: 1/2 of 1, 1 of 2.
    const [a, b, c, unseen] = [0, 1, 2, 3];
    const model = new KneserNey([a, b, a, b, a, c], 4, 2);
    // Different tokens before a: 1 (b), before b: 1 (a), before c: 1 (a). Each loses 1/2 of 3.
    const one = (count: number) => (count === 0 ? 0 : count - 0.5) / 3 + (1.5 / 3) * (1 / 4);
    expect(model.probability(a, [])).toBeCloseTo(one(1), 12);
    expect(model.probability(unseen, [])).toBeCloseTo(1 / 8, 12);
    // After a: b 2 (less 1), c 1 (less 1/2), so 1.5 of 3 is left for the shorter context.
    expect(model.probability(b, [a])).toBeCloseTo((2 - 1) / 3 + (1.5 / 3) * one(1), 12);
    expect(model.probability(c, [a])).toBeCloseTo((1 - 0.5) / 3 + (1.5 / 3) * one(1), 12);
    expect(model.probability(unseen, [a])).toBeCloseTo((1.5 / 3) * one(0), 12);
    // c and unseen tokens are not contexts in the text.
    expect(model.probability(a, [c])).toBeCloseTo(one(1), 12);
    expect(model.probability(a, [unseen])).toBeCloseTo(one(1), 12);
    const text = [a, b, c];
    const expected = Math.log(model.probability(b, [a])) + Math.log(model.probability(c, [a, b]));
    expect(model.loss(text)).toBeCloseTo(-expected, 12);
  });

  test("gives the values of the definition", () => {
    const random = new nn.Generator(1);
    for (const [order, length, vocabulary] of [
      [1, 60, 7],
      [2, 80, 5],
      [3, 300, 6],
      [5, 1500, 8],
    ] as const) {
      const tokens = randomTokens(random, length, vocabulary);
      const model = new KneserNey(tokens, vocabulary, order);
      const slow = byDefinition(tokens, vocabulary, order);
      for (let i = 0; i < 200; i++) {
        const history = randomTokens(random, random.next() % 7, vocabulary);
        const token = random.next() % vocabulary;
        expect(model.probability(token, history)).toBeCloseTo(slow(token, history), 12);
      }
    }
  });

  test("gives probabilities that sum to 1 after any history", () => {
    const random = new nn.Generator(2);
    const tokens = randomTokens(random, 5000, 30);
    const model = new KneserNey(tokens, 40, 5);
    for (let i = 0; i < 100; i++) {
      const at = random.next() % (tokens.length - 6);
      const history = i % 2 ? tokens.slice(at, at + 5) : randomTokens(random, 5, 40);
      expect(sumOver(model, 40, history)).toBeCloseTo(1, 12);
    }
  });

  test("predicts a text of the same kind better with longer contexts", () => {
    const random = new nn.Generator(3);
    const [text, held] = [randomTokens(random, 20_000, 8), randomTokens(random, 2000, 8)];
    const [one, three] = [1, 3].map((order) => new KneserNey(text, 8, order).loss(held));
    expect(three).toBeLessThan(0.8 * (one as number));
  });
});

/** A text in which each token depends on the two before it. */
function randomTokens(random: nn.Generator, length: number, vocabulary: number): number[] {
  const tokens: number[] = [];
  for (let i = 0; i < length; i++) {
    const [x = 0, y = 0] = tokens.slice(-2);
    const draw = random.next();
    tokens.push(draw % 3 === 0 ? draw % vocabulary : (x + 2 * y + (draw % 2)) % vocabulary);
  }
  return tokens;
}

/** The model as the paper defines it, from maps whose keys are n-grams as texts. */
function byDefinition(tokens: readonly number[], vocabulary: number, order: number) {
  const grams = (n: number) => tokens.slice(n - 1).map((_, i) => tokens.slice(i, i + n).join(" "));
  const countsOf = (n: number) => {
    const counts = new Map<string, number>();
    const counted = n === order ? grams(n) : [...new Set(grams(n + 1))].map(withoutFirst);
    for (const gram of counted) counts.set(gram, (counts.get(gram) ?? 0) + 1);
    return counts;
  };
  const withoutFirst = (gram: string) => gram.split(" ").slice(1).join(" ");
  const tables = Array.from({ length: order }, (_, i) => countsOf(i + 1));
  const discounts = tables.map((counts) => {
    const [n1, n2, n3, n4] = [1, 2, 3, 4].map(
      (wanted) => [...counts.values()].filter((count) => count === wanted).length,
    ) as [number, number, number, number];
    if (n1 * n2 * n3 * n4 === 0) return [0, 0.5, 1, 1.5];
    const y = n1 / (n1 + 2 * n2);
    return [0, 1 - (2 * y * n2) / n1, 2 - (3 * y * n3) / n2, 3 - (4 * y * n4) / n3];
  });
  const probability = (token: number, context: readonly number[]): number => {
    const n = context.length + 1;
    const shorter = n === 1 ? 1 / vocabulary : probability(token, context.slice(1));
    const prefix = context.map((id) => `${id} `).join("");
    const after = [...(tables[n - 1] as Map<string, number>)].filter(
      ([gram]) => gram.startsWith(prefix) && gram.split(" ").length === n,
    );
    const total = after.reduce((sum, [, count]) => sum + count, 0);
    if (total === 0) return shorter;
    const d = (count: number) => (discounts[n - 1] as number[])[Math.min(count, 3)] as number;
    const own = after.find(([gram]) => gram === `${prefix}${token}`)?.[1] ?? 0;
    const kept = after.reduce((sum, [, count]) => sum + d(count), 0);
    return (own - d(own)) / total + (kept / total) * shorter;
  };
  return (token: number, history: readonly number[]) =>
    probability(token, order === 1 ? [] : history.slice(-(order - 1)));
}
