/** One training in the worker: its model, and its results on held-out examples. */
import type { Heed } from "heed";
import {
  alignment,
  alignmentOf,
  configOf,
  createModel,
  type Example,
  evaluate,
  type Task,
  type TaskModel,
  Trainer,
  taskOf,
} from "heed/models";
import { nn, noGrad } from "heed/nn";
import { type Attention, attentionOf, sharesOf } from "../../shared/attended";
import { readInput, type UnreadableText } from "../../shared/typed";
import {
  type AnswerPart,
  type Course,
  type CourseAttention,
  type CourseSnapshot,
  type ExampleOutput,
  held,
  type TrainingSetup,
  weighed,
} from "./messages";

/** The held-out examples: the same for all trainings with the same seed. */
function heldOut(task: Task, seed: number): Example[] {
  const random = new nn.Generator(seed);
  return Array.from({ length: held }, () => task.generate(random, "validation"));
}

function inputOf(example: Example): readonly string[] {
  if (example.kind === "translation" || example.kind === "tagging") return example.source;
  throw new RangeError(`a ${example.kind} has no words`);
}

/** Why a readable input is not an example of the task; null if it is one. */
function whyNone(task: Task, input: Example): string | null {
  const { length } = inputOf(input);
  const longest = task.longest.source;
  if (length > longest) return `This training has up to ${longest} tokens; these are ${length}.`;
  if (input.kind === "translation" && input.target.length === 0)
    return "This is not a date in a form that is learned here.";
  if (input.kind === "tagging" && input.labels.every((label) => label === undefined))
    return "The sentence has no pronoun, so nothing is asked.";
  return null;
}

/** A similar text that is an example of the task: the text itself, or its first letters. */
function nearestOwn(task: Task, near: string): string | null {
  const cut = near.slice(0, task.longest.source);
  const isOwn = (text: string) => {
    const input = readInput(task, text);
    return !("why" in input) && whyNone(task, input) === null;
  };
  return [near, ...(task.kind === "translation" ? [cut] : [])].find(isOwn) ?? null;
}

/** Typed text as an example of the task, or the reason why it is not one. */
export function readOwn(task: Task, text: string): Example | UnreadableText {
  const input = readInput(task, text);
  if ("why" in input)
    return { ...input, nearest: input.nearest && nearestOwn(task, input.nearest) };
  const why = whyNone(task, input);
  if (why === null) return input;
  const nearest = nearestOwn(task, textOf(task, inputOf(input)));
  return { why, nearest, pieces: [{ text, isKnown: true }] };
}

/** An input as a person would write it. */
function textOf(task: Task, tokens: readonly string[]): string {
  return task.write?.(tokens) ?? tokens.join("");
}

/** The longest of a few examples, so that it fills the picture. */
function exampleToShow(examples: readonly Example[]): Example {
  return examples
    .slice(0, weighed)
    .reduce((best, one) => (inputOf(one).length > inputOf(best).length ? one : best));
}

export class Training {
  readonly task: Task;
  readonly model: TaskModel;
  readonly trainer: Trainer;
  #shown: Example;
  readonly #held: readonly Example[];
  /** The losses of the steps since the last snapshot. */
  #losses: number[] = [];

  constructor(heed: Heed, { task, taskOptions, options, recipe, seed }: TrainingSetup) {
    this.task = taskOf(task, taskOptions);
    const architecture = this.task.kind === "tagging" ? "encoder" : "transformer";
    this.model = createModel(heed, configOf(this.task, architecture, options));
    this.trainer = new Trainer(this.model, this.task, { recipe, seed });
    this.#held = heldOut(this.task, seed);
    this.#shown = exampleToShow(this.#held);
  }

  /** Sets the example whose weights are shown: a typed one or, for null, the held-out one. */
  show(own: Example | null): void {
    this.#shown = own ?? exampleToShow(this.#held);
  }

  /** The example that is shown, as a person would write it. */
  get text(): string {
    return textOf(this.task, inputOf(this.#shown));
  }

  step(): void {
    this.#losses.push(this.trainer.step().loss);
  }

  /** The attention on the answer positions if attention were uniform. */
  get chance(): number {
    return alignment(this.model, this.#held.slice(0, weighed))[0]?.chance ?? Number.NaN;
  }

  course(): Course {
    const parameters = this.model.parameters().reduce((sum, { data }) => sum + data.length, 0);
    return { heads: this.model.config.heads, parameters };
  }

  /** The attentions, with the tokens of the example that is shown. */
  attentions(): CourseAttention[] {
    const places = alignmentOf(this.#shown);
    const areKnown = places.some((row) => row.length > 0);
    return this.#attended().map((labelled) => {
      const attention = attentionOf(labelled);
      const { name, rows } = attention;
      return {
        ...attention,
        // A row of cross-attention predicts the next token.
        rows: name === "cross" ? [...rows.slice(1), "end"] : rows,
        aligned: areKnown && this.#isAligned(attention) ? places : null,
      };
    });
  }

  /** The model's current view of the example that is shown. */
  async output(attended = this.#attended()): Promise<ExampleOutput> {
    const shares = attended.map((each) => sharesOf(this.model.heed, each));
    return { shares, answer: await this.#answer() };
  }

  /** A copy of all parameters. */
  parameters(): Float32Array[] {
    return this.model.parameters().map(({ data }) => data.slice() as Float32Array);
  }

  /** The output with earlier parameters. No step may run meanwhile. */
  async outputWith(parameters: readonly Float32Array[]): Promise<ExampleOutput> {
    const now = this.parameters();
    this.#restore(parameters);
    try {
      return await this.output();
    } finally {
      this.#restore(now);
    }
  }

  #restore(parameters: readonly Float32Array[]): void {
    for (const [i, { data }] of this.model.parameters().entries())
      (data as Float32Array).set(parameters[i] as Float32Array);
  }

  /** Measures the held-out examples for some milliseconds, during which other messages are handled. */
  async snapshot(): Promise<CourseSnapshot> {
    const { model } = this;
    const { exact } = await evaluate(model, this.#held);
    const losses = this.#losses;
    this.#losses = [];
    const attended = this.#attended();
    const heads = alignment(model, this.#held.slice(0, weighed));
    const massOf = (path: string, head: number) =>
      heads.find((one) => one.path === path && one.head === head)?.mass ?? Number.NaN;
    return {
      loss: losses.reduce((sum, loss) => sum + loss, 0) / losses.length,
      heldLoss: this.#heldLoss(),
      exact,
      masses: attended.map(({ path, heads: count }) =>
        Array.from({ length: count }, (_, head) => massOf(path, head)),
      ),
      ...(await this.output(attended)),
    };
  }

  dispose(): void {
    this.trainer.dispose();
    this.model.dispose();
  }

  #isAligned({ name }: Attention): boolean {
    return this.#shown.kind === "tagging" || name === "cross";
  }

  #attended() {
    this.model.eval();
    return this.model.attentions([this.#shown], { compared: true })[0] ?? [];
  }

  #heldLoss(): number {
    const { model } = this;
    model.eval();
    return noGrad(() => model.heed.scope(() => model.forward(this.#held).loss.data[0] as number));
  }

  async #answer(): Promise<AnswerPart[]> {
    const shown = this.#shown;
    const [answer] = await this.model.answer([shown]);
    if (shown.kind === "translation" && answer?.kind === "tokens") {
      const { target } = shown;
      const isShort = answer.tokens.length < target.length;
      const tokens = isShort ? [...answer.tokens, "<end>"] : answer.tokens;
      return tokens.map((token, i) => ({ of: null, token, isRight: token === target[i] }));
    }
    if (shown.kind === "tagging" && answer?.kind === "labels") {
      return shown.labels.flatMap((label, i) => {
        if (label === undefined) return [];
        const token = answer.labels[i] ?? "";
        const isRight = label === "?" ? null : token === label;
        return [{ of: shown.source[i] as string, token, isRight }];
      });
    }
    return [];
  }
}
