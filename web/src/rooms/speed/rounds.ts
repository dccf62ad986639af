/** Measures several contenders alternately in rounds, so that a disturbance affects all of them. */
import { median, type Timing } from "./report";

export interface Racer {
  run(): void;
  /** Milliseconds of an earlier call. */
  readonly first: number;
}

export interface Sampling {
  /** The minimum milliseconds of a sample. A shorter call is repeated. */
  readonly shortest: number;
  readonly rounds: number;
}

/** A call of at least this many milliseconds needs no warm-up, and fewer rounds. */
const long = 150;
const fewest = 3;

/** The resolution of the clock. Browsers limit it, even more without isolation. */
export function clockStep(): number {
  let step = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 5; ++i) {
    const start = performance.now();
    let now = start;
    while (now === start) now = performance.now();
    step = Math.min(step, now - start);
  }
  return step;
}

function timeCalls(run: () => void, calls: number): number {
  const start = performance.now();
  for (let i = 0; i < calls; ++i) run();
  return performance.now() - start;
}

/** Warms up, so that the browser optimises the code. Returns the milliseconds of a call after that. */
async function warmUp({ run, first }: Racer, shortest: number, pause: () => Promise<void>) {
  if (first >= long) return first;
  let once = Math.max(first, 1e-3);
  for (let spent = 0, calls = 0; spent < 2 * shortest && calls < 1000; ) {
    const batch = Math.max(1, Math.ceil(shortest / 4 / once));
    const took = timeCalls(run, batch);
    once = Math.max(took / batch, 1e-3);
    spent += Math.max(took, 0.05);
    calls += batch;
    await pause();
  }
  return once;
}

/** The milliseconds of a call. Calls are added if a disturbed warm-up overestimated it. */
function sample(plan: { readonly run: () => void; calls: number }, shortest: number): number {
  for (;;) {
    const took = timeCalls(plan.run, plan.calls);
    if (took >= shortest / 2) return took / plan.calls;
    plan.calls *= took > shortest / 8 ? 2 : 8;
  }
}

/**
 * Measures the milliseconds of a call of each racer.
 *
 * @param deadline the time of performance.now() at which the rounds end early, if a few have been made
 * @param pause lets the worker handle messages between samples
 * @param tell reports the finished share after each sample
 */
export async function timeInRounds(
  racers: readonly Racer[],
  { shortest, rounds }: Sampling,
  pause: () => Promise<void>,
  tell: (share: number) => void,
  deadline = Number.POSITIVE_INFINITY,
): Promise<Timing[]> {
  const plans = [];
  for (const racer of racers) {
    const once = await warmUp(racer, shortest, pause);
    const calls = Math.max(1, Math.ceil(shortest / once));
    plans.push({
      ...{ run: racer.run, calls, samples: [] as number[] },
      rounds: once >= long ? Math.min(fewest, rounds) : rounds,
      cost: once * calls,
    });
  }
  const all = plans.reduce((sum, { cost, rounds }) => sum + cost * rounds, 0);
  let done = 0;
  for (let round = 0; round < rounds; ++round) {
    if (round >= fewest && performance.now() > deadline) break;
    for (const plan of plans) {
      if (round >= plan.rounds) continue;
      await pause();
      plan.samples.push(sample(plan, shortest));
      done += plan.cost;
      tell(done / all);
    }
  }
  return plans.map(({ samples }) => ({
    median: median(samples),
    least: Math.min(...samples),
    most: Math.max(...samples),
    samples,
  }));
}
