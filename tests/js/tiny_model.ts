// The smallest model of the smallest task: each letter is to be answered by the next one of the alphabet.

import type { Heed } from "heed";
import {
  type Answer,
  type ExampleWeights,
  type Lesson,
  type ModelConfig,
  padded,
  padId,
  type Recipe,
  type Task,
  TaskModel,
  type Translation,
  Vocabulary,
} from "heed/models";
import { nn } from "heed/nn";

const letters = ["a", "b", "c", "d", "e"];

export const tinyTask: Task<Translation> = {
  name: "copy",
  about: "The next letter for each.",
  kind: "translation",
  options: { longest: 6 },
  vocabulary: { source: letters, target: letters },
  longest: { source: 6, target: 6 },
  generate(random) {
    const ids = Array.from({ length: 2 + (random.next() % 5) }, () => random.next() % 5);
    const target = ids.map((id) => letters[(id + 1) % 5] as string);
    return {
      kind: "translation",
      source: ids.map((id) => letters[id] as string),
      target,
      alignment: ids.map((_, i) => [i]),
    };
  },
};

export const tinyConfig: ModelConfig = {
  task: "copy",
  taskOptions: tinyTask.options,
  kind: "translation",
  longest: tinyTask.longest,
  architecture: "encoder",
  vocabulary: tinyTask.vocabulary,
  size: 16,
  layers: 1,
  heads: 1,
  dimFeedforward: 1,
  dropout: 0.25,
  positions: "none",
  seed: 3,
};

export const tinyRecipe: Recipe = {
  batch: 8,
  steps: 40,
  learningRate: 0.03,
  warmupSteps: 4,
  weightDecay: 0.01,
  clipNorm: 1,
  checkEvery: 10,
  goal: 0.99,
};

export class TinyModel extends TaskModel<Translation> {
  readonly #known = new Vocabulary(letters);
  readonly embed: nn.Embedding;
  readonly dropout: nn.Dropout;
  readonly readOut: nn.Linear;

  constructor(heed: Heed, config: ModelConfig = tinyConfig) {
    super(heed, config);
    const { generator } = this;
    const { size } = this.#known;
    this.embed = new nn.Embedding(heed, size, config.size, { generator });
    this.dropout = new nn.Dropout(heed, config.dropout, { generator });
    this.readOut = new nn.Linear(heed, config.size, size, { generator });
  }

  override forward(examples: readonly Translation[]): Lesson {
    const { heed } = this;
    const rows = (side: "source" | "target") =>
      padded(
        heed,
        examples.map((example) => this.#known.encode(example[side])),
      );
    const [source, target] = [rows("source"), rows("target")];
    const logits = this.readOut.forward(this.dropout.forward(this.embed.forward(source)));
    const said = this.#likeliest(logits.data as Float32Array);
    const wanted = target.data as Int32Array;
    const asked = [...wanted.keys()].filter((i) => wanted[i] !== padId);
    return {
      loss: heed.crossEntropy(logits, target, { ignoreIndex: padId }),
      count: asked.length,
      right: asked.filter((i) => said[i] === wanted[i]).length,
    };
  }

  override async answer(examples: readonly Translation[]): Promise<Answer[]> {
    return examples.map(({ source }) =>
      this.heed.scope(() => {
        const ids = padded(this.heed, [this.#known.encode(source)]);
        const logits = this.readOut.forward(this.embed.forward(ids));
        const tokens = this.#known.decode(this.#likeliest(logits.data as Float32Array));
        return { kind: "tokens", tokens };
      }),
    );
  }

  override weights(): ExampleWeights[][] {
    return [];
  }

  #likeliest(logits: Float32Array): number[] {
    const { size } = this.#known;
    return Array.from({ length: logits.length / size }, (_, row) => {
      const numbers = logits.subarray(row * size, (row + 1) * size);
      return numbers.indexOf(Math.max(...numbers));
    });
  }
}
