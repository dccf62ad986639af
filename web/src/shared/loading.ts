/** How much of a model has come. */

/** The number of a model's bytes that have arrived, and of all. */
export interface News {
  readonly loaded: number;
  /** 0 until the files tell it. */
  readonly total: number;
}

export interface Loading extends News {
  readonly name: string;
  /** Bytes per millisecond over the last seconds, because kept files load faster. Null at first. */
  readonly rate: number | null;
}

/** The time over which the rate is taken, and the least for a first one, in milliseconds. */
const recently = 5000;
const soonest = 500;

/** Measures the rate of a download from the times at which its bytes arrived. */
function rateMeter(): (loaded: number) => number | null {
  const seen: { readonly time: number; readonly loaded: number }[] = [];
  return (loaded) => {
    const time = performance.now();
    seen.push({ time, loaded });
    while (seen.length > 2 && time - (seen[1]?.time ?? 0) > recently) seen.shift();
    const [first] = seen;
    if (!first || time - first.time < soonest || loaded <= first.loaded) return null;
    return (loaded - first.loaded) / (time - first.time);
  };
}

/**
 * Returns a function that adds the name and the rate to the news about one download. The rate leaves out the time
 * before the first bytes.
 */
export function loadingOf(name: string): (news: News) => Loading {
  const rateAt = rateMeter();
  return ({ loaded, total }) => ({ name, loaded, total, rate: total > 0 ? rateAt(loaded) : null });
}
