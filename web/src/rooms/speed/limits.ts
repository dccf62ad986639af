/** The limits of this browser. They are measured at the start and again with every case, and the best result counts. */
import { type Crew, startCrew } from "./crew";
import { arithmeticLoop, memoryLoop, operationsOf, sharedMemory, type Variant } from "./loops";
import { bytesRead, type Contender, type Limit } from "./report";

/**
 * The best number of accumulators, in registers, is found by trial. With few, each addition waits for the previous one;
 * with more than the registers that the browser uses, some are spilled to memory.
 */
const accumulatorsTried = [10, 12, 14];
/** Two vectors of 128 bits fill a register of 256. */
const accumulatorsOf = (variant: Variant, registers: number) =>
  variant === "wide" ? 2 * registers : registers;
/** A number of repetitions that any loop finishes within a few milliseconds. */
const fewRepeats = 20_000;
const trials = 3;

interface Loop {
  readonly number: number;
  /** The number of operations or bytes of a call. */
  amount(count: number): number;
}

interface LimitProbe {
  readonly kind: Limit["kind"];
  readonly variant: string | null;
  readonly threads: number;
  /** The candidates, and later only the best one. */
  loops: readonly Loop[];
  count: number;
  /** The best result, per second. */
  best: number;
}

/** Lets the threads of the engine go to sleep. */
type Rest = () => Promise<void>;

export type Limits = Awaited<ReturnType<typeof findLimits>>;

export async function findLimits(contenders: readonly Contender[], shortest: number) {
  const variants = [...new Set(contenders.map(({ variant }) => variant))].filter(
    (variant): variant is Variant => variant !== null,
  );
  const threads = Math.max(...contenders.map(({ threads }) => threads));
  const modules = [
    memoryLoop(),
    ...variants.flatMap((variant) =>
      accumulatorsTried.map((n) => arithmeticLoop(variant, accumulatorsOf(variant, n))),
    ),
  ].map((bytes) => new WebAssembly.Module(bytes));
  const memory = sharedMemory(bytesRead);
  const crew = await startCrew({ modules, memory, bytes: bytesRead }, threads);

  const loopsOf = (variant: Variant, threads: number): Loop[] =>
    accumulatorsTried.map((registers, i) => ({
      number: 1 + variants.indexOf(variant) * accumulatorsTried.length + i,
      amount: (count) => threads * operationsOf(accumulatorsOf(variant, registers), count),
    }));
  const probes: LimitProbe[] = [];
  for (const { variant, threads } of contenders) {
    if (variant !== null)
      probes.push({
        ...{ kind: "arithmetic", variant, threads, count: fewRepeats, best: 0 },
        loops: loopsOf(variant as Variant, threads),
      });
    const isThere = probes.some((probe) => probe.kind === "memory" && probe.threads === threads);
    if (!isThere)
      probes.push({
        ...{ kind: "memory", variant: null, threads, count: 1, best: 0 },
        loops: [{ number: 0, amount: (count) => count * bytesRead }],
      });
  }

  return {
    async measure(rest: Rest, tell: () => void) {
      for (const probe of probes) {
        await measureProbe(crew, probe, shortest, rest);
        tell();
      }
    },
    soFar: () =>
      probes.map(
        ({ kind, variant, threads, best }): Limit => ({
          ...{ kind, variant, threads },
          perSecond: best,
        }),
      ),
  };
}

async function measureProbe(crew: Crew, probe: LimitProbe, shortest: number, rest: Rest) {
  const { threads } = probe;
  const time = (loop: Loop) => {
    const start = performance.now();
    crew.run(loop.number, threads, probe.count);
    return performance.now() - start;
  };
  const isFirst = probe.best === 0;
  if (isFirst) {
    // Repeats each loop until its code is optimised.
    for (const loop of probe.loops) for (let i = 0; i < 3; ++i) time(loop);
    await rest();
    const quickest = () => Math.min(...probe.loops.map(time));
    for (let took = quickest(); took < shortest / 2; took = quickest())
      probe.count *= took > shortest / 8 ? 2 : 8;
  }
  let best = probe.loops[0];
  for (let trial = 0; trial < trials; ++trial) {
    await rest();
    for (const loop of probe.loops) {
      const perSecond = (loop.amount(probe.count) / time(loop)) * 1000;
      if (!(perSecond > probe.best) || !Number.isFinite(perSecond)) continue;
      probe.best = perSecond;
      best = loop;
    }
  }
  if (isFirst && best) probe.loops = [best];
}
