// The base of the transformer models (Vaswani et al., 2017).

import type { Tensor } from "../core/tensor.js";
import { checkOptions, isBoolean } from "../core/validate.js";
import type { Heed } from "../heed.js";
import type { ReceiveWeights } from "../nn/capture.js";
import { Dropout, Embedding, PositionalEncoding } from "../nn/layers.js";
import { Module } from "../nn/module.js";
import type { Generator } from "../nn/random.js";
import type { TransformerStackOptions } from "../nn/transformer.js";
import type { Example } from "./examples.js";
import {
  type AttentionsOptions,
  type ComparedVectors,
  type ExampleWeights,
  type LabelledWeights,
  type Labels,
  TaskModel,
} from "./model.js";
import type { ModelConfig } from "./modelConfig.js";

/** Adds position encodings unless the config has none, then applies dropout. */
export class Positions extends Module {
  readonly part: PositionalEncoding | Dropout;

  constructor(heed: Heed, { size, dropout, positions }: ModelConfig, generator: Generator) {
    super(heed);
    this.part =
      positions === "none"
        ? new Dropout(heed, dropout, { generator })
        : new PositionalEncoding(heed, size, { dropout, generator });
  }

  /** x [B, L, E] -> [B, L, E]. The first row has the position `offset`. */
  forward(x: Tensor, offset = 0): Tensor {
    const { part } = this;
    return part instanceof Dropout ? part.forward(x) : part.forward(x, { offset });
  }
}

/**
 * Creates an embedding whose initial values are 0.3 times the values of torch. Position encodings
 * are then large in comparison, and training on "reverse" takes four fifths of the steps.
 */
export function tokenEmbedding(
  heed: Heed,
  tokens: number,
  size: number,
  generator: Generator,
): Embedding {
  const embedding = new Embedding(heed, tokens, size, { generator });
  const { data } = embedding.weight;
  data.set(data.map((x) => 0.3 * x));
  return embedding;
}

/**
 * Returns the options of the stacks. With normFirst, training needs no long warm-up of the learning
 * rate (Xiong et al., 2020).
 */
export function stackOptions(
  { dimFeedforward, dropout }: ModelConfig,
  generator: Generator,
): TransformerStackOptions {
  return { dimFeedforward, dropout, generator, activation: "gelu", normFirst: true, norm: true };
}

/** The `count` indices of an axis from `start` on. */
export interface Range {
  readonly start: number;
  readonly count: number;
}

/** A block of an attention's weights. */
export interface Part {
  readonly rows: Range;
  readonly columns: Range;
}

export abstract class AttentionModel<E extends Example> extends TaskModel<E> {
  /**
   * Returns the block of an attention's weights that is compared with the example's alignment;
   * undefined for an attention that is not compared.
   */
  protected abstract aligned(example: E, path: string): Part | undefined;

  /** Returns the labels of the rows and columns of an attention. */
  protected abstract labels(example: E, path: string): Labels;

  /** Runs the model with teacher forcing, so that its attentions can be captured. */
  protected attend(examples: readonly E[]): void {
    this.forward(examples);
  }

  weights(examples: readonly E[]): ExampleWeights[][] {
    const cut = this.#look(examples, (example, path) => this.aligned(example, path));
    return cut.map((all) => all.map(({ weights }) => weights));
  }

  attentions(examples: readonly E[], options: AttentionsOptions = {}): LabelledWeights[][] {
    checkOptions("attentions", options, { compared: isBoolean });
    const partOf = (example: E, path: string) => {
      const labels = this.labels(example, path);
      return { labels, rows: first(labels.rows.length), columns: first(labels.columns.length) };
    };
    return this.#look(examples, partOf, options.compared).map((all) =>
      all.map(({ part, weights, compared }) => ({
        ...weights,
        ...{ labels: part.labels },
        ...(compared && { compared }),
      })),
    );
  }

  #look<P extends Part>(
    examples: readonly E[],
    partOf: (example: E, path: string) => P | undefined,
    isCompared = false,
  ): { part: P; weights: ExampleWeights; compared: ComparedVectors | undefined }[][] {
    const seen = new Map<string, { weights: Batch; query?: Batch; key?: Batch }>();
    const keep: ReceiveWeights = (path, weights, compare) => {
      const vectors = isCompared ? compare?.() : undefined;
      seen.set(path, {
        weights: copied(weights),
        ...(vectors && { query: copied(vectors.query), key: copied(vectors.key) }),
      });
    };
    this.infer(() => this.attend(examples), keep);
    return examples.map((example, b) =>
      [...seen].flatMap(([path, { weights, query, key }]) => {
        const part = partOf(example, path);
        if (part === undefined) return [];
        // A position in a decoder's self-attention sees only itself and the positions before it.
        const isCausal = path.startsWith("decoder.") && path.endsWith("self_attn");
        const all = this.labels(example, path).columns.length;
        const { start, count } = part.rows;
        const choices = Array.from({ length: count }, (_, i) => (isCausal ? start + i + 1 : all));
        const { data, heads } = cut(weights, b, part);
        const [rows, columns] = [count, part.columns.count];
        const vectorsOf = (batch: Batch, rows: Range) =>
          cut(batch, b, { rows, columns: first(batch.shape.at(-1) as number) }).data;
        const compared = query &&
          key && { query: vectorsOf(query, part.rows), key: vectorsOf(key, part.columns) };
        return [
          { part, weights: { path, heads, rows, columns, weights: data, choices }, compared },
        ];
      }),
    );
  }
}

/** The values of one attention for a batch, [B, H, L, ..]. */
interface Batch {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

const copied = ({ data, shape }: Tensor): Batch => ({ data: data.slice() as Float32Array, shape });

const first = (count: number): Range => ({ start: 0, count });

/** Copies a block of example b: [H, rows, columns]. */
function cut(batch: Batch, b: number, part: Part): { data: Float32Array; heads: number } {
  const [, heads = 0, L = 0, S = 0] = batch.shape;
  const [rows, columns] = [part.rows.count, part.columns.count];
  const data = new Float32Array(heads * rows * columns);
  for (let h = 0; h < heads; ++h) {
    for (let i = 0; i < rows; ++i) {
      const from = ((b * heads + h) * L + part.rows.start + i) * S + part.columns.start;
      data.set(batch.data.subarray(from, from + columns), (h * rows + i) * columns);
    }
  }
  return { data, heads };
}
