/** The state of the room, and the trainings that follow from it. */
import type { Cell, ColourCurve, ColourRange } from "#parts";
import type { TrainingSetup } from "./messages";

export type TaskName = "reverse" | "sort" | "dates" | "pronouns";

/** An attention of the model and one of its heads, both counted from 0. */
export interface CourseHead {
  readonly attention: number;
  readonly head: number;
}

/** Sizes of the model and the learning rate. Each task has its own defaults. */
interface Plan {
  readonly heads: number;
  readonly layers: number;
  readonly size: number;
  readonly rate: number;
}

export interface State extends Plan {
  readonly task: TaskName;
  /** The maximum number of letters of an example, if the task has letters. */
  readonly length: number;
  readonly seed: number;
  readonly positions: boolean;
  /** Whether a training starts automatically. */
  readonly starts: boolean;
  /** Whether its first steps are slow enough to be watched. */
  readonly slow: boolean;
  /** The typed text to show; null for a held-out example. */
  readonly text: string | null;
  /** Also trains a model that differs only in having one head. */
  readonly compare: boolean;
  /** The training step that is shown; null follows the training. */
  readonly at: number | null;
  /** The head that is drawn large; null for the one with the most attention on the answer positions. */
  readonly head: CourseHead | null;
  readonly cell: Cell | null;
  /** The selected row; null for the first one with answer positions. */
  readonly row: number | null;
  readonly outlined: boolean;
  readonly range: ColourRange;
  readonly curve: ColourCurve;
}

interface TaskPlan extends Plan {
  readonly title: string;
  readonly steps: number;
  readonly hasLetters: boolean;
  /** An example of a text to type, and the texts that are allowed. */
  such(length: number): string;
  limits(length: number): string;
}

const letters = {
  ...{ heads: 4, layers: 1, size: 32, rate: 0.004, hasLetters: true },
  such: (length: number) => "heads".slice(0, length),
  limits: (length: number) => `a to z, up to ${length}`,
};

export const tasks: Readonly<Record<TaskName, TaskPlan>> = {
  reverse: { title: "reverse letters", steps: 800, ...letters },
  sort: { title: "sort letters", steps: 1200, ...letters },
  dates: {
    ...letters,
    title: "write dates",
    steps: 1200,
    size: 64,
    hasLetters: false,
    such: () => "3 May 2021",
    limits: () => "in English, 1900 to 2099",
  },
  pronouns: {
    ...{ title: "who is it?", steps: 3000, hasLetters: false },
    such: () => "Alice wrote a note and gave it to Bob.",
    limits: () => "up to 24 known words",
    ...{ heads: 4, layers: 3, size: 64, rate: 0.002 },
  },
};

export const taskNames = Object.keys(tasks) as TaskName[];

export const allowed = {
  heads: [1, 2, 4, 8],
  layers: [1, 2, 3],
  size: [16, 32, 64, 128],
  length: { min: 3, max: 20 },
  rate: { min: 1e-5, max: 1000 },
  seed: { min: 0, max: 999_999 },
  at: { min: 0, max: 100_000 },
  row: { min: 1, max: 64 },
} as const;

/** The defaults of a task. */
export function planOf(task: TaskName): Plan {
  const { heads, layers, size, rate } = tasks[task];
  return { heads, layers, size, rate };
}

export const initialState: State = {
  ...{ task: "reverse", ...planOf("reverse"), length: 8, seed: 1, positions: true, compare: false },
  ...{ starts: true, slow: true, text: null, at: null, head: null, cell: null, row: null },
  ...{ outlined: true, range: "absolute", curve: "linear" },
};

/** Far more than a model can read, so that typed text is never cut off without a message. */
export const maxCharacters = 1000;

/** Settings that stay unlocked under a teacher's lock. */
export const lookKeys = [
  ...(["slow", "at", "head", "cell", "row", "outlined", "range", "curve"] as const),
] as const;

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
