/** Tests parts of the room “Speed” without a browser. */
import { load } from "heed";
import { afterEach, describe, expect, test, vi } from "vitest";
import { roofsOf } from "../../web/src/rooms/speed/chart";
import { differenceOf } from "../../web/src/rooms/speed/contenders";
import { attention, layer } from "../../web/src/rooms/speed/javascript";
import {
  arithmeticLoop,
  memoryLoop,
  readStep,
  sharedMemory,
} from "../../web/src/rooms/speed/loops";
import { casesOf, contendersOf, threadCounts } from "../../web/src/rooms/speed/plan";
import {
  attentionCase,
  bytesRead,
  type Contender,
  decodeCase,
  intensityOf,
  isDisturbed,
  layerCase,
  limitOf,
  type MeasuringRequest,
  median,
  ratioOf,
  type SpeedReport,
} from "../../web/src/rooms/speed/report";
import { timeInRounds } from "../../web/src/rooms/speed/rounds";
import { markdownOf, reportCsv, rowsOf } from "../../web/src/rooms/speed/rows";
import { initialState, read, type State, write } from "../../web/src/rooms/speed/state";
import { browserName, threeDigits } from "../../web/src/rooms/speed/units";
import { measureWriting } from "../../web/src/rooms/speed/writing";
import { testLink } from "./links";
import { fetchPublished, published } from "./published";

const settings = { heads: 2, size: 8, causal: false, window: 0, longest: 512 };
const engine: Contender = {
  id: "relaxed-2",
  name: "relaxed, 2 threads",
  variant: "relaxed",
  threads: 2,
};
const plain: Contender = { id: "javascript", name: "plain JavaScript", variant: null, threads: 1 };

function reportWith(times: Record<string, number>): SpeedReport {
  const one = attentionCase(settings, 64);
  return {
    request: { base: "", settings, isLong: false },
    ...{ version: "0", cores: 2, isIsolated: true, reason: null, clock: 0.005, date: 0 },
    contenders: [engine, plain],
    cases: [one],
    limits: [
      { kind: "arithmetic", variant: "relaxed", threads: 2, perSecond: 100e9 },
      { kind: "memory", variant: null, threads: 2, perSecond: 10e9 },
    ],
    measurements: Object.entries(times).map(([contenderId, time]) => ({
      ...{ caseId: one.id, contenderId, reason: null, difference: null, memory: 2 ** 20 },
      timing: {
        median: time,
        least: time / 2,
        most: 2 * time,
        samples: [2 * time, time, time / 2],
      },
    })),
    ...{ callMemories: [], writing: null, milliseconds: 2345 },
  };
}

describe("The count of operations", () => {
  test("is two for each number in each product of a visible pair", () => {
    expect(attentionCase(settings, 64).operations).toBe(4 * 2 * 8 * 64 * 64);
    expect(attentionCase({ ...settings, causal: true }, 64).operations).toBe(4 * 2 * 8 * 32 * 65);
    const sides = { ...settings, window: 1 };
    expect(attentionCase(sides, 64).operations).toBe(4 * 2 * 8 * (3 * 64 - 2));
    expect(attentionCase({ ...sides, causal: true }, 64).operations).toBe(4 * 2 * 8 * (2 * 64 - 1));
  });

  test("grows per byte with the length, and is one half per byte in decoding", () => {
    expect(intensityOf(attentionCase(settings, 512))).toBe(512 / 4);
    const decode = decodeCase(settings);
    expect(intensityOf(decode)).toBeCloseTo(0.5, 3);
    expect(decode.bytes).toBeCloseTo(bytesRead, -3);
    const { sizes, operations } = layerCase(settings);
    const [length, width] = [sizes.queries, 16];
    expect(operations).toBe(8 * length * width * width + 4 * width * length * length);
  });

  test("is limited by memory or by arithmetic, by the lower limit", () => {
    const report = reportWith({});
    expect(limitOf(report, attentionCase(settings, 64), engine)).toBe(100);
    expect(limitOf(report, decodeCase(settings), engine)).toBeCloseTo(5, 2);
    expect(limitOf(report, attentionCase(settings, 64), plain)).toBeNull();
  });
});

describe("The limits in the chart", () => {
  const alone: Contender = { ...engine, id: "relaxed-1", name: "relaxed, 1 thread", threads: 1 };
  const labelsWith = (arithmetic: number) => {
    const report = reportWith({});
    const limits = [
      ...report.limits,
      { kind: "arithmetic", variant: "relaxed", threads: 1, perSecond: arithmetic },
      { kind: "memory", variant: null, threads: 1, perSecond: 10e9 },
    ] as const;
    const contenders = [engine, alone, plain];
    return roofsOf({ ...report, contenders, limits }, "length", [64, 512]).map(
      ({ label }) => label,
    );
  };

  test("have a label each, however near they are, and one if their figures are the same", () => {
    expect(labelsWith(99e9)).toEqual(["limit in 2 threads: 100", "limit in 1 thread: 99.0"]);
    expect(labelsWith(99.99e9)).toEqual(["limit in 2 threads and in 1 thread: 100"]);
  });
});

describe("Our language model", () => {
  afterEach(() => vi.unstubAllGlobals());

  test("writes more tokens a second with its cache, and its memory is returned", async () => {
    fetchPublished();
    const heed = await load({ threads: 1 });
    // Each position that the model computes takes one millisecond, so that no other work on the machine counts.
    let clock = 0;
    const { embedding } = heed;
    vi.spyOn(heed, "embedding").mockImplementation((ids, weight) => {
      clock += ids.size;
      return embedding.call(heed, ids, weight);
    });
    vi.spyOn(performance, "now").mockImplementation(() => clock);
    const { tokens, cached, uncached, words } = await measureWriting(
      ...([heed, published, async () => {}] as const),
    );
    vi.restoreAllMocks();
    expect(tokens).toBeGreaterThanOrEqual(4);
    expect(tokens).toBeLessThanOrEqual(64);
    expect(cached).toBeLessThanOrEqual(1000);
    expect(cached).toBeGreaterThan(5 * uncached);
    expect(words).toBeGreaterThan(0.2);
    expect(words).toBeLessThanOrEqual(1);
    expect(heed.memory().tensors.count).toBe(0);
    heed.dispose();
  });
});

describe("Plain JavaScript", () => {
  const numbers = (count: number) =>
    Float32Array.from({ length: count }, (_, i) => Math.sin(i + 1));

  test("gives the mean of the visible values if all scores are equal", () => {
    const sizes = { heads: 1, queries: 3, keys: 3, size: 1, causal: true, window: 1 };
    const output = new Float32Array(3);
    attention(new Float32Array(3), numbers(3), Float32Array.of(1, 3, 9), output, sizes);
    expect([...output]).toEqual([1, 2, 6]);
    attention(new Float32Array(3), numbers(3), Float32Array.of(1, 3, 9), output, {
      ...sizes,
      causal: false,
    });
    expect(output[0]).toBe(2);
    expect(output[1]).toBeCloseTo(13 / 3, 5);
  });

  test("has a layer that is attention between linear layers", () => {
    const sizes = { heads: 2, queries: 4, keys: 4, size: 1, causal: false, window: 0 };
    const one = { ...layerCase(settings), sizes };
    const identity = [1, 0, 0, 1];
    const weights = [
      Float32Array.from([...identity, ...identity, ...identity]),
      new Float32Array(6),
      Float32Array.from(identity),
      Float32Array.of(10, 20),
    ] as const;
    const x = numbers(8);
    const byHead = Float32Array.from([0, 2, 4, 6, 1, 3, 5, 7], (i) => x[i] as number);
    const heads = new Float32Array(8);
    attention(byHead, byHead, byHead, heads, sizes);
    const expected = Float32Array.from(
      [0, 4, 1, 5, 2, 6, 3, 7],
      (from, i) => (heads[from] as number) + (i % 2 ? 20 : 10),
    );
    const rows = { values: expected, step: 1 };
    expect(differenceOf(rows, layer(x, weights, sizes), one)).toBeLessThan(1e-6);
  });

  test("is compared with another answer, and with NaN", () => {
    const one = attentionCase({ ...settings, heads: 1, size: 2 }, 64);
    const values = new Float32Array(128).fill(3);
    const answer = values.slice();
    answer[5] = 4;
    expect(differenceOf({ values, step: 1 }, answer, one)).toBeCloseTo(1 / Math.sqrt(18), 6);
    expect(differenceOf({ values, step: 4 }, answer, one)).toBe(0);
    answer[0] = Number.NaN;
    expect(differenceOf({ values, step: 4 }, answer, one)).toBeNaN();
  });
});

describe("The loops", () => {
  const run = (bytes: Uint8Array<ArrayBuffer>, memory?: WebAssembly.Memory) =>
    new WebAssembly.Instance(new WebAssembly.Module(bytes), memory ? { m: { m: memory } } : {})
      .exports.r as (a: number, b: number) => number;

  test("are valid modules, and read all of the memory", () => {
    expect(Number.isInteger(run(arithmeticLoop("simd", 12))(10, 0))).toBe(true);
    const memory = sharedMemory(65536);
    expect(run(memoryLoop(), memory)(readStep, 5 * readStep)).toBe(readStep);
  });
});

describe("A run", () => {
  const machine = { variant: "relaxed", threads: 8, cores: 12, isIsolated: true };
  const request = (isLong: boolean): MeasuringRequest => ({ base: "", settings, isLong });

  test("measures decoding even if it is short", () => {
    const kinds = (isLong: boolean) => casesOf(request(isLong)).map(({ kind }) => kind);
    expect(kinds(false)).toEqual([...Array(4).fill("attention"), "decode"]);
    expect(kinds(true)).toEqual([...Array(4).fill("attention"), "decode", "layer"]);
  });

  test("has the engine with its default options first, and each option alone", () => {
    expect(threadCounts(false, machine)).toEqual([8, 1]);
    expect(threadCounts(true, machine)).toEqual([8, 12, 4, 2, 1]);
    expect(threadCounts(true, { ...machine, threads: 1, isIsolated: false })).toEqual([1]);
    const names = contendersOf(request(false), machine).map(({ id }) => id);
    expect(names).toEqual(["relaxed-8", "relaxed-1", "simd-8", "javascript"]);
    const wide = contendersOf(request(false), { ...machine, variant: "wide" }).map(({ id }) => id);
    expect(wide).toEqual(["wide-8", "wide-1", "relaxed-8", "simd-8", "javascript"]);
    expect(contendersOf(request(true), { ...machine, variant: "simd" }).length).toBe(6);
  });

  test("repeats a quick call until the clock can measure it", async () => {
    let calls = 0;
    const [timing] = await timeInRounds(
      [{ first: 200, run: () => void ++calls }],
      { shortest: 2, rounds: 3 },
      async () => {},
      () => {},
    );
    expect(calls).toBeGreaterThan(1000);
    expect(timing?.least).toBeGreaterThan(0);
  });

  test("alternates, and reports the median with the fastest and the slowest round", async () => {
    const order: string[] = [];
    const racer = (name: string) => ({
      first: 200,
      run() {
        order.push(name);
        for (const start = performance.now(); performance.now() < start + 1; );
      },
    });
    const told: number[] = [];
    const timings = await timeInRounds(
      [racer("a"), racer("b")],
      { shortest: 1, rounds: 9 },
      async () => {},
      (share) => told.push(share),
    );
    expect(order.join("")).toBe("ababab");
    expect(told.at(-1)).toBeCloseTo(1, 9);
    for (const { least, median, most, samples } of timings) {
      expect(samples).toHaveLength(3);
      expect(least).toBeLessThanOrEqual(median);
      expect(median).toBeLessThanOrEqual(most);
    }
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
  });
});

describe("The speedup", () => {
  test("is the ratio of the two shown medians, not of the rounds", () => {
    const timing = (median: number) => ({ median, least: 0, most: 9, samples: [9, median, 0] });
    const [slow, fast] = [timing(23.2449), timing(0.92349)];
    expect([slow, fast].map(({ median }) => threeDigits(median))).toEqual(["23.2", "0.923"]);
    expect(ratioOf(slow, fast)).toBe(23.2 / 0.923);
  });
});

describe("An exported report", () => {
  const report = reportWith({ "relaxed-2": 0.01, javascript: 0.5 });

  test("describes the results of the times", () => {
    const [row] = rowsOf(report);
    expect(row?.speed).toBeCloseTo(26.2144, 9);
    expect(row?.share).toBeCloseTo(0.262144, 9);
    expect(row?.ratio).toBeCloseTo(50, 9);
  });

  test("reports rounds that differ so much that the machine is busy", () => {
    expect(isDisturbed(report)).toBe(true);
    const calm = report.measurements.map((figure) => ({
      ...figure,
      timing: { median: 1, least: 0.9, most: 1.5, samples: [0.9, 1, 1.5] },
    }));
    expect(isDisturbed({ ...report, measurements: calm })).toBe(false);
  });

  test("is a table in Markdown", () => {
    const text = markdownOf(report, "Testium 1");
    expect(text).toContain(
      "Heed 0; Testium 1; 2 cores; isolated; clock of 5.00 µs; 1970-01-01 00:00 UTC",
    );
    expect(text).toContain(
      "| 64 tokens | relaxed, 2 threads | 0.01 | 50.0 | 26.2 | 26 % | 0.005–0.02 |",
    );
    const cells = text.split("\n").filter((line) => line.startsWith("|"));
    expect(new Set(cells.map((line) => line.split("|").length)).size).toBe(1);
  });

  test("is CSV with all digits", () => {
    const [head, first] = reportCsv(report, 'A "quoted" browser').split("\r\n") as [string, string];
    const named = Object.fromEntries(
      head.split(",").map((name, i) => [name.slice(1, -1), first.split(",")[i]]),
    );
    expect(named).toMatchObject({ operations: "262144", "median ms": "0.01", threads: "2" });
    expect(Number(named["GFLOP/s"]) * 0.01 * 1e6).toBeCloseTo(262144, 6);
    expect(first).toContain('"A ""quoted"" browser"');
  });

  test("has three digits and the browser's name", () => {
    expect([1234, 12.34, 1.234, 0.01234, Number.NaN].map(threeDigits)).toEqual([
      ...["1234", "12.3", "1.23", "0.0123", "–"],
    ]);
    const agent =
      "Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
    expect(browserName(agent)).toBe("Chromium 140");
    expect(browserName("Mozilla/5.0 (X11; rv:153.0) Gecko/20100101 Firefox/153.0")).toBe(
      "Firefox 153",
    );
  });
});

describe("The link of “Speed”", () => {
  testLink<State>({
    ...{ read, write, initial: initialState },
    opposite: {
      ...{ heads: 8, size: 32, causal: true, window: 64, longest: 4096 },
      axis: "intensity",
    },
    refused: [
      ...["heads=0", "size=7", "size=129", "longest=100", "longest=64", "over=x", "causal=1"],
    ],
  });
});
