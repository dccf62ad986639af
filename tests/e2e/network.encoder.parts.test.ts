/** The numbers of the whole network of an encoder: its states are the model's, and its parts make them in double precision. */
import { type Heed, load, type Tensor } from "heed";
import { loadModel, type MaskedLanguageModel, withoutHeads } from "heed/models";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encoderAnswer, encoderNetwork } from "../../web/src/network/encoder";
import { explain } from "../../web/src/network/explain";
import type { Facts } from "../../web/src/network/facts";
import { lengthOf } from "../../web/src/network/formulas";
import type {
  AttentionNumbers,
  FeedForwardNumbers,
  LayerNumbers,
  NormNumbers,
  Spot,
  StackNumbers,
} from "../../web/src/network/messages";
import { bert, type Checkpoint, distilbert, filesOf } from "../js/checkpoints";
import { dot, expectNear, range, softmax } from "./networkSums";

const ids = [5, 9, 2, 7, 5, 3];
const [place, layer, head] = [2, 1, 1];

let heed: Heed;
beforeAll(async () => {
  heed = await load({ threads: 1 });
});
afterAll(() => heed.dispose());

const rowAt = ({ data, shape }: Tensor, row: number): number[] => {
  const size = shape.at(-1) as number;
  return [...data.slice(row * size, (row + 1) * size)].map(Number);
};
const vector = (length: number, at: (i: number) => number) => range(length).map(at);

/** A layer norm in double precision. */
function normed({ input, gain, bias, eps }: NormNumbers): number[] {
  const mean = input.reduce((sum, each) => sum + each, 0) / input.length;
  const variance = input.reduce((sum, each) => sum + (each - mean) ** 2, 0) / input.length;
  return Array.from(
    input,
    (each, i) =>
      ((each - mean) / Math.sqrt(variance + eps)) * (gain?.[i] as number) + (bias?.[i] as number),
  );
}

describe.each<[string, () => Checkpoint]>([
  ["BERT", () => bert("bert")],
  ["RoBERTa", () => bert("roberta")],
  ["DistilBERT", distilbert],
])("The whole network of %s", (_, checkpoint) => {
  let model: MaskedLanguageModel;
  let states: Tensor[];
  let numbers: StackNumbers;
  beforeAll(async () => {
    model = (await loadModel(heed, filesOf(checkpoint()))) as MaskedLanguageModel;
    const tensor = heed.tensor(Int32Array.from(ids), [1, ids.length]);
    states = model.forward(tensor, { needHiddenStates: true }).hiddenStates;
    numbers = encoderNetwork(model, { ids, place, layer, head, ablated: [] });
  });
  afterAll(() => model.dispose());
  const parts = () => {
    const open = numbers.open as LayerNumbers;
    const [attention, feedForward] = open.parts as [AttentionNumbers, FeedForwardNumbers];
    return { attention, feedForward, next: open.next as NormNumbers };
  };
  const parameter = (name: string) => {
    const { data, shape } = model.stateDict()[`model.${name}`] as Tensor;
    const width = shape.at(-1) as number;
    return { row: (i: number) => data.subarray(i * width, (i + 1) * width), data };
  };
  const projected = (name: string, input: ArrayLike<number>, size: number) => {
    const [weight, bias] = [parameter(`${name}.weight`), parameter(`${name}.bias`)];
    return vector(size, (i) => dot(weight.row(i), input) + (bias.data[i] as number));
  };

  test("has the model's states, from the rows of its tables on", () => {
    const { start, lengths } = numbers;
    const norm = start.norm as NormNumbers;
    const tables = [start.token, start.position, start.segment].filter((each) => each);
    expectNear(
      norm.input,
      vector(start.stream.length, (i) => tables.reduce((sum, each) => sum + (each?.[i] ?? 0), 0)),
    );
    expectNear(start.stream, normed(norm));
    expectNear(start.stream, rowAt(states[0] as Tensor, place));
    for (const [i, { stream }] of lengths.entries())
      expect(stream).toBeCloseTo(
        lengthOf(Float32Array.from(rowAt(states[i + 1] as Tensor, place))),
        4,
      );
    const { attention, feedForward } = parts();
    expect(lengths[layer]?.added).toEqual([attention, feedForward].map((p) => lengthOf(p.added)));
    expect([numbers.readings, numbers.end]).toEqual([null, null]);
  });

  test("has the parts of a layer, with a norm after each sum", () => {
    const { attention, feedForward, next } = parts();
    const stream = rowAt(states[layer] as Tensor, place);
    expectNear(attention.norm.result, stream);
    const size = stream.length;
    const { heads, bias, headOutputs, output } = attention;
    const own = `layers.${layer}`;
    const joined = projected(`${own}.self_attn.o_proj`, headOutputs, size);
    expectNear(attention.added, joined);
    const count = heads.length / size;
    expectNear(
      joined,
      vector(size, (i) =>
        range(count).reduce((sum, h) => sum + (heads[h * size + i] as number), bias?.[i] ?? 0),
      ),
    );
    expectNear(
      output,
      vector(size, (i) => (stream[i] as number) + (joined[i] as number)),
    );
    expectNear(feedForward.norm.input, output);
    const read = normed(feedForward.norm);
    expectNear(feedForward.norm.result, read);
    const units = feedForward.units.length;
    expectNear(feedForward.gate, projected(`${own}.mlp.up_proj`, read, units));
    const fed = projected(`${own}.mlp.down_proj`, feedForward.units, size);
    expectNear(feedForward.added, fed);
    expectNear(
      next.input,
      vector(size, (i) => (read[i] as number) + (fed[i] as number)),
    );
    expectNear(next.result, normed(next));
    expectNear(next.result, rowAt(states[layer + 1] as Tensor, place));
  });

  test("has the query, the keys, the weights and the sum of the selected head", () => {
    const { head: shown, most } = parts().attention;
    const { shares, values, sum, sources } = shown;
    const { size } = model.config;
    const { headSize } = model.config;
    const all = range(ids.length).map((row) => rowAt(states[layer] as Tensor, row));
    expectNear(sources, all.flat());
    const of = (name: string, row: number) =>
      projected(`layers.${layer}.self_attn.${name}_proj`, all[row] as number[], size).slice(
        head * headSize,
        (head + 1) * headSize,
      );
    const query = of("q", place);
    expectNear(shares.queries, query);
    const keys = range(ids.length).map((row) => of("k", row));
    expectNear(shares.keys, keys.flat());
    const scores = keys.map((key) => dot(key, query) / Math.sqrt(headSize));
    expectNear(shares.scores, scores);
    const weights = softmax(scores);
    expectNear(shares.weights, weights);
    const own = range(ids.length).map((row) => of("v", row));
    expectNear(values, own.flat());
    expectNear(
      sum,
      vector(headSize, (i) =>
        weights.reduce((total, weight, row) => total + weight * (own[row]?.[i] as number), 0),
      ),
    );
    expect(most[head]).toBe(weights.indexOf(Math.max(...weights)));
  });

  test("has formulas that give its numbers", () => {
    const found = encoderAnswer(model, { kind: "matrices", layer });
    const matrices = found.kind === "matrices" ? found.matrices : null;
    const tokens = ids.map((id, i) => `t${id}.${i}`);
    const facts: Facts = { numbers, matrices, tokens, place, sources: [] };
    const { attention, feedForward, next } = parts();
    const said = (spot: Omit<Spot, "row"> & { row?: number }) => {
      const formula = explain({ row: 0, ...spot }, facts)?.formula ?? expect.fail("no formula");
      return formula.map(({ text }) => text).join("");
    };
    const result = (words: string) =>
      Number(/(?:= |: )(−?[\d.]+)$/.exec(words.split("\n")[0] as string)?.[1]?.replace("−", "-"));
    const [start, col] = [numbers.start, 3];
    const rows: [Omit<Spot, "row"> & { row?: number }, number | undefined][] = [
      [{ part: "start", of: "token", col }, start.token[col]],
      [{ part: "start", of: "stream", col }, start.norm?.input[col]],
      [{ part: "start", of: "norm", col }, start.stream[col]],
      [{ part: "attention", of: "query", col }, attention.head.shares.queries[col]],
      [
        { part: "attention", of: "key", col, row: 4 },
        attention.head.shares.keys[4 * model.config.headSize + col],
      ],
      [
        { part: "attention", of: "value", col, row: 1 },
        attention.head.values[model.config.headSize + col],
      ],
      [{ part: "attention", of: "sum", col }, attention.head.sum[col]],
      [
        { part: "attention", of: "head", col, row: head },
        attention.heads[head * model.config.size + col],
      ],
      [{ part: "attention", of: "output", col }, attention.output[col]],
      [{ part: "feed-forward", of: "norm", col }, feedForward.norm.result[col]],
      [{ part: "feed-forward", of: "gate", col }, feedForward.gate[col]],
      [{ part: "feed-forward", of: "added", col }, feedForward.added[col]],
      [{ part: "feed-forward", of: "output", col }, feedForward.output[col]],
      [{ part: "next", of: "norm", col }, next.result[col]],
    ];
    for (const [spot, value] of rows) expect(result(said(spot))).toBeCloseTo(value as number, 2);
    expect(said({ part: "attention", of: "key", col, row: 4 })).toMatch(
      /^W_K row \d+ · input = .+ \+ bias /,
    );
  });

  test("has no contribution of an ablated head, and leaves no tensors in the engine", async () => {
    const held = heed.memory().tensors.count;
    const ablated = [`${layer + 1}.${head + 1}`];
    const path = `model.layers.${layer}.self_attn`;
    const without = await withoutHeads(model, [{ path, head }], () =>
      encoderNetwork(model, { ids, place, layer, head, ablated }),
    );
    const [attention] = (without.open as LayerNumbers).parts as [AttentionNumbers];
    const { size } = model.config;
    const none = attention.heads.slice(head * size, (head + 1) * size);
    expect([...none].every((each) => each === 0)).toBe(true);
    expect(without.lengths[0]).toEqual(numbers.lengths[0]);
    expect(without.lengths[layer]).not.toEqual(numbers.lengths[layer]);
    expect(heed.memory().tensors.count).toBe(held);
  });
});
