// Times several contenders in turn.

// Milliseconds. A shorter call is repeated within a sample, so that the resolution of the clock
// does not matter. The load of a shared machine then affects short and long calls alike.
const minSampleTime = 20;
const minRounds = 3;
const maxRounds = 41;

// Milliseconds. If the first call takes `long`, one more call is the whole warm-up. A call that takes
// `long` runs in two rounds only. If a call takes `longest`, the first one counts too, because a cold start hardly
// changes its time.
const long = 2000;
const longest = 8000;

/** The milliseconds of `calls` calls. A promise that a call returns is awaited. */
async function time(run, calls) {
  const start = performance.now();
  for (let i = 0; i < calls; ++i) {
    const result = run();
    if (result instanceof Promise) await result;
  }
  return performance.now() - start;
}

/**
 * Calls a function until V8 has compiled it with its optimising compiler.
 * Resolves to the milliseconds of a call.
 */
async function warmUp(run, least, first) {
  // The first call of a large model also fetches its weights, so a second one shows how long it takes.
  if (first >= long && first < longest) return time(run, 1);
  let calls = 1;
  let last = first;
  for (let spent = first; spent < long && (spent < least || calls < 3); ) {
    const batch = Math.max(1, Math.min(100, Math.floor(minSampleTime / last)));
    const took = await time(run, batch);
    last = Math.max(took / batch, 1e-4);
    calls += batch;
    spent += took;
  }
  return last;
}

function median(samples) {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const summary = (samples) => ({
  median: median(samples),
  least: Math.min(...samples),
  most: Math.max(...samples),
  samples: samples.length,
});

/** Waits until threads no longer spin after their work, and lets the garbage collector run. */
const rest = () => new Promise((resolve) => setTimeout(resolve, 2));

/**
 * Runs all contenders in turn, round after round. All have an equal share of the time, so
 * contenders with long calls run in the first rounds only.
 *
 * @param {{ name: string, run: () => unknown, first?: number }[]} contenders `first` is the time of an
 *   earlier call in milliseconds. A contender that measures itself has `sample` instead of `run`, and
 *   `lasts`, the milliseconds of a sample, if it takes longer than `first`
 * @param {number} budget milliseconds for the rounds; the warm-up takes about a third more
 * @returns by name, the milliseconds of one call
 */
export async function timeInRounds(contenders, budget) {
  const share = budget / contenders.length;
  const plans = [];
  for (const { name, run, first = 0.01, ...own } of contenders) {
    const once = own.sample ? Math.max(own.lasts ?? 0, first) : await warmUp(run, share / 3, first);
    const calls = Math.max(1, Math.ceil(minSampleTime / once));
    const isLongest = !own.sample && first >= longest;
    const fewest = isLongest ? 1 : once < long ? minRounds : 2;
    const rounds = Math.min(maxRounds, Math.max(fewest, Math.floor(share / (calls * once))));
    const { sample = async () => (await time(run, calls)) / calls } = own;
    plans.push({ name, sample, rounds, samples: isLongest ? [first] : [] });
  }
  for (let i = 0; i < maxRounds; ++i) {
    for (const { sample, rounds, samples } of plans) {
      if (i >= rounds) continue;
      await rest();
      samples.push(await sample());
    }
  }
  return Object.fromEntries(plans.map(({ name, samples }) => [name, summary(samples)]));
}
