// Times several things against each other.

// Milliseconds: what takes less is called many times in a sample, so that the clock's resolution
// does not matter, and so that short and long samples suffer alike where the machine is shared.
const shortest = 20;
const fewestRounds = 3;
const mostRounds = 41;

// Milliseconds: what has taken so long needs no more warming up, and a call that takes so long is in
// two rounds only. Of one that takes longest, the first call counts too: a cold start is nothing to it.
const long = 2000;
const longest = 8000;

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
async function warmUp(run, least, first) {
  let calls = 1;
  let last = first;
  for (let spent = first; spent < long && (spent < least || calls < 3); ) {
    const batch = Math.max(1, Math.min(100, Math.floor(shortest / last)));
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

/** Lets threads that still spin after their work come to rest, and the collector run. */
const rest = () => new Promise((resolve) => setTimeout(resolve, 2));

/**
 * Runs all in turn, round after round. Each gets as much time as the others: what takes long is in
 * the first rounds only.
 *
 * @param {{ name: string, run: () => unknown, first?: number }[]} contenders `first`, the milliseconds
 *   of a call that was made already; for what measures itself `sample` instead of `run`, and how
 *   many milliseconds that `lasts` at least, if it is more
 * @param {number} budget milliseconds for the rounds; the warm-up takes about a third of it besides
 * @returns by name, milliseconds of one call
 */
export async function timeInRounds(contenders, budget) {
  const share = budget / contenders.length;
  const plans = [];
  for (const { name, run, first = 0.01, ...own } of contenders) {
    const once = own.sample ? Math.max(own.lasts ?? 0, first) : await warmUp(run, share / 3, first);
    const calls = Math.max(1, Math.ceil(shortest / once));
    const isLongest = !own.sample && first >= longest;
    const fewest = isLongest ? 1 : once < long ? fewestRounds : 2;
    const rounds = Math.min(mostRounds, Math.max(fewest, Math.floor(share / (calls * once))));
    const { sample = async () => (await time(run, calls)) / calls } = own;
    plans.push({ name, sample, rounds, samples: isLongest ? [first] : [] });
  }
  for (let i = 0; i < mostRounds; ++i) {
    for (const { sample, rounds, samples } of plans) {
      if (i >= rounds) continue;
      await rest();
      samples.push(await sample());
    }
  }
  return Object.fromEntries(plans.map(({ name, samples }) => [name, summary(samples)]));
}
