/** One training in the worker: its model, and what it is like on examples held out. */
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
import { attentionOf, type Attention as Between, sharesOf } from "../../shared/attended";
import { readInput } from "../../shared/typed";
import type { Attention, Course, Said, Seen, Setup, ShownView } from "./orders";

/** Examples that are answered at every look, and how many of them heads are judged by. */
export const held = 64;
export const weighed = 16;

/** The examples held out: the same for all trainings of a seed. */
function heldOut(task: Task, seed: number): Example[] {
  const random = new nn.Generator(seed);
  return Array.from({ length: held }, () => task.generate(random, "validation"));
}

function inputOf(example: Example): readonly string[] {
  if (example.kind === "translation" || example.kind === "tagging") return example.source;
  throw new RangeError(`a ${example.kind} has no words`);
}

/** What a person typed, as an example of the task; or why it is none, in words. */
export function readOwn(task: Task, text: string): Example | { readonly why: string } {
  const input = readInput(task, text);
  if ("why" in input) return input;
  const { length } = inputOf(input);
  const longest = task.longest.source;
  if (length > longest)
    return { why: `That has ${length} tokens; what is learned here has at most ${longest}.` };
  if (input.kind === "translation" && input.target.length === 0)
    return {
      why: "That is not a date in a form that is learned here, such as “3 May 2021” or “05/03/2021”.",
    };
  if (input.kind === "tagging" && input.labels.every((label) => label === undefined))
    return { why: "No pronoun is in the sentence: there is nothing to ask." };
  return input;
}

/** An example that fills the picture: the longest of a few. */
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
  /** Of the steps since the last look. */
  #losses: number[] = [];

  constructor(heed: Heed, { task, taskOptions, options, recipe, seed }: Setup) {
    this.task = taskOf(task, taskOptions);
    const architecture = this.task.kind === "tagging" ? "encoder" : "transformer";
    this.model = createModel(heed, configOf(this.task, architecture, options));
    this.trainer = new Trainer(this.model, this.task, { recipe, seed });
    this.#held = heldOut(this.task, seed);
    this.#shown = exampleToShow(this.#held);
  }

  /** The example whose weights are seen: one's own, or with null the one held out. */
  show(own: Example | null): void {
    this.#shown = own ?? exampleToShow(this.#held);
  }

  get source(): readonly string[] {
    return inputOf(this.#shown);
  }

  step(): void {
    this.#losses.push(this.trainer.step().loss);
  }

  /** What the mass on the right places would be if all weights were even. */
  get chance(): number {
    return alignment(this.model, this.#held.slice(0, weighed))[0]?.chance ?? Number.NaN;
  }

  course(): Course {
    const parameters = this.model.parameters().reduce((sum, { data }) => sum + data.length, 0);
    return { heads: this.model.config.heads, parameters };
  }

  /** What the attentions are between, for the example that is shown. */
  attentions(): Attention[] {
    const places = alignmentOf(this.#shown);
    const areKnown = places.some((row) => row.length > 0);
    return this.#attended().map((labelled) => {
      const attention = attentionOf(labelled);
      const { name, rows } = attention;
      return {
        ...attention,
        // A row that looks at the input says the token that comes next.
        rows: name === "cross" ? [...rows.slice(1), "end"] : rows,
        aligned: areKnown && this.#isAligned(attention) ? places : null,
      };
    });
  }

  /** The example that is shown, as the model sees it now. */
  async view(attended = this.#attended()): Promise<ShownView> {
    const shares = attended.map((each) => sharesOf(this.model.heed, each));
    return { shares, answer: await this.#answer() };
  }

  /** A look at the examples held out. Computes for some milliseconds and lets other messages in meanwhile. */
  async look(): Promise<Seen> {
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
      ...(await this.view(attended)),
    };
  }

  dispose(): void {
    this.trainer.dispose();
    this.model.dispose();
  }

  #isAligned({ name }: Between): boolean {
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

  async #answer(): Promise<Said[]> {
    const shown = this.#shown;
    const [answer] = await this.model.answer([shown]);
    if (shown.kind === "translation" && answer?.kind === "tokens") {
      const { target } = shown;
      const said = answer.tokens.map((token, i) => ({
        ...{ of: null, token, isRight: token === target[i] },
      }));
      return answer.tokens.length < target.length
        ? [...said, { of: null, token: "<end>", isRight: false }]
        : said;
    }
    if (shown.kind === "tagging" && answer?.kind === "labels") {
      return shown.labels.flatMap((label, i) =>
        label === undefined
          ? []
          : [
              {
                of: shown.source[i] as string,
                token: answer.labels[i] ?? "",
                isRight: label === "?" ? null : answer.labels[i] === label,
              },
            ],
      );
    }
    return [];
  }
}
