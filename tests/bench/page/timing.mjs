// Times several things against each other.

// Milliseconds: what takes less is called many times in a sample, so that the clock's resolution
// does not matter, and so that short and long samples suffer alike where the machine is shared.
const shortest = 20;
const fewestRounds = 5;
const mostRounds = 41;

/** Milliseconds of `calls` calls. A call that gives a promise is awaited, another is not. */
async function time(run, calls) {
  const start = performance.now();
  for (let i = 0; i < calls; ++i) {
    const result = run();
    if (result instanceof Promise) await result;
  }
  return performance.now() - start;
}

/**
 * Calls for a while, so that V8, which compiles twice, comes to run the second compilation.
 * Resolves to the milliseconds of a call.
 */
async function warmUp(run, least) {
  let calls = 1;
  let last = await time(run, 1);
  for (let spent = last; spent < least || calls < 3; ) {
    const batch = Math.max(1, Math.min(100, Math.floor(shortest / last)));
    const took = await time(run, batch);
    last = Math.max(took / batch, 1e-4);
    calls += batch;
    spent += took;
  }
  return last;
}

function summary(samples) {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { median, least: sorted[0], most: sorted.at(-1), samples: sorted.length };
}

/** Lets threads that still spin after their work come to rest, and the collector run. */
const rest = () => new Promise((resolve) => setTimeout(resolve, 2));

/**
 * Runs all in turn, round after round.
 *
 * @param {{ name: string, run: () => unknown }[]} contenders
 * @param {number} budget milliseconds for the rounds; the warm-up takes about a third of it besides
 * @returns by name, milliseconds of one call
 */
export async function timeInRounds(contenders, budget) {
  const plans = [];
  for (const { name, run } of contenders) {
    const once = await warmUp(run, budget / 3 / contenders.length);
    plans.push({ name, run, calls: Math.max(1, Math.ceil(shortest / once)), once, samples: [] });
  }
  const round = plans.reduce((sum, { calls, once }) => sum + calls * once + 2, 0);
  const rounds = Math.min(mostRounds, Math.max(fewestRounds, Math.floor(budget / round)));
  for (let i = 0; i < rounds; ++i) {
    for (const { run, calls, samples } of plans) {
      await rest();
      samples.push((await time(run, calls)) / calls);
    }
  }
  return Object.fromEntries(plans.map(({ name, samples }) => [name, summary(samples)]));
}
