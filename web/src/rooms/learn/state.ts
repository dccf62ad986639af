/** The settings of the room, and the trainings that follow from them. */
import type { Cell } from "#parts";
import { cellIn, cellText, numberIn, readParams } from "../../shared/linkReaders";
import { colourSettings } from "../../shared/lookSettings";
import type { LinkReading } from "../../shared/room";
import {
  cell,
  choice,
  decimal,
  flag,
  index,
  initialStateOf,
  look,
  lookKeysOf,
  oneNumber,
  readersOf,
  type StateOf,
  setting,
  whole,
  writeSettings,
} from "../../shared/settings";
import type { TrainingSetup } from "./messages";

export type TaskName = "reverse" | "sort" | "dates" | "pronouns";

/** An attention of the model and one of its heads, both counted from 0. */
export interface CourseHead {
  readonly attention: number;
  readonly head: number;
}

interface TaskPlan {
  /** The defaults of the model's sizes and of the learning rate. */
  readonly plan: Readonly<Record<"heads" | "layers" | "size" | "rate", number>>;
  readonly steps: number;
  readonly hasLetters: boolean;
  /** An example of a text to type, and the texts that are allowed. */
  such(length: number): string;
  limits(length: number): string;
}

const letters = {
  plan: { heads: 4, layers: 1, size: 32, rate: 0.004 },
  hasLetters: true,
  such: (length: number) => "heads".slice(0, length),
  limits: (length: number) => `a to z, up to ${length}`,
};

export const tasks: Readonly<Record<TaskName, TaskPlan>> = {
  reverse: { steps: 800, ...letters },
  sort: { steps: 1200, ...letters },
  dates: {
    ...{ steps: 1200, plan: { ...letters.plan, size: 64 }, hasLetters: false },
    such: () => "3 May 2021",
    limits: () => "in English, 1900 to 2099",
  },
  pronouns: {
    ...{ steps: 3000, plan: { heads: 4, layers: 3, size: 64, rate: 0.002 }, hasLetters: false },
    such: () => "Alice wrote a note and gave it to Bob.",
    limits: () => "up to 24 known words",
  },
};

export const taskNames = Object.keys(tasks) as TaskName[];

/** Far more than a model can read, so that typed text is never cut off without a message. */
const maxCharacters = 1000;

/** The numbers of heads and layers, and the sizes of vectors, that a person can choose. */
export const sizes = { heads: [1, 2, 4, 8], layers: [1, 2, 3], size: [16, 32, 64, 128] } as const;

const pairs = { min: 1, max: 999 };

export function headFrom(text: string): CourseHead {
  const { row: attention, col: head } = cellIn(pairs)(text);
  return { attention, head };
}

/** The inverse of `headFrom`. */
export const headText = ({ attention, head }: CourseHead): string =>
  cellText({ row: attention, col: head }) as string;

const { plan: first } = tasks.reverse;

export const settings = {
  task: choice<TaskName>("reverse", taskNames),
  /** The maximum number of letters of an example, if the task has letters. */
  length: whole(8, { min: 3, max: 20 }),
  heads: oneNumber(first.heads, sizes.heads),
  layers: oneNumber(first.layers, sizes.layers),
  size: oneNumber(first.size, sizes.size),
  rate: decimal(first.rate, { min: 1e-5, max: 1000 }),
  seed: whole(1, { min: 0, max: 999_999 }),
  positions: flag(true),
  /** Also trains a model that differs only in having one head. */
  compare: flag(false),
  /** Whether its first steps are slow enough to be watched. */
  slow: flag(true, look),
  /** The training step that is shown; null follows the training. */
  at: setting<number | null>(null, numberIn({ min: 0, max: 100_000 }), look),
  outlined: flag(true, look),
  ...colourSettings("linear"),
  starts: flag(true, { link: "train" }),
  /** The typed text to show; null for a held-out example. */
  text: setting<string | null>(null, (text) => text.slice(0, maxCharacters)),
  /** The head that is drawn large; null for the one with the most attention on the answer positions. */
  head: setting<CourseHead | null>(null, headFrom, {
    ...look,
    write: (head) => head && headText(head),
  }),
  cell: cell<Cell | null>(null, pairs, look),
  /** The selected row; null for the first one with answer positions. */
  row: index<number | null>(null, { min: 1, max: 64 }, look),
};

export type State = StateOf<typeof settings>;

export const lookKeys = lookKeysOf(settings);
export const initialState = initialStateOf(settings);

const firstOf = (task: TaskName): State => ({ ...initialState, ...tasks[task].plan });

export function read(params: URLSearchParams): LinkReading<State> {
  const task = taskNames.find((name) => name === params.get("task")) ?? initialState.task;
  return readParams(params, firstOf(task), readersOf(settings));
}

export const write = (state: State): URLSearchParams =>
  writeSettings(settings, state, firstOf(state.task));

/** Depends only on settings that affect the training. */
export function setupsOf(state: State): readonly TrainingSetup[] {
  const { task, length, heads, layers, size, rate, seed, positions, compare } = state;
  const { hasLetters, steps } = tasks[task];
  const shared = {
    task,
    // Inputs vary in length, so that the model must find the end.
    taskOptions: hasLetters ? { minLength: Math.ceil(length / 2), maxLength: length } : {},
    recipe: {
      ...{ batch: 32, steps, learningRate: rate, warmupSteps: 30, weightDecay: 0.01 },
      ...{ clipNorm: 1, checkEvery: steps, goal: 2 },
    },
    seed,
  };
  const setup = (count: number): TrainingSetup => ({
    ...shared,
    options: { size, layers, heads: count, positions: positions ? "sinusoidal" : "none", seed },
  });
  return compare ? [setup(1), setup(heads === 1 ? 4 : heads)] : [setup(heads)];
}
