// The measurement that tells whether an engine merges pairs of vectors: its decision on given times, and its loops.

import { describe, expect, test } from "vitest";
import { loopsModule, Probe } from "../../../dist/load/probe.js";

/**
 * An engine with given times of both loops at each step, in nanoseconds per repeat, and the milliseconds it was busy.
 */
function probeOf(speeds: (step: number) => [paired: number, apart: number], isPrecise = true) {
  const calls: { isPaired: boolean; repeats: number; time: number }[] = [];
  const probe = new Probe((isPaired, repeats) => {
    const time = (speeds(calls.length >> 1)[isPaired ? 0 : 1] * repeats) / 1e6;
    calls.push({ isPaired, repeats, time });
    return time;
  }, isPrecise);
  const run = (isNeeded = () => true) => probe.run(async () => {}, isNeeded);
  return { probe, run, calls };
}

describe("the answer is", () => {
  test("yes as soon as eight steps show that the pairs take half the time", async () => {
    const { run, calls, probe } = probeOf(() => [2, 4]);
    expect(await run()).toBe(true);
    expect(calls.length).toBe(2 * 8);
    expect(await run()).toBe(true);
    expect(calls.length).toBe(2 * 8);
    expect(probe.answer).toBe(true);
  });

  test("no after eight steps of equal times that are long enough for the clock", async () => {
    for (const [time, doublings] of [
      [2, 0],
      [0.4, 1],
    ] as const) {
      const { run, calls } = probeOf(() => [time, time]);
      expect(await run()).toBe(false);
      expect(calls.length).toBe(2 * (doublings + 8));
    }
  });

  test("no after 24 steps of times that are neither equal nor half", async () => {
    const { run, calls } = probeOf(() => [2, 2.6]);
    expect(await run()).toBe(false);
    expect(calls.length).toBe(2 * 24);
  });

  test("yes when the optimised code comes late", async () => {
    const { run } = probeOf((step) => (step < 7 ? [6, 6] : [1, 2]));
    expect(await run()).toBe(true);
  });

  test("no when the optimised code arrives between the two loops", async () => {
    const { run } = probeOf((step) => (step < 2 ? [6, 6] : step === 2 ? [6, 2] : [2, 2]));
    expect(await run()).toBe(false);
  });

  test("no when another program interrupts seven measurements in a row of the sums that are apart", async () => {
    const { run } = probeOf((step) => (step < 7 ? [2, 30] : [2, 2]));
    expect(await run()).toBe(false);
  });

  test("no when another program interrupts most of the measurements", async () => {
    const { run } = probeOf((step) => (step % 3 === 1 ? [2, 2] : [2, 30]));
    expect(await run()).toBe(false);
  });

  test("no where the processor needs as long for 256 bits as for two times 128", async () => {
    const { run } = probeOf(() => [2, 2.4]);
    expect(await run()).toBe(false);
  });
});

test("both loops repeat equally often, until a step is long enough for the clock", async () => {
  for (const [isPrecise, least] of [
    [true, 0.2],
    [false, 2],
  ] as const) {
    const { run, calls } = probeOf(() => [0.5, 1], isPrecise);
    await run();
    const [paired, apart] = calls.slice(-2) as [(typeof calls)[0], (typeof calls)[0]];
    expect(paired.repeats).toBe(apart.repeats);
    expect(paired.time + apart.time).toBeGreaterThanOrEqual(least);
    expect(paired.time + apart.time).toBeLessThan(2 * least);
  }
});

test("a clock that stands still ends the measurement", async () => {
  const { run, calls } = probeOf(() => [0, 0]);
  expect(await run()).toBe(false);
  expect(Math.max(...calls.map(({ repeats }) => repeats))).toBe(2 ** 21);
});

test("a measurement that is not needed any more stops, and goes on later", async () => {
  const { probe, run, calls } = probeOf(() => [2, 4]);
  expect(await run(() => calls.length < 4)).toBeUndefined();
  expect(calls.length).toBe(4);
  expect(probe.answer).toBeUndefined();
  expect(await run()).toBe(true);
  expect(calls.length).toBe(2 * 8);
});

test("two measurements at once share their steps", async () => {
  const { run, calls } = probeOf(() => [2, 4]);
  expect(await Promise.all([run(), run()])).toEqual([true, true]);
  expect(calls.length).toBe(2 * 8);
});

test("the loops are a module of less than a kilobyte, without relaxed SIMD", async () => {
  const bytes = loopsModule();
  expect(bytes.length).toBeLessThan(1000);
  const module = await WebAssembly.compile(bytes);
  const { exports } = await WebAssembly.instantiate(module);
  for (const isPaired of [0, 1]) (exports.r as CallableFunction)(isPaired, 1000);
});
