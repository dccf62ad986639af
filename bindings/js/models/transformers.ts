// Transformers that generate text token by token.

import { optional } from "../core/objects.js";
import type { Tensor } from "../core/tensor.js";
import type { Heed } from "../heed.js";
import type { ReceiveWeights } from "../nn/capture.js";
import { type Embedding, Linear } from "../nn/layers.js";
import { TransformerDecoder, TransformerEncoder } from "../nn/transformer.js";
import type { TransformerCache, TransformerCacheOptions } from "../nn/transformerCache.js";
import {
  AttentionModel,
  type Part,
  Positions,
  stackOptions,
  tokenEmbedding,
} from "./attentionModel.js";
import type { Continuation, Translation } from "./examples.js";
import { lessonOf, likeliestOf, probabilitiesOf } from "./lesson.js";
import type { Answer, AnswerOptions, Labels, Lesson, TokenProbabilities } from "./model.js";
import type { ModelConfig } from "./modelConfig.js";
import { checkAnswerOptions, type Decoding, decode } from "./stepwise.js";
import { endId, maskOf, padded, padId, startId, Vocabulary } from "./vocabulary.js";

/** The result of the encoder, computed once per source. */
interface Memory {
  /** [B, S, E] */
  encoded?: Tensor | undefined;
  /** bool [B, S]; absent if all sources have the same length. */
  keyMask?: Tensor | undefined;
}

/** The token ids of one example for teacher forcing. */
interface Teaching {
  /** The input of the model. */
  given: number[];
  /** The expected output after each token of the input; padding where nothing is expected. */
  answers: number[];
}

/** A model that is trained with teacher forcing and generates text with a cache. */
abstract class WritingModel<E extends Translation | Continuation> extends AttentionModel<E> {
  abstract readonly targetVocabulary: Vocabulary;
  /** The layer from the result of `hiddenStates` to the logits. */
  abstract readonly readOut: Linear;

  protected abstract teach(example: E): Teaching;

  /** The tokens after which the answer begins. */
  protected abstract prompt(example: E): number[];

  protected abstract encode(examples: readonly E[]): Memory;

  /** ids int32 [B, L] -> [B, L, E]. With a cache, ids continue the cached sequences. */
  protected abstract hiddenStates(ids: Tensor, memory: Memory, cache?: TransformerCache): Tensor;

  protected abstract cacheFor(
    examples: readonly E[],
    options: TransformerCacheOptions,
  ): TransformerCache;

  forward(examples: readonly E[]): Lesson {
    const { logits, answers } = this.#lesson(examples);
    return lessonOf(this.heed, logits, answers, padId);
  }

  /** The most likely token at each position of the answers and at their ends, with teacher forcing. */
  likeliest(examples: readonly E[], receive?: ReceiveWeights): string[][] {
    return this.infer(() => {
      const { logits, answers } = this.#lesson(examples);
      const ids = likeliestOf(this.heed, logits);
      const length = answers.shape[1] as number;
      const isAsked = Array.from(answers.data, (answer) => answer !== padId);
      return examples.map((_, b) =>
        Array.from({ length }, (_, i) => b * length + i)
          .filter((place) => isAsked[place])
          .map((place) => this.targetVocabulary.tokens[ids[place] as number] as string),
      );
    }, receive);
  }

  /** The probabilities of all tokens at each position of the answers and at their ends, with teacher forcing. */
  probabilities(examples: readonly E[], receive?: ReceiveWeights): TokenProbabilities[] {
    return this.infer(() => {
      const { logits, answers } = this.#lesson(examples);
      return probabilitiesOf(this.heed, logits, answers, padId, this.targetVocabulary.tokens);
    }, receive);
  }

  /** Generates the continuation of a text, or the translation of a source. */
  async write(examples: readonly E[], options: AnswerOptions = {}): Promise<string[][]> {
    this.checkExamples(examples);
    checkAnswerOptions(options);
    const prompts = examples.map((example) => this.prompt(example));
    const limits = examples.map((example) => options.longest ?? this.#longestOf(example));
    const written: string[][] = [];
    // All sequences of a batch have the same length, because a cache has no gaps.
    for (const length of new Set(prompts.map((prompt) => prompt.length))) {
      const places = [...prompts.keys()].filter((place) => prompts[place]?.length === length);
      const starts = places.map((place) => prompts[place] as number[]);
      const longest = Math.max(...places.map((place) => limits[place] as number));
      const found = await decode(this.heed, starts, { ...options, longest }, (some, rows) => {
        const chosen = some.map((i) => examples[places[i] as number] as E);
        // The cache need not hold the last generated token.
        return this.#begin(chosen, { ...options, rows, capacity: length + longest - 1 });
      });
      for (const [i, place] of places.entries()) {
        // The text must not depend on the other examples of the call.
        const ids = found[i]?.slice(0, limits[place]) ?? [];
        written[place] = this.targetVocabulary.decode(ids);
      }
    }
    return written;
  }

  /** One token more than the longest answer, so that an answer that does not end is recognised as wrong. */
  #longestOf(example: E): number {
    const { target } = this.config.longest;
    return example.kind === "translation"
      ? Math.max(target, example.source.length) + 1
      : Math.max(target - example.tokens.length, 0) + 1;
  }

  #lesson(examples: readonly E[]): { logits: Tensor; answers: Tensor } {
    this.checkExamples(examples);
    const { heed } = this;
    const taught = examples.map((example) => this.teach(example));
    const rows = (of: keyof Teaching) =>
      padded(
        heed,
        taught.map((each) => each[of]),
      );
    // Padding follows the end of an answer. Attention is causal, so no earlier position sees it: it needs no mask.
    const states = this.hiddenStates(rows("given"), this.encode(examples));
    return { logits: this.readOut.forward(states), answers: rows("answers") };
  }

  /**
   * @param rows the number of rows per example; more than one only if there is a single example,
   *   which has no mask
   */
  #begin(
    examples: readonly E[],
    { rows, capacity, receive }: AnswerOptions & { rows: number; capacity: number },
  ): Decoding {
    const { heed } = this;
    const batch = examples.length * rows;
    const cache = this.cacheFor(examples, { batch, capacity });
    const encode = (): Memory => {
      const { encoded, ...rest } = this.encode(examples);
      if (encoded === undefined || rows === 1) return { ...rest, encoded };
      return { encoded: heed.broadcastTo(encoded, [batch, ...encoded.shape.slice(1)]) };
    };
    let memory: Memory | undefined;
    return {
      step: (sequences, order) => {
        const encoded = memory ?? this.infer(encode, receive);
        memory = encoded;
        return this.infer(() => {
          cache.reorder(order);
          const [known = 0] = cache.lengths;
          const fresh = sequences.map((tokens) => tokens.slice(known));
          const states = this.hiddenStates(padded(heed, fresh), encoded, cache);
          const [, length, size] = states.shape as [number, number, number];
          const last = heed.slice(states, { axis: 1, start: length - 1, length: 1 });
          return this.readOut.forward(heed.reshape(last, [batch, size]));
        }, receive);
      },
      dispose: () => {
        cache.dispose();
        for (const tensor of Object.values(memory ?? {})) tensor?.dispose();
      },
    };
  }
}

/**
 * The transformer with an encoder for the source and a decoder for the target.
 *
 * @throws HeedError "option", "memory"
 * @example
 * ```ts
 * const task = tasks.copy({ maxLength: 4 });
 * const model = new TransformerModel(heed, configOf(task, "transformer", { size: 16, layers: 1, heads: 2 })).eval();
 * const [answer] = await model.answer([task.read!("ab")], { longest: 3 });
 * console.log(answer!.kind); // prints: tokens
 * ```
 */
export class TransformerModel extends WritingModel<Translation> {
  /** @internal */ static override readonly toStringTag = "TransformerModel";
  /** The tokens of sources. */
  readonly sourceVocabulary: Vocabulary;
  /** The tokens of targets. */
  readonly targetVocabulary: Vocabulary;
  /** The vectors of source tokens: weight [V, E]. */
  readonly sourceEmbedding: Embedding;
  /** The vectors of target tokens: weight [V, E]. */
  readonly targetEmbedding: Embedding;
  /** Adds the position encodings. */
  readonly positions: Positions;
  /** Reads the source. */
  readonly encoder: TransformerEncoder;
  /** Writes the target. */
  readonly decoder: TransformerDecoder;
  readonly readOut: Linear;

  constructor(heed: Heed, config: ModelConfig) {
    super(heed, config);
    const { generator } = this;
    const { size, heads, layers, vocabulary } = config;
    this.sourceVocabulary = new Vocabulary(vocabulary.source);
    this.targetVocabulary = new Vocabulary(vocabulary.target);
    this.sourceEmbedding = tokenEmbedding(heed, this.sourceVocabulary.size, size, generator);
    this.targetEmbedding = tokenEmbedding(heed, this.targetVocabulary.size, size, generator);
    this.positions = new Positions(heed, config, generator);
    const options = stackOptions(config, generator);
    this.encoder = new TransformerEncoder(heed, size, heads, layers, options);
    this.decoder = new TransformerDecoder(heed, size, heads, layers, options);
    this.readOut = new Linear(heed, size, this.targetVocabulary.size, { generator });
  }

  async answer(examples: readonly Translation[], options: AnswerOptions = {}): Promise<Answer[]> {
    const written = await this.write(examples, options);
    return written.map((tokens) => ({ kind: "tokens", tokens }));
  }

  protected override teach({ target }: Translation): Teaching {
    const ids = this.targetVocabulary.encode(target);
    return { given: [startId, ...ids], answers: [...ids, endId] };
  }

  protected override prompt(): number[] {
    return [startId];
  }

  protected override encode(examples: readonly Translation[]): Memory {
    const { heed } = this;
    const rows = examples.map(({ source }) => this.sourceVocabulary.encode(source));
    const lengths = rows.map(({ length }) => length);
    const keyMask = maskOf(heed, lengths);
    const x = this.positions.forward(this.sourceEmbedding.forward(padded(heed, rows)));
    return { encoded: this.encoder.forward(x, optional({ keyMask })), keyMask };
  }

  protected override hiddenStates(
    ids: Tensor,
    { encoded, keyMask }: Memory,
    cache?: TransformerCache,
  ) {
    const x = this.positions.forward(this.targetEmbedding.forward(ids), cache?.lengths[0]);
    const options = optional({ tgtIsCausal: true, memoryKeyMask: keyMask, cache });
    return this.decoder.forward(x, encoded as Tensor, options);
  }

  protected override cacheFor(examples: readonly Translation[], options: TransformerCacheOptions) {
    const memoryLength = Math.max(...examples.map(({ source }) => source.length));
    return this.decoder.createCache({ ...options, memoryLength });
  }

  protected override aligned({ source, target }: Translation, path: string): Part | undefined {
    if (!path.endsWith("multihead_attn")) return undefined;
    // Row t of the decoder predicts token t; the row after the last token predicts the end.
    return {
      rows: { start: 0, count: target.length },
      columns: { start: 0, count: source.length },
    };
  }

  protected override labels({ source, target }: Translation, path: string): Labels {
    const written = ["<start>", ...target];
    if (path.startsWith("encoder")) return { rows: source, columns: source };
    return { rows: written, columns: path.endsWith("multihead_attn") ? source : written };
  }
}

/**
 * A decoder-only transformer (Radford et al., "Improving Language Understanding by Generative
 * Pre-Training", 2018). A text to translate precedes its translation, with the start token between
 * them.
 *
 * @throws HeedError "option", "memory"
 * @example
 * ```ts
 * const task = tasks.copy({ maxLength: 4 });
 * const model = new DecoderModel(heed, configOf(task, "decoder", { size: 16, layers: 1, heads: 2 })).eval();
 * console.log(model.weights([task.read!("ab")])[0]![0]!.heads); // prints: 2
 * ```
 */
export class DecoderModel extends WritingModel<Translation | Continuation> {
  /** @internal */ static override readonly toStringTag = "DecoderModel";
  /** The tokens of sources and of targets. */
  readonly targetVocabulary: Vocabulary;
  /** The vectors of tokens: weight [V, E]. */
  readonly embedding: Embedding;
  /** Adds the position encodings. */
  readonly positions: Positions;
  /** The layers: an encoder stack that is called with `isCausal`. */
  readonly decoder: TransformerEncoder;
  readonly readOut: Linear;

  constructor(heed: Heed, config: ModelConfig) {
    super(heed, config);
    const { generator } = this;
    const { size, heads, layers, vocabulary } = config;
    const { source, target } = vocabulary;
    this.targetVocabulary = new Vocabulary([...new Set([...source, ...target])]);
    const tokens = this.targetVocabulary.size;
    this.embedding = tokenEmbedding(heed, tokens, size, generator);
    this.positions = new Positions(heed, config, generator);
    const options = stackOptions(config, generator);
    this.decoder = new TransformerEncoder(heed, size, heads, layers, options);
    this.readOut = new Linear(heed, size, tokens, { generator });
  }

  /**
   * Returns translations; for continuations, the most likely token at each position of the text.
   * `write` generates the text after it.
   */
  async answer(
    examples: readonly (Translation | Continuation)[],
    options: AnswerOptions = {},
  ): Promise<Answer[]> {
    if (this.config.kind === "translation") {
      const written = await this.write(examples, options);
      return written.map((tokens) => ({ kind: "tokens", tokens }));
    }
    checkAnswerOptions(options);
    const found = this.likeliest(examples, options.receive);
    return found.map((tokens) => ({ kind: "labels", labels: tokens.slice(0, -1) }));
  }

  protected override teach(example: Translation | Continuation): Teaching {
    const asked = example.kind === "translation" ? example.target : example.tokens;
    const ids = this.targetVocabulary.encode(asked);
    const before = example.kind === "translation" ? this.prompt(example) : [startId];
    // The source has no expected output.
    const silent = new Array<number>(before.length - 1).fill(padId);
    return { given: [...before, ...ids], answers: [...silent, ...ids, endId] };
  }

  protected override prompt(example: Translation | Continuation): number[] {
    return example.kind === "translation"
      ? [...this.targetVocabulary.encode(example.source), startId]
      : [startId, ...this.targetVocabulary.encode(example.tokens)];
  }

  protected override encode(): Memory {
    return {};
  }

  protected override hiddenStates(ids: Tensor, _: Memory, cache?: TransformerCache): Tensor {
    const x = this.positions.forward(this.embedding.forward(ids), cache?.lengths[0]);
    return this.decoder.forward(x, optional({ isCausal: true, cache }));
  }

  protected override cacheFor(_: unknown, options: TransformerCacheOptions): TransformerCache {
    return this.decoder.createCache(options);
  }

  /** Row i has input token i and predicts token i + 1. */
  protected override aligned(example: Translation | Continuation): Part {
    if (example.kind === "translation") {
      const { source, target } = example;
      const rows = { start: source.length, count: target.length };
      return { rows, columns: { start: 0, count: source.length } };
    }
    const count = example.tokens.length;
    return { rows: { start: 0, count }, columns: { start: 1, count } };
  }

  protected override labels(example: Translation | Continuation): Labels {
    const text =
      example.kind === "translation"
        ? [...example.source, "<start>", ...example.target]
        : ["<start>", ...example.tokens];
    return { rows: text, columns: text };
  }
}
