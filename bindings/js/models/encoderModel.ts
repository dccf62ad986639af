// An encoder model, which predicts an output for each position of its input, or one output for the whole input.

import { refuse } from "../core/error.js";
import { optional } from "../core/objects.js";
import type { Tensor } from "../core/tensor.js";
import { type Check, checkArgument, isWholeNumber } from "../core/validate.js";
import type { Heed } from "../heed.js";
import { Embedding, Linear } from "../nn/layers.js";
import { TransformerEncoder } from "../nn/transformer.js";
import {
  AttentionModel,
  type Part,
  Positions,
  stackOptions,
  tokenEmbedding,
} from "./attentionModel.js";
import type { Picture, Series, Tagging } from "./examples.js";
import { lessonOf, likeliestOf } from "./lesson.js";
import type { Answer, AnswerOptions, Labels, Lesson } from "./model.js";
import { type ModelConfig, patchSize } from "./modelConfig.js";
import { checkAnswerOptions } from "./stepwise.js";
import { maskOf, padded, specialTokens, Vocabulary } from "./vocabulary.js";

/** Marks positions without a question. */
const noClass = -1;

const isSide: Check = {
  expected: `a multiple of ${patchSize}`,
  accepts: (value) => isWholeNumber(1).accepts(value) && (value as number) % patchSize === 0,
};

type Encoded = Tagging | Series | Picture;

/**
 * Predicts the classes of tokens, the hidden values of a series, or the class of a picture. The
 * class of a picture is read from a class token before the patches (Dosovitskiy et al., "An Image
 * is Worth 16x16 Words", 2021).
 *
 * @throws HeedError "option", "memory"
 * @example
 * ```ts
 * const model = new EncoderModel(heed, configOf(tasks.pronouns(), "encoder", { size: 16, layers: 1, heads: 2 })).eval();
 * const example = tasks.pronouns().generate(new nn.Generator(1), "test");
 * console.log((await model.answer([example]))[0]!.kind); // prints: labels
 * ```
 */
export class EncoderModel extends AttentionModel<Encoded> {
  /** @internal */ static override readonly toStringTag = "EncoderModel";
  /** The tokens of inputs. */
  readonly sourceVocabulary: Vocabulary;
  /** The labels that the model predicts. */
  readonly classes: Vocabulary;
  /** Embeds tokens; values of a series, with a flag for hidden ones; or patches of a picture. */
  readonly embedding: Embedding | Linear;
  /** [1, 1, E] for pictures; undefined otherwise. */
  readonly classToken: Tensor | undefined;
  /** Adds the position encodings. */
  readonly positions: Positions;
  /** The layers. */
  readonly encoder: TransformerEncoder;
  /** The layer from the states to the classes, or to a value. */
  readonly readOut: Linear;

  constructor(heed: Heed, config: ModelConfig) {
    super(heed, config);
    const { generator } = this;
    const { kind, size, heads, layers, vocabulary } = config;
    this.sourceVocabulary = new Vocabulary(vocabulary.source);
    this.classes = new Vocabulary(vocabulary.target);
    this.embedding =
      kind === "tagging"
        ? tokenEmbedding(heed, this.sourceVocabulary.size, size, generator)
        : new Linear(heed, kind === "series" ? 2 : patchSize ** 2, size, { generator });
    if (kind === "picture") {
      const seed = generator.next();
      this.classToken = heed.normal([1, 1, size], { mean: 0, deviation: 0.02, seed });
    }
    this.positions = new Positions(heed, config, generator);
    const options = stackOptions(config, generator);
    this.encoder = new TransformerEncoder(heed, size, heads, layers, options);
    const answers = kind === "series" ? 1 : vocabulary.target.length;
    this.readOut = new Linear(heed, size, answers, { generator });
  }

  forward(examples: readonly Encoded[]): Lesson {
    this.#check(examples);
    const outputs = this.#outputs(examples);
    if (this.config.kind === "series") return this.#lessonOfNumbers(examples as Series[], outputs);
    const classes = examples.map((example) => this.#classesOf(example as Tagging | Picture));
    return lessonOf(this.heed, outputs, padded(this.heed, classes, noClass), noClass);
  }

  async answer(examples: readonly Encoded[], options: AnswerOptions = {}): Promise<Answer[]> {
    this.#check(examples);
    checkAnswerOptions(options);
    return this.infer(() => {
      const outputs = this.#outputs(examples);
      const [, length, width] = outputs.shape as [number, number, number];
      if (this.config.kind === "series") {
        return (examples as Series[]).map(({ values, isHidden }, b) => ({
          kind: "numbers",
          values: values.map((value, i) =>
            isHidden[i] ? (outputs.data[b * length + i] as number) : value,
          ),
        }));
      }
      const names = this.config.vocabulary.target;
      const likeliest = Array.from(
        likeliestOf(this.heed, outputs),
        (place) => names[place] as string,
      );
      if (this.config.kind === "tagging") {
        return (examples as Tagging[]).map(({ labels }, b) => ({
          kind: "labels",
          labels: labels.map((label, i) => label && likeliest[b * length + i]),
        }));
      }
      const shares = this.heed.softmax(outputs).data;
      return examples.map((_, b) => ({
        kind: "class",
        label: likeliest[b] as string,
        probabilities: Object.fromEntries(
          names.map((name, i) => [name, shares[b * width + i] as number]),
        ),
      }));
    }, options.receive);
  }

  /** Computes no loss, because text that a user types has no answers. */
  protected override attend(examples: readonly Encoded[]): void {
    this.#check(examples);
    this.#outputs(examples);
  }

  protected override aligned(example: Encoded): Part {
    const count = lengthOf(example);
    const all = { start: 0, count };
    // For pictures, the weights are the row of the class token and the columns of the patches.
    return example.kind === "picture"
      ? { rows: { start: 0, count: 1 }, columns: { start: 1, count: count - 1 } }
      : { rows: all, columns: all };
  }

  protected override labels(example: Encoded): Labels {
    const places = placesOf(example);
    return { rows: places, columns: places };
  }

  /**
   * Throws if the length of a list differs from the length of its input, or if a side of a picture
   * is not a whole number of patches.
   */
  #check(examples: readonly Encoded[]): void {
    this.checkExamples(examples);
    for (const [i, example] of examples.entries()) {
      const name = `examples[${i}]`;
      const fits = (part: string, { length }: ArrayLike<unknown>, expected: number) => {
        if (length !== expected)
          throw refuse("shape", `${name}.${part}`, `${expected} entries`, `${length}`);
      };
      if (example.kind === "tagging") fits("labels", example.labels, example.source.length);
      if (example.kind === "series") {
        if (example.values.length === 0)
          throw refuse("shape", `${name}.values`, "one number or more", "none");
        fits("isHidden", example.isHidden, example.values.length);
      }
      if (example.kind === "picture") {
        const { pixels, width, height } = example;
        checkArgument(`${name}.width`, width, isSide);
        checkArgument(`${name}.height`, height, isSide);
        fits("pixels", pixels, width * height);
      }
    }
  }

  /** [B, L, classes]; [B, 1, classes] for pictures. */
  #outputs(examples: readonly Encoded[]): Tensor {
    const { heed, classToken, config } = this;
    const { size } = config;
    let x = this.#embed(examples);
    if (classToken !== undefined) {
      const first = heed.broadcastTo(classToken, [examples.length, 1, size]);
      x = heed.concat([first, x], { axis: 1 });
    }
    const keyMask = maskOf(heed, examples.map(lengthOf));
    const y = this.encoder.forward(this.positions.forward(x), optional({ keyMask }));
    const asked = classToken ? heed.slice(y, { axis: 1, start: 0, length: 1 }) : y;
    return this.readOut.forward(asked);
  }

  #embed(examples: readonly Encoded[]): Tensor {
    const { heed, embedding } = this;
    if (embedding instanceof Embedding) {
      const ids = (examples as Tagging[]).map(({ source }) => this.sourceVocabulary.encode(source));
      return embedding.forward(padded(heed, ids));
    }
    const rows = examples.map((example) =>
      example.kind === "series" ? knownOf(example) : patchesOf(example as Picture),
    );
    const width = embedding.weight.shape[1] as number;
    const longest = Math.max(...rows.map(({ length }) => length));
    const data = new Float32Array(rows.length * longest);
    for (const [b, row] of rows.entries()) data.set(row, b * longest);
    return embedding.forward(heed.tensor(data, [rows.length, longest / width, width]));
  }

  #classesOf(example: Tagging | Picture): number[] {
    const numbers = (labels: string[]) =>
      this.classes.encode(labels).map((id) => id - specialTokens.length);
    if (example.kind === "picture") return numbers([example.label]);
    const asked = example.labels.filter((label) => label !== undefined);
    const found = numbers(asked).values();
    return example.labels.map((label) =>
      label === undefined ? noClass : (found.next().value as number),
    );
  }

  /** The loss of a series: the mean squared error of the hidden values. */
  #lessonOfNumbers(examples: readonly Series[], outputs: Tensor): Lesson {
    const { heed } = this;
    const count = examples.reduce((sum, { isHidden }) => sum + isHidden.filter(Boolean).length, 0);
    const [batch, length] = outputs.shape as [number, number];
    const [values, shares] = [0, 1].map(() => new Float32Array(batch * length));
    for (const [b, example] of examples.entries()) {
      values?.set(example.values, b * length);
      shares?.set(
        example.isHidden.map((isHidden) => (isHidden ? 1 / count : 0)),
        b * length,
      );
    }
    const [right, share] = [values, shares].map((data) =>
      heed.tensor(data as Float32Array, [batch, length, 1]),
    ) as [Tensor, Tensor];
    const error = heed.subtract(outputs, right);
    const loss = heed.sum(heed.multiply(heed.multiply(error, error), share));
    return { loss, count, right: 0 };
  }
}

/** The number of rows of the encoder's input. */
function lengthOf(example: Encoded): number {
  if (example.kind === "tagging") return example.source.length;
  if (example.kind === "series") return example.values.length;
  return 1 + (example.width * example.height) / patchSize ** 2;
}

function placesOf(example: Encoded): string[] {
  if (example.kind === "tagging") return [...example.source];
  if (example.kind === "series")
    return Array.from(example.values, (value, i) => (example.isHidden[i] ? "?" : String(value)));
  const columns = example.width / patchSize;
  const patches = Array.from(
    { length: lengthOf(example) - 1 },
    (_, patch) => `${Math.floor(patch / columns)},${patch % columns}`,
  );
  return ["<class>", ...patches];
}

/** [L, 2]: each value, or 0 if it is hidden, and whether it is hidden. */
function knownOf({ values, isHidden }: Series): Float32Array {
  const known = new Float32Array(2 * values.length);
  for (const [i, value] of values.entries()) {
    if (isHidden[i]) known[2 * i + 1] = 1;
    else known[2 * i] = value;
  }
  return known;
}

/** [patches, 16], the patches in row-major order. */
function patchesOf({ pixels, width, height }: Picture): Float32Array {
  const patches = new Float32Array(pixels.length);
  let next = 0;
  for (let y = 0; y < height; y += patchSize) {
    for (let x = 0; x < width; x += patchSize) {
      for (let row = y; row < y + patchSize; ++row) {
        const start = row * width + x;
        patches.set(pixels.subarray(start, start + patchSize), next);
        next += patchSize;
      }
    }
  }
  return patches;
}
