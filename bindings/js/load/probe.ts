// Whether this engine merges pairs of 128-bit vectors into vectors of 256 bits, as V8 can on
// x86-64. No feature test shows it, so two loops are timed that differ only in the places of their
// sums: in pairs, which V8 merges, or apart. With merging, the first loop takes half the time of
// the second; without it, both take the same time.

import { inCommon } from "../core/copies.js";
import type { Bytes } from "../core/module.js";
import { isNode, mayMergeVectors } from "./features.js";

/**
 * The number of sums. Together with the added vector, they fill the registers that V8 uses. If one
 * were stored in memory, one of the two loops could take three times as long.
 */
const sums = 14;
const vectorBytes = 16;

/** LEB128, unsigned. */
const leb = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...leb(value >> 7)];

const section = (id: number, content: readonly number[]) => [
  id,
  ...leb(content.length),
  ...content,
];

/**
 * Loads the sums, runs a loop that adds to each of them, and stores them. Their addresses are
 * multiples of a stride.
 */
function loopOf(stride: number): number[] {
  const [count, added, first] = [1, 2, 3];
  const all = Array.from({ length: sums }, (_, i) => ({ local: first + i, at: leb(i * stride) }));
  return [
    ...all.flatMap(({ local, at }) => [0x41, 0, 0xfd, 0x00, 4, ...at, 0x21, local]), // v128.load
    ...[0x03, 0x40], // loop
    ...all.flatMap(({ local }) => [0x20, local, 0x20, added, 0xfd, 0xe4, 0x01, 0x21, local]), // f32x4.add
    ...[0x20, count, 0x41, 0x7f, 0x6a, 0x22, count, 0x0d, 0, 0x0b], // --count, repeat unless it is 0
    ...all.flatMap(({ local, at }) => [0x41, 0, 0x20, local, 0xfd, 0x0b, 4, ...at]), // v128.store
  ];
}

/**
 * A module that exports r(isPaired: i32, count: i32). Both loops are in one function, so that their
 * optimised code is compiled at the same moment.
 */
export function loopsModule(): Bytes {
  const body = [
    ...[0x41, 0, 0xfd, 0x09, 2, 0, 0x21, 2], // v128.load32_splat, of a number that the compiler does not know
    ...[0x20, 0, 0x04, 0x40, ...loopOf(vectorBytes), 0x05, ...loopOf(2 * vectorBytes), 0x0b],
  ];
  const code = [1, ...leb(1 + sums), 0x7b, ...body, 0x0b];
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00], // magic, version
    ...section(1, [1, 0x60, 2, 0x7f, 0x7f, 0]), // a type (i32, i32) -> ()
    ...section(3, [1, 0]),
    ...section(5, [1, 0, 1]), // a memory of a page
    ...section(7, [1, 1, 0x72, 0, 0]),
    ...section(10, [1, ...leb(code.length), ...code]),
  ]);
}

/**
 * The duration of a step in milliseconds: 20 or more times the resolution of the clock. This
 * resolution is 100 us on a page that is not isolated.
 */
const stepTimes = { precise: 0.2, coarse: 2 };
/**
 * The least number of steps of that duration for an answer. With only three, other programs might
 * interrupt only the loop whose sums are apart.
 */
const fewest = 8;
/**
 * After this many steps of any duration, without an answer, vectors count as not merged. The limit
 * is high because optimised code comes late on a busy machine.
 */
const most = 24;
/** If the ratio of the times is below this, vectors are not merged. */
const equal = 1.2;
const mostRepeats = 2 ** 21;
/** A ratio between the typical ratios with and without merging. */
const threshold = 1.5;

export class Probe {
  /** Whether vectors are merged; undefined until it is known. */
  answer: boolean | undefined;
  readonly #time: (isPaired: boolean, repeats: number) => number;
  readonly #stepTime: number;
  #repeats = 2 ** 17;
  #steps = 0;
  #paired: number[] = [];
  #apart: number[] = [];

  /** @param time runs one of the loops and returns the milliseconds that it took */
  constructor(time: (isPaired: boolean, repeats: number) => number, isPrecise: boolean) {
    this.#time = time;
    this.#stepTime = isPrecise ? stepTimes.precise : stepTimes.coarse;
  }

  /** Measures in steps, with a rest before each, until the answer is known or no longer needed. */
  async run(rest: () => Promise<void>, isNeeded: () => boolean): Promise<boolean | undefined> {
    while (this.answer === undefined) {
      await rest();
      if (!isNeeded()) break;
      // Two concurrent runs take turns, so the other run may have found the answer.
      if (this.answer === undefined) this.#step();
    }
    return this.answer;
  }

  #step(): void {
    // The paired loop is timed first: if the optimised code arrives between the two loops, the
    // ratio is too low, never too high.
    this.#paired.push(this.#time(true, this.#repeats));
    this.#apart.push(this.#time(false, this.#repeats));
    const [paired, apart] = [Math.min(...this.#paired), Math.min(...this.#apart)];
    if (paired + apart < this.#stepTime && this.#repeats < mostRepeats) {
      this.#repeats *= 2;
      this.#paired = [];
      this.#apart = [];
    } else if (this.#paired.length >= fewest) {
      if (apart > threshold * paired) this.answer = true;
      if (apart < equal * paired) this.answer = false;
    }
    if (++this.#steps === most) this.answer ??= false;
  }
}

/** Returns a function that times a loop of the module. The module is created at the first call. */
function timer(): (isPaired: boolean, repeats: number) => number {
  let run: ((isPaired: number, repeats: number) => void) | undefined;
  return (isPaired, repeats) => {
    run ??= new WebAssembly.Instance(new WebAssembly.Module(loopsModule())).exports
      .r as NonNullable<typeof run>;
    const start = performance.now();
    run(+isPaired, repeats);
    return performance.now() - start;
  };
}

// The pages and workers of an origin keep the answer for later ones in Cache Storage, which both
// have: "wide" or "relaxed", the day of the measurement, and the user agent. No request is ever
// sent to this address.
const cacheName = "heed";
const address = "https://heed.invalid/variant";
const mostDays = 7;
const today = () => Math.floor(Date.now() / 86_400_000);

/** The stored answer; undefined if there is no valid one, or if the browser refuses. Node stores none. */
async function keptAnswer(): Promise<boolean | undefined> {
  if (isNode) return undefined;
  try {
    const response = await caches.match(address, { cacheName });
    const [, variant, day, userAgent] =
      /^(wide|relaxed) (\d+) (.*)$/.exec((await response?.text()) ?? "") ?? [];
    const age = today() - Number(day);
    const holds = age >= 0 && age <= mostDays && userAgent === navigator.userAgent;
    return holds ? variant === "wide" : undefined;
  } catch {
    return undefined;
  }
}

async function keep(answer: boolean): Promise<void> {
  if (isNode) return;
  const text = `${answer ? "wide" : "relaxed"} ${today()} ${navigator.userAgent}`;
  try {
    await (await caches.open(cacheName)).put(address, new Response(text));
  } catch {
    // Without secure context, storage or permission, the next page measures again.
  }
}

function shared(): Probe {
  return inCommon("probe", () => {
    const probe = new Probe(timer(), isNode || globalThis.crossOriginIsolated === true);
    if (!mayMergeVectors()) probe.answer = false;
    return probe;
  });
}

/** Whether "wide" is faster here than "relaxed"; undefined while that is not known. */
export const isWideFaster = (): boolean | undefined => shared().answer;

/** Prevents the choice of "wide" in this page, worker or process, because its file cannot be loaded. */
export function refuseWide(): void {
  shared().answer = false;
}

/** Waits for a time. A process of Node ends without waiting for it. */
const wait = (milliseconds: number) =>
  new Promise<void>((resolve) => {
    const timer: unknown = setTimeout(resolve, milliseconds);
    (timer as { unref?(): void }).unref?.();
  });

/** A rest that leaves most of the time to the page, and first of all to the work for which `load` waits. */
const rest = () => wait(4);

/** Whether "wide" is faster, from this page or from an earlier page or worker; undefined while it is not known. */
export async function knownWide(): Promise<boolean | undefined> {
  const probe = shared();
  if (probe.answer === undefined) {
    // A storage that does not respond must not delay `load`.
    const found = await Promise.race([keptAnswer(), wait(100)]);
    probe.answer ??= found ?? undefined;
  }
  return probe.answer;
}

/**
 * Measures whether "wide" is faster, unless it is known. The measurement runs as long as it is
 * needed: by default until the answer is known.
 */
export async function measureWide(isNeeded = () => true): Promise<boolean | undefined> {
  const probe = shared();
  const known = await knownWide();
  if (known !== undefined) return known;
  try {
    const answer = await probe.run(rest, isNeeded);
    if (answer !== undefined) void keep(answer);
    return answer;
  } catch {
    probe.answer = false;
    return false;
  }
}
