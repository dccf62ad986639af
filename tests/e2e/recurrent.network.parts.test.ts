/** The numbers of the whole Transformer of dates, compared with the oracle in double precision. */
import { type Heed, load } from "heed";
import { loadModel, type TransformerModel } from "heed/models";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { explain } from "../../web/src/network/explain";
import type { Facts } from "../../web/src/network/facts";
import { lengthOf } from "../../web/src/network/formulas";
import type {
  AttentionNumbers,
  FeedForwardNumbers,
  PartName,
  Spot,
  StackNumbers,
} from "../../web/src/network/messages";
import {
  type StackName,
  type TransformerNumbers,
  transformerNetwork,
} from "../../web/src/network/transformer";
import { settings } from "../../web/src/rooms/recurrent/state";
import {
  decoderParts,
  encoderParts,
  layerNorm,
  linear,
  type Parameters,
  type Sublayer,
  type Sublayers,
} from "../js/layer_oracle";
import { parametersOf } from "../js/modules";
import type { Values } from "../js/oracle";
import { dot, expectNear, range, softmax, sumOf } from "./networkSums";
import { example, fileOf } from "./recurrent";

const [E, H, D] = [64, 4, 16];
const source = [...example];
const written = [..."2021-"];
const place = 4;
const head = 2;
const step = written.length;

let heed: Heed;
let model: TransformerModel;
let p: Parameters;
/** Computed by the oracle: the layers of both stacks, and the output of the encoder. */
let wanted: Record<StackName, Sublayers[]>;
let memory: Values;

/** Embeddings with positions (Vaswani et al., 2017, section 3.5). */
function embedded(table: Values, ids: readonly number[]): Values {
  const data = ids.flatMap((id, position) =>
    range(E).map((i) => {
      const angle = position / 10000 ** ((2 * Math.floor(i / 2)) / E);
      const wave = i % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
      return (table.data[id * E + i] as number) + wave;
    }),
  );
  return { data, shape: [1, ids.length, E] };
}

beforeAll(async () => {
  heed = await load({ threads: 1 });
  model = loadModel(heed, {
    config: fileOf("transformer", "config.json").toString(),
    weights: new Uint8Array(fileOf("transformer", "model.safetensors")),
  }) as TransformerModel;
  p = parametersOf(model);
  const kind = { heads: H, activation: "gelu", normFirst: true } as const;
  const from = model.sourceVocabulary.encode(source);
  const to = model.targetVocabulary.encode(["<start>", ...written]);
  wanted = { encoder: [], decoder: [] };
  let x = embedded(p.get("source_embedding.weight"), from);
  for (const i of [0, 1]) {
    const parts = encoderParts(p.of(`encoder.layers.${i}`), kind, x, {});
    wanted.encoder.push(parts);
    x = parts.feedForward.after;
  }
  memory = layerNorm(p.of("encoder.norm"), x);
  x = embedded(p.get("target_embedding.weight"), to);
  for (const i of [0, 1]) {
    const own = p.of(`decoder.layers.${i}`);
    const parts = decoderParts(own, kind, [x, memory], { isCausal: true }, {});
    wanted.decoder.push(parts);
    x = parts.feedForward.after;
  }
});
afterAll(() => heed.dispose());

const ask = (stack: StackName, layer: number): TransformerNumbers =>
  transformerNetwork(model, { source, written, place, head, open: { stack, layer } });

const rowIn = ({ data, shape }: Values, row: number): number[] => {
  const size = shape.at(-1) as number;
  return Array.from(data).slice(row * size, (row + 1) * size);
};

const partNamed = (numbers: StackNumbers, name: PartName) =>
  numbers.open?.parts.find((part) => part.name === name);

/** The prediction that the decoder would make if it ended after this stream. */
function saidAfter(stream: number[]): number[] {
  const normed = layerNorm(p.of("decoder.norm"), { data: stream, shape: [1, E] });
  return softmax(Array.from(linear(p.of("read_out"), normed).data));
}

describe.each<[StackName, number, number]>([
  ["encoder", 0, place],
  ["encoder", 1, place],
  ["decoder", 0, step],
  ["decoder", 1, step],
])("Of the %s, the layer %i of the Transformer of dates", (stack, layer, row) => {
  test("has the oracle's vectors in each part", () => {
    const all = ask(stack, layer);
    const numbers = all[stack];
    const parts = wanted[stack][layer] as Sublayers;
    expect(numbers.open?.layer).toBe(layer);
    expect(all[stack === "encoder" ? "decoder" : "encoder"].open).toBeNull();
    const names = { attention: "selfAttn", cross: "multiheadAttn", "feed-forward": "feedForward" };
    expect(numbers.partNames).toEqual(
      stack === "encoder" ? ["attention", "feed-forward"] : Object.keys(names),
    );
    expect(numbers.open?.parts.map(({ name }) => name)).toEqual(numbers.partNames);
    for (const [i, part] of (numbers.open?.parts ?? []).entries()) {
      const own = parts[names[part.name] as keyof Sublayers] as Sublayer;
      expectNear(part.norm.input, rowIn(own.before, row));
      expectNear(part.norm.result, rowIn(own.input, row));
      expectNear(part.added, rowIn(own.added, row));
      expectNear(part.output, rowIn(own.after, row));
      const added = Float32Array.from(rowIn(own.added, row));
      expect(numbers.lengths[layer]?.added[i]).toBeCloseTo(lengthOf(added), 4);
    }
    const { units } = partNamed(numbers, "feed-forward") as FeedForwardNumbers;
    expectNear(units, rowIn(parts.feedForward.units as Values, row));
    const after = Float32Array.from(rowIn(parts.feedForward.after, row));
    expect(numbers.lengths[layer]?.stream).toBeCloseTo(lengthOf(after), 4);
  });

  test("has the tokens that each head attends to, and the vector that it adds", () => {
    const numbers = ask(stack, layer)[stack];
    const parts = wanted[stack][layer] as Sublayers;
    const attentions = [
      ["attention", parts.selfAttn],
      ...(parts.multiheadAttn ? [["cross", parts.multiheadAttn] as const] : []),
    ] as const;
    for (const [name, own] of attentions) {
      const found = partNamed(numbers, name) as AttentionNumbers;
      const weights = own.weights as Values;
      const [, , rows, columns] = weights.shape as [number, number, number, number];
      expectNear(found.maps?.weights, weights.data);
      expect([found.maps?.rows, found.maps?.columns]).toEqual([rows, columns]);
      const rowOf = (head: number) =>
        Array.from(weights.data).slice(
          (head * rows + row) * columns,
          (head * rows + row + 1) * columns,
        );
      expectNear(found.head.shares.weights, rowOf(head));
      expectNear(softmax(Array.from(found.head.shares.scores)), rowOf(head));
      for (const head of range(H)) {
        const most = Math.max(...rowOf(head));
        expect(found.mostWeights[head]).toBeCloseTo(most, 5);
        expect(rowOf(head)[found.most[head] as number]).toBe(most);
      }
      const { shares, values, sources } = found.head;
      const dots = range(columns).map(
        (j) => dot(shares.queries, shares.keys.slice(j * D, (j + 1) * D)) / Math.sqrt(D),
      );
      expectNear(shares.scores, dots);
      expectNear(
        found.headOutputs.slice(head * D, (head + 1) * D),
        range(D).map((d) =>
          dot(
            shares.weights,
            range(columns).map((j) => values[j * D + d] as number),
          ),
        ),
      );
      expectNear(sources, (name === "cross" ? memory : own.input).data);
      const sum = range(E).map(
        (i) =>
          range(H).reduce((total, head) => total + (found.heads[head * E + i] as number), 0) +
          (found.bias?.[i] as number),
      );
      expectNear(found.added, sum);
    }
  });

  test("has formulas that give the engine's numbers", () => {
    const all = ask(stack, layer);
    const tokens = stack === "encoder" ? source : ["start", ...written];
    const facts: Facts = {
      ...{ numbers: all[stack], matrices: all.matrices, tokens, sources: source, place: row },
    };
    const names = all[stack].partNames;
    const attentions = names.filter((name) => name !== "feed-forward");
    const spots: [Spot, number][] = attentions.flatMap((part): [Spot, number][] => {
      const { head: own, heads, output } = partNamed(all[stack], part) as AttentionNumbers;
      return [
        [{ part, of: "query", row: 0, col: 3 }, own.shares.queries[3] as number],
        [{ part, of: "key", row: 5, col: 3 }, own.shares.keys[5 * D + 3] as number],
        [{ part, of: "value", row: 5, col: 3 }, own.values[5 * D + 3] as number],
        [{ part, of: "head", row: 1, col: 7 }, heads[E + 7] as number],
        [{ part, of: "output", row: 0, col: 7 }, output[7] as number],
      ];
    });
    const network = partNamed(all[stack], "feed-forward") as FeedForwardNumbers;
    spots.push(
      [{ part: "feed-forward", of: "gate", row: 0, col: 9 }, network.gate[9] as number],
      [{ part: "feed-forward", of: "added", row: 0, col: 9 }, network.added[9] as number],
      [{ part: "feed-forward", of: "norm", row: 0, col: 9 }, network.norm.result[9] as number],
    );
    for (const [spot, exact] of spots) {
      const words = (explain(spot, facts)?.formula ?? []).map(({ text }) => text).join("");
      const value = (words.split("\n")[0] as string).split(" = ").at(-1);
      expect(sumOf(value as string), JSON.stringify(spot)).toBeCloseTo(exact, 2.9);
    }
  });
});

test("The ends of both stacks equal the oracle's, and the decoder is read out after each part", () => {
  const { encoder, decoder, matrices } = transformerNetwork(model, {
    ...{ source, written, place, head, open: null },
  });
  expect(matrices).toBeNull();
  expectNear(encoder.end?.norm.result, rowIn(memory, place));
  expect([encoder.readings, encoder.end?.prediction]).toEqual([null, null]);
  const after = (name: keyof Sublayers, layer: number) =>
    rowIn(((wanted.decoder[layer] as Sublayers)[name] as Sublayer).after, step);
  const start = rowIn((wanted.decoder[0] as Sublayers).selfAttn.before, step);
  const streams = [
    start,
    ...[0, 1].flatMap((layer) =>
      (["selfAttn", "multiheadAttn", "feedForward"] as const).map((name) => after(name, layer)),
    ),
  ];
  const end = saidAfter(after("feedForward", 1));
  const winner = end.indexOf(Math.max(...end));
  expect(model.targetVocabulary.tokens[winner]).toBe("0");
  expect(decoder.readings).toHaveLength(streams.length);
  for (const [i, stream] of streams.entries()) {
    const reading = decoder.readings?.[i] ?? expect.fail();
    const shares = saidAfter(stream);
    expect(reading.winner).toBeCloseTo(shares[winner] as number, 4);
    expectNear(
      reading.shares,
      Array.from(reading.ids, (id) => shares[id] as number),
    );
  }
  const { norm, prediction } = decoder.end ?? expect.fail();
  const { logits, rows, bias, logSum } = prediction ?? expect.fail();
  const { result } = norm;
  expectNear(
    logits,
    Array.from(
      logits,
      (_, i) => dot(result, rows?.slice(i * E, (i + 1) * E) ?? []) + (bias?.[i] as number),
    ),
  );
  expect(Math.exp((logits[0] as number) - logSum)).toBeCloseTo(end[winner] as number, 4);
  // The formula of a position gives the position's number.
  for (const col of [0, 1, 6, 63]) {
    const facts = { numbers: decoder, matrices, tokens: ["start", ...written], sources: source };
    const shown = explain(
      { part: "start", of: "position", row: 0, col },
      { ...facts, place: step },
    );
    const [, wave, at, power] =
      /^(sin|cos)\((\d+) ÷ 10000\^\((\d+) ÷ 64\)\)/.exec(shown?.formula[0]?.text ?? "") ?? [];
    const angle = Number(at) / 10000 ** (Number(power) / E);
    expect(wave === "sin" ? Math.sin(angle) : Math.cos(angle)).toBeCloseTo(
      decoder.start.position?.[col] as number,
      5,
    );
  }
});

test("A trace leaves no tensors in the engine, and refuses unknown tokens", () => {
  const before = heed.memory().tensors.count;
  ask("decoder", 1);
  expect(() =>
    transformerNetwork(model, { source: ["é"], written, place: 0, head, open: null }),
  ).toThrow("é");
  expect(heed.memory().tensors.count).toBe(before);
});

test("The open row is read from a link as it was written, and invalid ones are refused", () => {
  const { read, write } = settings.network;
  for (const text of ["open", "encoder.0", "decoder.3"]) expect(write(read(text))).toBe(text);
  expect(write(null)).toBeNull();
  for (const text of ["", "decoder", "decoder.4", "decoder.1.1", "both.1"])
    expect(() => read(text)).toThrow(RangeError);
});
