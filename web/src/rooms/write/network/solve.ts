/** A token's way through the model, number by number. */
import type { Heed, Tensor } from "heed";
import type { CausalLanguageModel, LayerParts, ReceiveLayer } from "heed/models";
import { nn } from "heed/nn";
import type { HeadPlace } from "../../../shared/layerHeads";
import { idsTensor } from "../../../worker/languageHeads";
import { numbersOf } from "../../../worker/numbersOf";
import type {
  HeadNumbers,
  LastNumbers,
  LayerNumbers,
  NetworkAnswer,
  NetworkRequest,
  Reading,
  WeightsAnswer,
} from "./messages";

/** The number of tokens that a reading names. */
const mostRead = 10;

/** The last row of a tensor. */
function lastRow({ data, shape }: Tensor): Float32Array {
  return data.slice(-(shape.at(-1) as number)) as Float32Array;
}

/** The weight matrix of a part: this model's are float32. */
const matrixOf = ({ weight }: { weight: unknown }) => weight as Tensor;

/** What each head adds: the output projection of its part alone, [H, E]. */
function addedByHeads(heed: Heed, joined: Float32Array, heads: number, output: Tensor): Tensor {
  const size = joined.length / heads;
  const rows = new Float32Array(heads * joined.length);
  for (let head = 0; head < heads; ++head) {
    const part = joined.subarray(head * size, (head + 1) * size);
    rows.set(part, head * (joined.length + size));
  }
  return heed.linear(heed.tensor(rows, [heads, joined.length]), output);
}

/** The lengths of the columns of a matrix. */
function columnLengths({ data, shape }: Tensor): Float64Array {
  const [rows, cols] = shape as [number, number];
  const squares = new Float64Array(cols);
  for (let i = 0; i < rows; ++i) {
    for (let j = 0; j < cols; ++j) {
      const value = data[i * cols + j] as number;
      squares[j] = (squares[j] as number) + value * value;
    }
  }
  return squares.map(Math.sqrt);
}

type Attended = Pick<LayerNumbers, "most" | "mostWeights">;

/** The tokens that the last token attends to most, from the weights [1, H, L, L]. */
function mostAttended({ data, shape }: Tensor): Attended {
  const [, heads, count] = shape as [number, number, number];
  const most = new Int32Array(heads);
  const mostWeights = Float32Array.from(most, (_, head) => {
    const end = (head + 1) * count * count;
    const row = data.subarray(end - count, end) as Float32Array;
    const weight = row.reduce((a, b) => Math.max(a, b));
    most[head] = row.indexOf(weight);
    return weight;
  });
  return { most, mostWeights };
}

function layerNumbers(
  { heed, config, model }: CausalLanguageModel,
  layer: number,
  parts: LayerParts,
  attended: Attended,
): LayerNumbers {
  const { inputLayernorm, selfAttn, postAttentionLayernorm, mlp } =
    // The model has called with this layer.
    model.layers[layer] as (typeof model.layers)[number];
  const headOutputs = lastRow(parts.headOutputs);
  const units = lastRow(parts.units);
  const lengths = columnLengths(matrixOf(mlp.downProj));
  return {
    ...attended,
    input: lastRow(parts.input),
    firstGain: numbersOf(matrixOf(inputLayernorm)),
    firstNormed: lastRow(parts.attentionInput),
    headOutputs,
    heads: heed.scope(() =>
      numbersOf(addedByHeads(heed, headOutputs, config.heads, matrixOf(selfAttn.oProj))),
    ),
    attention: lastRow(parts.attention),
    between: lastRow(parts.between),
    secondGain: numbersOf(matrixOf(postAttentionLayernorm)),
    secondNormed: lastRow(parts.feedForwardInput),
    gate: lastRow(parts.gate as Tensor),
    up: lastRow(parts.up as Tensor),
    units,
    unitLengths: units.map((unit, i) => Math.abs(unit) * (lengths[i] as number)),
    feedForward: lastRow(parts.feedForward),
    output: lastRow(parts.output),
  };
}

type SeenHead = Omit<HeadNumbers, "unrotated" | "frequencies">;

/** The head's numbers for the last of `count` tokens. */
function seenHead(
  { config }: CausalLanguageModel,
  place: HeadPlace,
  weights: Tensor,
  compared: nn.Compared,
): SeenHead {
  const { headSize } = config;
  const count = weights.shape.at(-1) as number;
  // Groups of heads share keys and values.
  const group = Math.floor((place.head * config.kvHeads) / config.heads);
  const part = ({ data }: Tensor, end: number, size: number) =>
    data.slice(end - size, end) as Float32Array;
  const ends = { row: (place.head + 1) * count, group: (group + 1) * count * headSize };
  return {
    place,
    shares: {
      weights: part(weights, ends.row * count, count),
      scores: part(compared.scores(), ends.row * count, count),
      queries: part(compared.query, ends.row * headSize, headSize),
      keys: part(compared.key, ends.group, count * headSize),
    },
    values: part(compared.value, ends.group, count * headSize),
  };
}

/** The query of a head before its rotation. */
function unrotatedQuery(
  { heed, config, model }: CausalLanguageModel,
  { layer, head }: HeadPlace,
  normed: Float32Array,
): Float32Array {
  const { headSize } = config;
  return heed.scope(() => {
    const input = heed.tensor(normed, [1, normed.length]);
    const query = model.layers[layer]?.selfAttn.qProj.forward(input) as Tensor;
    return query.data.slice(head * headSize, (head + 1) * headSize) as Float32Array;
  });
}

/** Reads out the streams, each [E]; the last one is what the model says. */
function readingsOf(
  model: CausalLanguageModel,
  streams: readonly Float32Array[],
): { readings: Reading[]; last: LastNumbers } {
  const { heed, config } = model;
  const { size, vocabularySize } = config;
  return heed.scope(() => {
    const rows = new Float32Array(streams.length * size);
    for (const [i, stream] of streams.entries()) rows.set(stream, i * size);
    const all = heed.tensor(rows, [streams.length, size]);
    const logits = model.readOut(all);
    const shares = heed.softmax(logits);
    const { values, indices } = heed.topK(shares, mostRead);
    const row = <T extends Float32Array | Int32Array>(data: T, i: number) =>
      data.slice(i * mostRead, (i + 1) * mostRead) as T;
    const end = streams.length - 1;
    const best = row(indices.data as Int32Array, end);
    const readings = streams.map((_, i) => ({
      ids: row(indices.data as Int32Array, i),
      shares: row(values.data as Float32Array, i),
      winner: shares.data[i * vocabularySize + (best[0] as number)] as number,
    }));
    const own = lastRow(logits);
    const first = own[best[0] as number] as number;
    const sum = own.reduce((total, logit) => total + Math.exp(logit - first), 0);
    const normed = model.model.norm.forward(all);
    return {
      readings,
      last: {
        gain: numbersOf(matrixOf(model.model.norm)),
        normed: lastRow(normed),
        logits: Float32Array.from(best, (id) => own[id] as number),
        rows: numbersOf(heed.embedding(heed.tensor(best), matrixOf(model.model.embedTokens))),
        logSum: first + Math.log(sum),
      },
    };
  });
}

export function networkOf(
  model: CausalLanguageModel,
  { ids, head }: Pick<NetworkRequest, "ids" | "head">,
): NetworkAnswer {
  const { heed, config } = model;
  const attended: Attended[] = [];
  const layers: LayerNumbers[] = [];
  let seen: SeenHead | null = null;
  const receive: nn.ReceiveWeights = (_, weights, compared) =>
    void heed.scope(() => {
      if (attended.push(mostAttended(weights)) - 1 === head?.layer)
        seen = seenHead(model, head, weights, (compared as () => nn.Compared)());
    });
  const receiveLayer: ReceiveLayer = (layer, parts) =>
    void layers.push(layerNumbers(model, layer, parts, attended[layer] as Attended));
  // A scope keeps what its function returns, and the logits are not needed.
  heed.scope(() => {
    nn.captureAttention(model, receive, () =>
      model.forward(idsTensor(heed, ids), { onlyLast: true, receiveLayer }),
    );
  });
  const streams = layers.flatMap(({ between, output }) => [between, output]);
  const start = layers[0]?.input as Float32Array;
  const own = head && layers[head.layer];
  return {
    kind: "network",
    layers,
    ...readingsOf(model, [start, ...streams]),
    head:
      head && own
        ? {
            ...(seen as unknown as SeenHead),
            unrotated: unrotatedQuery(model, head, own.firstNormed),
            frequencies: config.rotation?.frequencies ?? [],
          }
        : null,
    eps: config.eps,
  };
}

export function weightsOfLayer({ model }: CausalLanguageModel, layer: number): WeightsAnswer {
  const { selfAttn, mlp } = model.layers[layer] as (typeof model.layers)[number];
  return {
    ...{ kind: "weights", layer },
    q: numbersOf(matrixOf(selfAttn.qProj)),
    o: numbersOf(matrixOf(selfAttn.oProj)),
    gate: numbersOf(matrixOf(mlp.gateProj as NonNullable<typeof mlp.gateProj>)),
    up: numbersOf(matrixOf(mlp.upProj)),
    down: numbersOf(matrixOf(mlp.downProj)),
  };
}
