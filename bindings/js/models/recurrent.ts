// Recurrent encoder-decoders: without attention, with Bahdanau's attention, and with Luong's attention.

import type { Tensor } from "../core/tensor.js";
import { checkArgument, oneOf } from "../core/validate.js";
import type { Heed } from "../heed.js";
import type { ReceiveWeights } from "../nn/capture.js";
import { Dropout, Embedding, Linear } from "../nn/layers.js";
import { Module } from "../nn/module.js";
import { GRU } from "../nn/recurrent.js";
import type { Translation } from "./examples.js";
import { lessonOf, probabilitiesOf } from "./lesson.js";
import {
  type Answer,
  type AnswerOptions,
  type ExampleWeights,
  type LabelledWeights,
  type Lesson,
  TaskModel,
  type TokenProbabilities,
} from "./model.js";
import type { ModelConfig } from "./modelConfig.js";
import {
  BahdanauDecoder,
  type Decoder,
  type DecoderOptions,
  LuongDecoder,
  type Memory,
  PlainDecoder,
} from "./recurrentDecoders.js";
import { checkAnswerOptions, type Decoding, decode } from "./stepwise.js";
import { endId, maskOf, padded, padId, startId, Vocabulary } from "./vocabulary.js";

const decoders = { rnn: PlainDecoder, bahdanau: BahdanauDecoder, dot: LuongDecoder };

const isRecurrent = oneOf(...Object.keys(decoders));

interface Encoded {
  /** [B, S, size]; zeros after the end of each source. */
  outputs: Tensor;
  /** [layers, B, size] the initial state of the decoder. */
  state: Tensor;
}

/**
 * A bidirectional encoder (Schuster and Paliwal, 1997). Each direction has half of the size. The
 * final states of each layer pass through a linear layer with tanh (Bahdanau et al., 2015, appendix
 * A.2.2).
 */
class RecurrentEncoder extends Module {
  readonly embedding: Embedding;
  readonly dropout: Dropout;
  readonly onward: GRU[];
  readonly backward: GRU[];
  readonly bridges: Linear[];

  constructor(heed: Heed, options: DecoderOptions) {
    super(heed);
    const { vocabulary, embeddingSize, size, layers, dropout, generator } = options;
    this.embedding = new Embedding(heed, vocabulary, embeddingSize, { generator });
    this.dropout = new Dropout(heed, dropout, { generator });
    const perLayer = <T>(make: (inputSize: number) => T) =>
      Array.from({ length: layers }, (_, i) => make(i === 0 ? embeddingSize : size));
    const gru = (inputSize: number) => new GRU(heed, inputSize, size / 2, { generator });
    this.onward = perLayer(gru);
    this.backward = perLayer(gru);
    this.bridges = perLayer(() => new Linear(heed, size, size, { generator }));
  }

  forward(sources: readonly (readonly number[])[]): Encoded {
    const { heed } = this;
    const lengths = sources.map(({ length }) => length);
    const ids = padded(heed, sources);
    const turns = heed.tensor(turnsOf(lengths), ids.shape);
    const turned = (x: Tensor) =>
      heed.embedding(turns, heed.reshape(x, [ids.size, x.shape[2] as number]));
    let x = this.embedding.forward(ids);
    const states = this.bridges.map((bridge, i) => {
      x = this.dropout.forward(x);
      const onward = (this.onward[i] as GRU).forward(x, { lengths });
      const backward = (this.backward[i] as GRU).forward(turned(x), { lengths });
      x = heed.concat([onward.output, turned(backward.output)], { axis: 2 });
      return bridge.forward(heed.concat([onward.state, backward.state], { axis: 2 }), "tanh");
    });
    return { outputs: x, state: heed.concat(states) };
  }
}

/**
 * Returns, for each position of a batch, the index of the position that it swaps with when each
 * sequence is reversed.
 */
function turnsOf(lengths: readonly number[]): Int32Array {
  const longest = Math.max(...lengths);
  return Int32Array.from({ length: lengths.length * longest }, (_, place) => {
    const t = place % longest;
    const length = lengths[(place - t) / longest] as number;
    return t < length ? place - t + (length - 1 - t) : place;
  });
}

/**
 * A recurrent encoder-decoder of gated recurrent units. "rnn" has no attention; "bahdanau" and
 * "dot" have the attention of their decoders. The decoder's state has the size config.size; each
 * direction of the encoder and each embedding has half of it, because there are far fewer tokens
 * than words in a language.
 *
 * @throws HeedError "option", "memory"
 * @example
 * ```ts
 * const task = tasks.copy({ maxLength: 4 });
 * const model = new RecurrentModel(heed, configOf(task, "bahdanau", { size: 16 })).eval();
 * console.log(model.weights([task.read!("ab")])[0]!.map(({ path }) => path).join(" ")); // prints: decoder.attention
 * ```
 */
export class RecurrentModel extends TaskModel<Translation> {
  /** @internal */ static override readonly toStringTag = "RecurrentModel";
  /** Reads the source, in both directions. */
  readonly encoder: RecurrentEncoder;
  /** Writes the target, with or without attention. */
  readonly decoder: Decoder;
  readonly #source: Vocabulary;
  readonly #target: Vocabulary;

  /** @throws HeedError "option" for another architecture */
  constructor(heed: Heed, config: ModelConfig) {
    super(heed, config);
    checkArgument("architecture", config.architecture, isRecurrent);
    const { size, layers, dropout, vocabulary } = config;
    this.#source = new Vocabulary(vocabulary.source);
    this.#target = new Vocabulary(vocabulary.target);
    const common = { embeddingSize: size / 2, size, layers, dropout, generator: this.generator };
    const Decoder = decoders[config.architecture as keyof typeof decoders];
    this.encoder = new RecurrentEncoder(heed, { ...common, vocabulary: this.#source.size });
    this.decoder = new Decoder(heed, { ...common, vocabulary: this.#target.size });
  }

  forward(examples: readonly Translation[]): Lesson {
    const { logits, answers } = this.#lesson(examples);
    return lessonOf(this.heed, logits, answers, padId);
  }

  /** The probabilities of all tokens at each position of the answers and at their ends, with teacher forcing. */
  probabilities(examples: readonly Translation[], receive?: ReceiveWeights): TokenProbabilities[] {
    return this.infer(() => {
      const { logits, answers } = this.#lesson(examples);
      return probabilitiesOf(this.heed, logits, answers, padId, this.#target.tokens);
    }, receive);
  }

  async answer(examples: readonly Translation[], options: AnswerOptions = {}): Promise<Answer[]> {
    this.checkExamples(examples);
    checkAnswerOptions(options);
    const starts = examples.map(() => [startId]);
    // The limit is one token more than the longest answer, so that an answer that does not end is recognised as wrong.
    const limits = examples.map(({ source }) => {
      return options.longest ?? Math.max(this.config.longest.target, source.length) + 1;
    });
    const longest = Math.max(...limits);
    const found = await decode(this.heed, starts, { ...options, longest }, (places, copies) => {
      const rows = places.flatMap((place) => Array(copies).fill(examples[place]) as Translation[]);
      return this.#begin(rows, options.receive);
    });
    return found.map((ids, i) => {
      // The answer must not depend on the other examples of the call.
      return { kind: "tokens", tokens: this.#target.decode(ids.slice(0, limits[i])) };
    });
  }

  weights(examples: readonly Translation[]): ExampleWeights[][] {
    return this.#look(examples, ({ target }) => target.length);
  }

  attentions(examples: readonly Translation[]): LabelledWeights[][] {
    const found = this.#look(examples, ({ target }) => target.length + 1);
    return found.map((all, b) => {
      const { source, target } = examples[b] as Translation;
      const labels = { rows: ["<start>", ...target], columns: source };
      return all.map((weights) => ({ ...weights, labels }));
    });
  }

  /**
   * @param rowsOf returns the number of steps of an example, counted from the first, whose weights
   *   are returned
   */
  #look(
    examples: readonly Translation[],
    rowsOf: (example: Translation) => number,
  ): ExampleWeights[][] {
    this.checkExamples(examples);
    if (this.config.architecture === "rnn") return examples.map(() => []);
    const found = examples.map((example) => {
      const [rows, columns] = [rowsOf(example), example.source.length];
      return {
        ...{ path: "", heads: 1, rows, columns },
        weights: new Float32Array(rows * columns),
        choices: new Array<number>(rows).fill(columns),
      };
    });
    let first = 0;
    const receive = (path: string, { data, shape }: Tensor) => {
      const [, rows = 0, width = 0] = shape;
      for (const [b, example] of found.entries()) {
        example.path = path;
        for (let r = 0; r < Math.min(rows, example.rows - first); ++r) {
          const begin = (b * rows + r) * width;
          const row = data.subarray(begin, begin + example.columns) as Float32Array;
          example.weights.set(row, (first + r) * example.columns);
        }
      }
      first += rows;
    };
    this.infer(() => void this.forward(examples), receive);
    return found.map((weights) => [weights]);
  }

  #lesson(examples: readonly Translation[]): { logits: Tensor; answers: Tensor } {
    this.checkExamples(examples);
    const answers = examples.map(({ target }) => [...this.#target.encode(target), endId]);
    const before = padded(
      this.heed,
      answers.map((ids) => [startId, ...ids.slice(0, -1)]),
    );
    const { memory, state } = this.#read(examples);
    const { logits } = this.decoder.forward(before, state, memory);
    return { logits, answers: padded(this.heed, answers) };
  }

  /** Runs the encoder: returns the decoder's memory and its initial state. */
  #read(examples: readonly Translation[]): { memory: Memory; state: Tensor } {
    const sources = examples.map(({ source }) => this.#source.encode(source));
    const { outputs, state } = this.encoder.forward(sources);
    const lengths = sources.map(({ length }) => length);
    return { memory: this.decoder.remember(outputs, maskOf(this.heed, lengths)), state };
  }

  /** Creates the step function of decoding, which keeps the states of its rows. */
  #begin(rows: readonly Translation[], receive: ReceiveWeights | undefined): Decoding {
    const { heed } = this;
    const { memory, ...begun } = this.infer(() => this.#read(rows));
    let { state } = begun;
    return {
      step: (sequences, order) => {
        const next = () => {
          const last = sequences.map((tokens) => tokens.slice(-1));
          const before = reordered(heed, state, order);
          const result = this.decoder.forward(padded(heed, last), before, memory);
          return { state: result.state, logits: heed.reshape(result.logits, [rows.length, -1]) };
        };
        const { logits, state: after } = this.infer(next, receive);
        state.dispose();
        state = after;
        return logits;
      },
      dispose: () => {
        for (const tensor of [state, ...Object.values(memory)]) tensor?.dispose();
      },
    };
  }
}

/** Returns states [layers, B, size] whose row b is the former row order[b]. */
function reordered(heed: Heed, state: Tensor, order: readonly number[]): Tensor {
  if (order.every((from, row) => from === row)) return state;
  const [layers = 1, rows = 1, size = 1] = state.shape;
  const places = Array.from({ length: layers }, (_, i) => order.map((from) => i * rows + from));
  return heed.embedding(padded(heed, places), heed.reshape(state, [layers * rows, size]));
}
