// Transformers for tasks (Vaswani et al., 2017).

import type { ReceiveWeights } from "../nn/capture.js";
import { Dropout, Embedding, Linear, PositionalEncoding } from "../nn/layers.js";
import { Module } from "../nn/module.js";
import type { Generator } from "../nn/random.js";
import {
  TransformerDecoder,
  TransformerEncoder,
  type TransformerStackOptions,
} from "../nn/transformer.js";
import type { TransformerCache } from "../nn/transformerCache.js";
import type { Heed } from "../ops.js";
import type { Tensor } from "../tensor.js";
import type { Example, Translation } from "./examples.js";
import { lessonOf } from "./lesson.js";
import {
  type Answer,
  type AnswerOptions,
  type ExampleWeights,
  type Lesson,
  type ModelConfig,
  TaskModel,
} from "./model.js";
import { checkAnswerOptions, type Decoding, decode } from "./stepwise.js";
import { endId, maskOf, padded, padId, startId, Vocabulary } from "./vocabulary.js";

/** Tells vectors where they stand, if the config wants it, and drops. */
class Positions extends Module {
  readonly part: PositionalEncoding | Dropout;

  constructor(heed: Heed, { size, dropout, positions }: ModelConfig, generator: Generator) {
    super(heed);
    this.part =
      positions === "none"
        ? new Dropout(heed, dropout, { generator })
        : new PositionalEncoding(heed, size, { dropout, generator });
  }

  /** x [B, L, E], of which the first row stands at `offset` -> [B, L, E] */
  forward(x: Tensor, offset = 0): Tensor {
    const { part } = this;
    return part instanceof Dropout ? part.forward(x) : part.forward(x, { offset });
  }
}

/** Norms first: such layers train without a long rise of the learning rate (Xiong et al., 2020). */
function stackOptions(
  { dimFeedforward, dropout }: ModelConfig,
  generator: Generator,
): TransformerStackOptions {
  return { dimFeedforward, dropout, generator, activation: "gelu", normFirst: true, norm: true };
}

/** So many entries of an axis. */
interface Range {
  readonly start: number;
  readonly count: number;
}

/** The weights of one attention for a whole batch: [B, H, L, S]. */
interface BatchWeights {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

/** The weights of one example, [heads, rows, columns]. */
function cut({ data, shape }: BatchWeights, b: number, rows: Range, columns: Range): Float32Array {
  const [, heads = 0, L = 0, S = 0] = shape;
  const part = new Float32Array(heads * rows.count * columns.count);
  for (let h = 0; h < heads; ++h) {
    for (let i = 0; i < rows.count; ++i) {
      const from = ((b * heads + h) * L + rows.start + i) * S + columns.start;
      const to = (h * rows.count + i) * columns.count;
      part.set(data.subarray(from, from + columns.count), to);
    }
  }
  return part;
}

/** What models made of attention alone have in common. */
abstract class AttentionModel<E extends Example> extends TaskModel<E> {
  /** The part of an attention in which an example's alignment is to be seen, if there is one. */
  protected abstract aligned(example: E, path: string): { rows: Range; columns: Range } | undefined;

  weights(examples: readonly E[]): ExampleWeights[][] {
    const seen = new Map<string, BatchWeights>();
    const keep: ReceiveWeights = (path, { data, shape }) =>
      seen.set(path, { data: data.slice() as Float32Array, shape });
    this.infer(() => void this.forward(examples), keep);
    return examples.map((example, b) =>
      [...seen].flatMap(([path, weights]) => {
        const { rows, columns } = this.aligned(example, path) ?? {};
        if (rows === undefined || columns === undefined) return [];
        return {
          ...{ path, heads: weights.shape[1] as number, rows: rows.count, columns: columns.count },
          weights: cut(weights, b, rows, columns),
        };
      }),
    );
  }
}

/** An encoder for the source and a decoder for the target. */
export class TransformerModel extends AttentionModel<Translation> {
  readonly sourceVocabulary: Vocabulary;
  readonly targetVocabulary: Vocabulary;
  readonly sourceEmbedding: Embedding;
  readonly targetEmbedding: Embedding;
  readonly positions: Positions;
  readonly encoder: TransformerEncoder;
  readonly decoder: TransformerDecoder;
  readonly readOut: Linear;

  constructor(heed: Heed, config: ModelConfig) {
    super(heed, config);
    const { generator } = this;
    const { size, heads, layers, vocabulary } = config;
    this.sourceVocabulary = new Vocabulary(vocabulary.source);
    this.targetVocabulary = new Vocabulary(vocabulary.target);
    this.sourceEmbedding = new Embedding(heed, this.sourceVocabulary.size, size, { generator });
    this.targetEmbedding = new Embedding(heed, this.targetVocabulary.size, size, { generator });
    this.positions = new Positions(heed, config, generator);
    const options = stackOptions(config, generator);
    this.encoder = new TransformerEncoder(heed, size, heads, layers, options);
    this.decoder = new TransformerDecoder(heed, size, heads, layers, options);
    this.readOut = new Linear(heed, size, this.targetVocabulary.size, { generator });
  }

  forward(examples: readonly Translation[]): Lesson {
    this.checkExamples(examples);
    const targets = examples.map(({ target }) => this.targetVocabulary.encode(target));
    const memory = this.#encode(examples);
    // What stands after the end of a target is seen by nothing before it: there is no mask for it.
    const before = padded(
      this.heed,
      targets.map((target) => [startId, ...target]),
    );
    const answers = padded(
      this.heed,
      targets.map((target) => [...target, endId]),
    );
    return lessonOf(this.heed, this.#decode(before, memory), answers, padId);
  }

  async answer(examples: readonly Translation[], options: AnswerOptions = {}): Promise<Answer[]> {
    this.checkExamples(examples);
    checkAnswerOptions(options);
    const { longest = this.config.longest.target, receive } = options;
    const found = await decode(this.heed, examples, { ...options, longest }, (some, rows) =>
      this.#begin(some, rows, longest, receive),
    );
    return found.map((ids) => ({ kind: "tokens", tokens: this.targetVocabulary.decode(ids) }));
  }

  protected override aligned({ source, target }: Translation, path: string) {
    if (!path.endsWith("multihead_attn")) return undefined;
    // Row t of the decoder says token t; the one after them all says that this is the end.
    return {
      rows: { start: 0, count: target.length },
      columns: { start: 0, count: source.length },
    };
  }

  #begin(
    examples: readonly Translation[],
    rows: number,
    longest: number,
    receive: ReceiveWeights | undefined,
  ): Decoding {
    const { heed } = this;
    const batch = examples.length * rows;
    const memoryLength = Math.max(...examples.map(({ source }) => source.length));
    const cache = this.decoder.createCache({ batch, capacity: longest, memoryLength });
    let memory: Memory | undefined;
    const encode = () => {
      const { encoded, keyMask } = this.#encode(examples);
      // Several rows are those of a beam search, for a single example: it has no mask.
      const shape = [batch, memoryLength, this.config.size];
      return { encoded: rows === 1 ? encoded : heed.broadcastTo(encoded, shape), keyMask };
    };
    return {
      startTokens: examples.map(() => [startId]),
      step: (sequences, order) => {
        const known = memory ?? this.infer(encode, receive);
        memory = known;
        return this.infer(() => {
          cache.reorder(order);
          const last = Int32Array.from(sequences, (tokens) => tokens.at(-1) as number);
          const logits = this.#decode(heed.tensor(last, [batch, 1]), known, cache);
          return heed.reshape(logits, [batch, -1]);
        }, receive);
      },
      dispose: () => {
        cache.dispose();
        memory?.encoded.dispose();
        memory?.keyMask?.dispose();
      },
    };
  }

  #encode(examples: readonly Translation[]): Memory {
    const { heed } = this;
    const rows = examples.map(({ source }) => this.sourceVocabulary.encode(source));
    const keyMask = maskOf(
      heed,
      rows.map(({ length }) => length),
    );
    const x = this.positions.forward(this.sourceEmbedding.forward(padded(heed, rows)));
    return { encoded: this.encoder.forward(x, { ...(keyMask && { keyMask }) }), keyMask };
  }

  /** ids int32 [B, L] -> [B, L, V]; with a cache they go on from what it has. */
  #decode(ids: Tensor, { encoded, keyMask }: Memory, cache?: TransformerCache): Tensor {
    const x = this.positions.forward(this.targetEmbedding.forward(ids), cache?.lengths[0]);
    const decoded = this.decoder.forward(x, encoded, {
      ...{ tgtIsCausal: true },
      ...(keyMask && { memoryKeyMask: keyMask }),
      ...(cache && { cache }),
    });
    return this.readOut.forward(decoded);
  }
}

/** What an encoder makes of sources. */
interface Memory {
  /** [B, S, E] */
  encoded: Tensor;
  /** bool [B, S]; undefined if all are of one length. */
  keyMask: Tensor | undefined;
}
