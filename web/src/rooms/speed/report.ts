/** The types of a run and its report, and arithmetic on them. */
import type { State } from "./state";
import { threeDigits } from "./units";
import type { measureWriting } from "./writing";

export type SpeedSettings = Omit<State, "axis">;

export interface MeasuringRequest {
  readonly base: string;
  readonly settings: SpeedSettings;
  readonly isLong: boolean;
  /** The speed that an earlier run measured, because it depends on no setting; without it, it is measured. */
  readonly writing?: WritingSpeed | null;
}

/** The number of heads, queries and keys, and the size of every vector. */
export interface Sizes extends Omit<SpeedSettings, "longest"> {
  readonly queries: number;
  readonly keys: number;
}

/**
 * One computation to measure: self-attention of a sequence, attention of one new token to a cache of keys and values,
 * or a multi-head layer, which is attention between four linear layers.
 */
export interface Case {
  readonly id: string;
  readonly kind: "attention" | "decode" | "layer";
  readonly name: string;
  readonly sizes: Sizes;
  /** Floating-point operations. A multiply-add counts as two. The softmax is not counted. */
  readonly operations: number;
  /** Bytes that must be read or written at least once. */
  readonly bytes: number;
}

export interface Contender {
  readonly id: string;
  readonly name: string;
  /** The variant of the engine; null for plain JavaScript. */
  readonly variant: string | null;
  readonly threads: number;
}

/** Milliseconds of one call, over the rounds. */
export interface Timing {
  readonly median: number;
  readonly least: number;
  readonly most: number;
  readonly samples: readonly number[];
}

export interface Measurement {
  readonly caseId: string;
  readonly contenderId: string;
  /** Null if it was not measured: see `reason`. */
  readonly timing: Timing | null;
  readonly reason: string | null;
  /** The largest relative difference of a row from plain JavaScript's answer; null for plain JavaScript itself. */
  readonly difference: number | null;
  /** Bytes of the engine's whole memory after the call, or of the arrays of plain JavaScript. */
  readonly memory: number | null;
}

/** Bytes of the tensors of one call, allocated by the engine. */
export interface CallMemory {
  readonly caseId: string;
  /** Queries, keys, values and the output. */
  readonly tensors: number;
  /** The log-sum-exp of the softmax, kept for a backward pass: one number for each query. */
  readonly lse: number;
  /** All weights, if they are requested: one number for each pair. Null if there would be too many. */
  readonly weights: number | null;
}

export type WritingSpeed = Awaited<ReturnType<typeof measureWriting>>;

/** The highest rate that this browser reaches, measured by a loop that does nothing else. */
export interface Limit {
  readonly kind: "arithmetic" | "memory";
  /** The variant whose instructions are used; null for reading memory. */
  readonly variant: string | null;
  readonly threads: number;
  readonly perSecond: number;
}

export interface SpeedReport {
  readonly request: MeasuringRequest;
  readonly version: string;
  readonly cores: number;
  readonly isIsolated: boolean;
  /** The engine's reason why there is only one thread. */
  readonly reason: string | null;
  /** The smallest step of the clock, in milliseconds. */
  readonly clock: number;
  /** The start time, in milliseconds since 1970. */
  readonly date: number;
  readonly contenders: readonly Contender[];
  readonly cases: readonly Case[];
  readonly limits: readonly Limit[];
  readonly measurements: readonly Measurement[];
  readonly callMemories: readonly CallMemory[];
  /** Null until it is measured; a text says why it could not be. */
  readonly writing: WritingSpeed | string | null;
  readonly milliseconds: number;
}

/** The progress from 0 to 1, and a description of the current work. */
export interface MeasuringNews {
  readonly share: number;
  readonly doing: string;
  /** Null if it has nothing new, because painting it disturbs the next measurement. */
  readonly report: SpeedReport | null;
}

/** The first key that a query attends to, and the one after the last. */
export function keysSeen({ keys, causal, window }: Sizes, query: number): [number, number] {
  const first = window > 0 ? Math.max(0, query - window) : 0;
  const last = window > 0 ? Math.min(keys - 1, query + window) : keys - 1;
  return [first, (causal ? Math.min(query, last) : last) + 1];
}

/** The number of visible pairs of query and key, in one head. */
function pairsOf(sizes: Sizes): number {
  let pairs = 0;
  for (let query = 0; query < sizes.queries; ++query) {
    const [first, end] = keysSeen(sizes, query);
    pairs += end - first;
  }
  return pairs;
}

const float = 4;

/** Two products for every pair of query and key: one for the score, one for the weighted value. */
const attentionOperations = (sizes: Sizes) => 4 * sizes.heads * sizes.size * pairsOf(sizes);
/** Queries, keys and values are read, and outputs written. */
const attentionBytes = ({ heads, size, queries, keys }: Sizes) =>
  float * heads * size * (2 * queries + 2 * keys);

/** A case of attention, which a layer extends. */
function caseOf(kind: Case["kind"], name: string, sizes: Sizes, id: string = kind): Case {
  const counted = { operations: attentionOperations(sizes), bytes: attentionBytes(sizes) };
  return { id, kind, name, sizes, ...counted };
}

export function attentionCase({ heads, size, causal, window }: SpeedSettings, length: number) {
  const sizes = { heads, size, causal, window, queries: length, keys: length };
  return caseOf("attention", `${length} tokens`, sizes, String(length));
}

export const bytesRead = 32 * 2 ** 20;

export function decodeCase({ heads, size }: SpeedSettings): Case {
  const keys = Math.round(bytesRead / (2 * float * heads * size));
  const sizes = { heads, size, causal: false, window: 0, queries: 1, keys };
  return caseOf("decode", `1 token, ${keys} cached`, sizes);
}

/** Approximate operations of a multi-head layer's linear layers: plain JavaScript needs a second or less for them. */
const layerOperations = 4e8;

export function layerCase({ heads, size, causal, window }: SpeedSettings): Case {
  const width = heads * size;
  const fitting = 2 ** Math.floor(Math.log2(layerOperations / (8 * width * width)));
  const length = Math.max(16, Math.min(256, fitting));
  const sizes = { heads, size, causal, window, queries: length, keys: length };
  return {
    ...caseOf("layer", `layer, ${length} tokens`, sizes),
    operations: 8 * length * width * width + attentionOperations(sizes),
    bytes: float * (2 * length * width + 4 * width * width + 4 * width),
  };
}

/** Operations per byte, which determines whether arithmetic or memory is the limit. */
export const intensityOf = ({ operations, bytes }: Case) => operations / bytes;

/** Billions of operations a second. */
export const speedOf = ({ operations }: Case, milliseconds: number) =>
  operations / milliseconds / 1e6;

/** A measured limit per second. With more threads it is at least the limit of fewer. Null before it is measured. */
export function peakOf(
  { limits }: SpeedReport,
  kind: Limit["kind"],
  { variant, threads }: Pick<Contender, "variant" | "threads">,
): number | null {
  const found = limits.filter(
    (limit) =>
      limit.kind === kind &&
      limit.threads <= threads &&
      (kind === "memory" || limit.variant === variant),
  );
  const isThere = found.some((limit) => limit.threads === threads);
  return isThere ? Math.max(...found.map(({ perSecond }) => perSecond)) : null;
}

/**
 * The highest speed that a contender could reach in a case, in billions of operations a second; null if there is no
 * limit for it. A disturbed loop gives a limit that is too low, so the limit is at least the speed of the case's best
 * round.
 */
export function limitOf(report: SpeedReport, one: Case, contender: Contender): number | null {
  const { variant, threads } = contender;
  if (variant === null) return null;
  const arithmetic = peakOf(report, "arithmetic", contender);
  const memory = peakOf(report, "memory", contender);
  if (arithmetic === null || memory === null) return null;
  const reached = report.contenders
    .filter((other) => other.variant === variant && other.threads <= threads)
    .flatMap((other) => measurementOf(report, one, other)?.timing ?? [])
    .map(({ least }) => speedOf(one, least));
  return Math.max(Math.min(arithmetic, memory * intensityOf(one)) / 1e9, ...reached);
}

/** The ratio of two medians, rounded to three digits as shown, so that anyone can compute it from them. */
export function ratioOf(slow: Timing, fast: Timing): number {
  return Number(threeDigits(slow.median)) / Number(threeDigits(fast.median));
}

export function measurementOf(report: SpeedReport, one: Case, contender: Contender) {
  return report.measurements.find(
    ({ caseId, contenderId }) => caseId === one.id && contenderId === contender.id,
  );
}

/** Whether, for a third of the measurements, one round took twice the time of another. Then the machine is busy. */
export function isDisturbed({ measurements }: SpeedReport): boolean {
  const timings = measurements.flatMap(({ timing }) => timing ?? []);
  const unsteady = timings.filter(({ least, most }) => most > 2 * least);
  return unsteady.length > timings.length / 3;
}

export function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
