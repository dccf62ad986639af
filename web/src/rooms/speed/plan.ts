/** The plan of a run: the cases, and the contenders that compute them. */
import {
  attentionCase,
  type Case,
  type Contender,
  decodeCase,
  layerCase,
  type MeasuringRequest,
} from "./report";
import { lengths } from "./state";
import { threadsOf } from "./units";

export interface Machine {
  /** The engine with its default options. */
  readonly variant: string;
  readonly threads: number;
  readonly cores: number;
  readonly isIsolated: boolean;
}

/** The binaries. An engine that can run one of them can also run all that follow. */
const variants = ["wide", "relaxed", "simd"];
const longestOfShort = 512;
const mostThreads = 16;

export function casesOf({ settings, isLong }: MeasuringRequest): Case[] {
  const longest = isLong ? settings.longest : longestOfShort;
  const attention = lengths
    .filter((length) => length <= longest)
    .map((length) => attentionCase(settings, length));
  return [...attention, decodeCase(settings), ...(isLong ? [layerCase(settings)] : [])];
}

/** First the engine's default number of threads, then powers of two up to the number of cores. */
export function threadCounts(isLong: boolean, { threads, cores, isIsolated }: Machine): number[] {
  const counts = new Set([threads]);
  if (isLong && isIsolated) {
    const most = Math.min(cores, mostThreads);
    counts.add(most);
    for (let count = 2; count < most; count *= 2) counts.add(count);
  }
  counts.add(1);
  const [own = 1, ...others] = counts;
  return [own, ...others.sort((a, b) => b - a)];
}

const plainJavaScript: Contender = {
  id: "javascript",
  name: "plain JavaScript",
  variant: null,
  threads: 1,
};

const engineContender = (variant: string, threads: number): Contender => ({
  id: `${variant}-${threads}`,
  name: `${variant}, ${threadsOf(threads)}`,
  variant,
  threads,
});

/** The engine with its default options comes first; a short run varies each option alone. */
export function contendersOf({ isLong }: MeasuringRequest, machine: Machine): Contender[] {
  const counts = threadCounts(isLong, machine);
  const all = counts.map((threads) => engineContender(machine.variant, threads));
  const others = isLong ? counts : counts.slice(0, 1);
  for (const variant of variants.slice(variants.indexOf(machine.variant) + 1))
    all.push(...others.map((threads) => engineContender(variant, threads)));
  return [...all, plainJavaScript];
}
