/** Tests the pure functions of the room "Learn", and its training without a page. */
import { type Heed, load } from "heed";
import { taskOf } from "heed/models";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type {
  CourseSnapshot,
  Snapshot,
  TrainAnswer,
  TrainingNews,
} from "../../web/src/rooms/learn/messages";
import {
  keptParameters,
  mostKept,
  slowPace,
  slowSteps,
  spacingAt,
  withMore,
} from "../../web/src/rooms/learn/past";
import solve from "../../web/src/rooms/learn/solve";
import {
  initialState,
  read,
  type State,
  settings,
  setupsOf,
  taskNames,
  tasks,
  write,
} from "../../web/src/rooms/learn/state";
import { readOwn, Training } from "../../web/src/rooms/learn/training";
import { bestCourseHead, bestMass, findersOf, headsWords } from "../../web/src/rooms/learn/words";
import { testLink } from "./links";
import { contextOf } from "./solverContext";

let heed: Heed;
beforeEach(async () => {
  heed = await load({ threads: 1 });
});
afterEach(() => heed.dispose());

/** The only training of a state. */
function setupOf(state: State) {
  const setups = setupsOf(state);
  expect(setups).toHaveLength(1);
  return setups[0] as (typeof setups)[number];
}
const small: State = { ...initialState, size: 16, layers: 1, heads: 1 };

/** A context that keeps the snapshots that it is told of. */
function listening() {
  const told: Snapshot[] = [];
  const progress = ({ snapshots }: TrainingNews) => void told.push(...snapshots);
  return { told, context: contextOf(heed, { progress }) };
}

const seenWith = (masses: number[][]): CourseSnapshot => ({
  ...{ loss: 1, heldLoss: 1, exact: 0, masses, shares: [], answer: [] },
});

describe("The record of a training", () => {
  const snapshot = (step: number): Snapshot => ({ step, showing: 0, courses: [] });

  test("has a few evenly spaced steps, and always the last one", () => {
    let past: readonly Snapshot[] = [snapshot(0)];
    for (let step = 1; step <= 5003; ++step) {
      const isLook = step % spacingAt(step) === 0 || step === 7 || step === 5003;
      if (isLook) past = withMore(past, [snapshot(step)]);
      expect(past.length).toBeLessThanOrEqual(mostKept + 1);
    }
    const steps = past.map(({ step }) => step);
    expect(steps[0]).toBe(0);
    expect(steps.at(-1)).toBe(5003);
    const spacing = spacingAt(5003);
    expect(steps.slice(0, -1)).toEqual(steps.slice(0, -1).map((_, i) => i * spacing));
  });

  test("includes parameters while they take little memory", () => {
    expect(keptParameters(80_000)).toBe(mostKept);
    const few = keptParameters(6_000_000);
    expect(few * 6_000_000).toBeLessThanOrEqual(128 * 2 ** 20);
    let past: readonly { step: number }[] = [];
    for (let step = 0; step <= 3000; step += 5) past = withMore(past, [{ step }], few);
    expect(past.length).toBeLessThanOrEqual(few + 1);
    expect(past.length).toBeGreaterThan(few / 2);
  });

  test("names the head with the most attention on the answer positions over several snapshots", () => {
    const looks = [seenWith([[Number.NaN], [0.5, 0.2]]), seenWith([[Number.NaN], [0.5, 0.6]])];
    expect(bestCourseHead(looks)).toMatchObject({ attention: 1, head: 0 });
    expect(bestMass(looks[1] as CourseSnapshot)).toBe(0.6);
    expect(bestMass(seenWith([[Number.NaN]]))).toBeNaN();
  });
});

describe("The link of “Learn”", () => {
  test("omits the defaults of a task", () => {
    const dates: State = { ...initialState, task: "dates", ...tasks.dates.plan };
    expect(write(dates).toString()).toBe("task=dates");
    expect(read(new URLSearchParams("task=dates")).state).toEqual(dates);
  });

  testLink<State>({
    ...{ read, write, initial: initialState },
    opposite: {
      ...{ task: "pronouns", length: 12, heads: 8, layers: 2, size: 128, rate: 0.01, seed: 7 },
      ...{
        positions: false,
        starts: false,
        slow: false,
        compare: true,
        at: 120,
        head: { attention: 1, head: 3 },
      },
      ...{ cell: { row: 2, col: 5 }, row: 3, outlined: false, range: "row", curve: "log" },
      text: "Alice gave it to Bob.",
    },
    refused: ["heads=3", "rate=x", "head=0.1"],
    beside: ["seed=5", { seed: 5 }],
  });
});

describe("A typed text", () => {
  const state = (task: State["task"], length: number): State => ({ ...initialState, task, length });
  const taskFor = (one: State) => {
    const setup = setupOf(one);
    return taskOf(setup.task, setup.taskOptions);
  };
  const offered = (one: State, text: string) => {
    const read = readOwn(taskFor(one), text);
    if (!("why" in read)) throw new Error(`${text} is read`);
    return read.nearest;
  };

  test.each([
    ["reverse", "Heads & tails!", "headstai"],
    ["sort", "heads and tails, you see, and nothing else", "headsand"],
    ["sort", "你好", null],
    ["dates", "3 May 2021 😀", "3 May 2021"],
    ["dates", "3 Maj 2021 😀", null],
    ["dates", "3 May", null],
    ["pronouns", `Alice met ${"Bob and ".repeat(12)}Carl so they called him.`, null],
    ["pronouns", "Zoe met Xavier.", null],
  ] as const)("for %s, as “%s”, is refused with one that is not: %s", (task, text, nearest) => {
    const one = state(task, 8);
    expect(offered(one, text)).toBe(nearest);
    if (nearest !== null) expect(readOwn(taskFor(one), nearest)).not.toHaveProperty("why");
  });

  test("may always be the example that its task suggests", () => {
    const { min, max } = settings.length.limits;
    for (const task of taskNames)
      for (let length = min; length <= max; ++length)
        expect(readOwn(taskFor(state(task, length)), tasks[task].such(length))).not.toHaveProperty(
          "why",
        );
  });
});

test("Heads are counted in words", () => {
  expect([headsWords(1), headsWords(1, true), headsWords(4)]).toEqual([
    ...["one head", "One head", "4 heads"],
  ]);
});

test("One head and four are trained from the same seed and have the same number of parameters", async () => {
  const setups = setupsOf({ ...initialState, compare: true });
  const courses = setups.map((setup) => new Training(heed, setup).course());
  expect(courses.map(({ heads }) => heads)).toEqual([1, 4]);
  expect(new Set(courses.map(({ parameters }) => parameters)).size).toBe(1);
  expect(setups[0]).toEqual({ ...setups[1], options: { ...setups[1]?.options, heads: 1 } });
});

test("A step requested while a training begins belongs to that training", async () => {
  const context = contextOf(heed);
  const setups = setupsOf(initialState);
  const begun = solve({ kind: "begin", setups, text: null }, context);
  const stopped = solve({ kind: "train", steps: 1, slow: false }, context);
  expect(await begun).toMatchObject({ kind: "begun" });
  expect(await stopped).toEqual({ kind: "stopped", step: 1, why: "done" });
});

test("Steps requested while a training runs are made one after the other", async () => {
  const { told, context } = listening();
  const setups = [setupOf(small)];
  await solve({ kind: "begin", setups, text: null }, context);
  const train = async (steps: number) =>
    (await solve({ kind: "train", steps, slow: false }, context)) as TrainAnswer;
  const answers = await Promise.all([train(1000), train(1), train(1)]);
  expect(answers.map(({ step, why }) => `${step} ${why}`)).toEqual([
    "1 paused",
    "2 done",
    "3 done",
  ]);
  expect(told.map(({ step }) => step)).toEqual([1, 2, 3]);
});

test("A typed text is shown with the parameters of earlier steps", async () => {
  const { told, context } = listening();
  const setup = setupOf(initialState);
  await solve({ kind: "begin", setups: [setup], text: null }, context);
  await solve({ kind: "train", steps: 12, slow: false }, context);
  expect(told.map(({ step }) => step)).toEqual([5, 10, 12]);
  await solve({ kind: "show", text: "zebra" }, context);

  // The same training, stopped at each step.
  const training = new Training(heed, setup);
  const own = readOwn(training.task, "zebra");
  if ("why" in own) throw new Error(own.why);
  training.show(own);
  for (let step = 0; step <= 10; ++step) {
    if (step > 0) training.step();
    if (step % 5 > 0) continue;
    const { shares, answer } = await training.output();
    const looked = await solve({ kind: "look", step }, context);
    expect(looked).toMatchObject({ kind: "looked", step, outputs: [{ shares, answer }] });
  }
  expect(await solve({ kind: "look", step: 7 }, context)).toMatchObject({ outputs: [] });

  // A look at an earlier step does not change the training.
  await solve({ kind: "train", steps: 1, slow: false }, context);
  for (let step = 11; step <= 13; ++step) training.step();
  const { shares } = await training.output();
  expect(await solve({ kind: "look", step: 13 }, context)).toMatchObject({ outputs: [{ shares }] });
});

test("Earlier steps that are shown while a training runs do not change it", async () => {
  const { told, context } = listening();
  const setup = setupOf(small);
  await solve({ kind: "begin", setups: [setup], text: null }, context);
  let isTraining = true;
  const stopped = solve({ kind: "train", steps: 12, slow: false }, context).then(() => {
    isTraining = false;
  });
  let looks = 0;
  while (isTraining) {
    await Promise.all([0, 0, 0].map((step) => solve({ kind: "look", step }, context)));
    looks += 3;
  }
  await stopped;
  expect(looks).toBeGreaterThan(3);
  const training = new Training(heed, setup);
  for (let step = 0; step < 12; ++step) training.step();
  expect(told.at(-1)?.step).toBe(12);
  expect(told.at(-1)?.courses[0]?.heldLoss).toBe((await training.snapshot()).heldLoss);
});

test("The first steps are slow if wanted, and only they", async () => {
  const context = contextOf(heed);
  const setups = [setupOf(small)];
  await solve({ kind: "begin", setups, text: null }, context);
  const timer = vi.spyOn(globalThis, "setTimeout");
  /** The number of waits, each of at most the slow pace. */
  const waitsIn = async (steps: number, slow: boolean) => {
    timer.mockClear();
    await solve({ kind: "train", steps, slow }, context);
    const waits = timer.mock.calls.map(([, milliseconds]) => milliseconds ?? 0);
    expect(waits.every((wait) => wait > 0 && wait <= slowPace)).toBe(true);
    return waits.length;
  };
  // A step that takes longer than the slow pace, on a busy machine, needs no wait.
  const slow = await waitsIn(8, true);
  expect(slow).toBeGreaterThan(0);
  expect(slow).toBeLessThanOrEqual(8);
  expect(await waitsIn(slowSteps - 8, false)).toBe(0);
  expect(await waitsIn(20, true)).toBe(0);
  timer.mockRestore();
});

describe("Reversing letters", () => {
  /** The attention of the last snapshot on the anti-diagonal is its attention on the answer positions. */
  const learned = async (change: Partial<State>) => {
    const setup = setupOf({ ...initialState, ...change });
    const training = new Training(heed, setup);
    for (let step = 0; step < setup.recipe.steps; ++step) training.step();
    const snapshot = await training.snapshot();
    return { ...findersOf(snapshot), exact: snapshot.exact };
  };

  test("is found by several heads", async () => {
    const { finders, heads, exact } = await learned({});
    expect(exact).toBeGreaterThan(0.9);
    expect(heads).toBe(4);
    expect(finders).toBeGreaterThan(1);
  });

  test("is found by no head without positions", async () => {
    const { finders, exact } = await learned({ positions: false });
    expect(finders).toBe(0);
    expect(exact).toBeLessThan(0.5);
  });
});
