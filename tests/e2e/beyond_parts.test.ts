/** Tests parts of "Beyond words" without a browser. */
import { readFileSync } from "node:fs";
import { load } from "heed";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { formatWeight } from "#parts";
import compare from "../../web/src/rooms/beyond/melody/solve";
import { bands } from "../../web/src/rooms/beyond/melody/sound";
import tune, { notesOf } from "../../web/src/rooms/beyond/melody/tune";
import { bilateral, bilateralWeights } from "../../web/src/rooms/beyond/picture/bilateral";
import { psnrOf } from "../../web/src/rooms/beyond/picture/denoise";
import { house } from "../../web/src/rooms/beyond/picture/drawing";
import regress from "../../web/src/rooms/beyond/points/solve";
import {
  alikeIn,
  ownSeriesOf,
  periodOf,
  SeriesError,
} from "../../web/src/rooms/beyond/series/ownSeries";
import fillSeries from "../../web/src/rooms/beyond/series/solve";
import {
  initialState,
  read,
  type State,
  seriesModel,
  settings,
  write,
} from "../../web/src/rooms/beyond/state";
import { sliderPlaceOf, sliderValueAt } from "../../web/src/shared/LogSlider";
import { testLink } from "./links";
import { fetchPublished, published } from "./published";
import { contextOf } from "./solverContext";

describe("The link of “Beyond words”", () => {
  testLink<State>({
    ...{ read, write, initial: initialState },
    opposite: {
      subject: "melody",
      noise: 0.25,
      grain: 7,
      patch: 3,
      window: 11,
      h: 0.12,
      tone: 0.4,
      method: "bilateral",
      pixel: { row: 3, col: 120 },
      curve: "log",
      points: [
        { x: 0, y: -2 },
        { x: 9.99, y: 1.5 },
      ],
      bandwidth: 0.071,
      query: 7.5,
      similar: true,
      series: 99,
      value: 30,
      head: "3.4",
      tune: "seed",
      tuneSeed: 12,
      temperature: 0.032,
      frame: 17,
    },
    contains: ["points=0:-2,9.99:1.5"],
    refused: [
      "show=words",
      "noise=1",
      "patch=1.5",
      "pixel=4",
      "pixel=0.1",
      "points=1:1",
      "points=1:1,2:x",
      "points=1:1,2:2:2",
      "head=2",
      "head=0.1",
      "head=20.1",
      "head=3.5",
      "temperature=0",
      "frame=0",
    ],
  });
});

test("The link of a series takes the heads of its model", () => {
  const config = new URL("../../web/public/models/series-encoder/config.json", import.meta.url);
  const { layers, heads } = JSON.parse(readFileSync(config, "utf8"));
  expect(seriesModel).toEqual({ layers, heads });
  expect(read(new URLSearchParams(`head=${layers}.${heads}`)).notices).toEqual([]);
});

describe("Logarithmic sliders", () => {
  test.each(["bandwidth", "temperature", "tone"] as const)("reach both ends of %s", (name) => {
    const { min, max } = settings[name].limits;
    expect([sliderValueAt(sliderPlaceOf(min)), sliderValueAt(sliderPlaceOf(max))]).toEqual([
      min,
      max,
    ]);
    for (let place = sliderPlaceOf(min); place <= sliderPlaceOf(max); ++place)
      expect(sliderPlaceOf(sliderValueAt(place))).toBe(place);
  });
});

describe("Weights in words", () => {
  test.each([
    [0, "0"],
    [1, "1"],
    [0.42, "0.42"],
    [0.0214, "0.021"],
    [0.00000192, "1.9e−6"],
  ])("%f is %s", (weight, words) => expect(formatWeight(weight)).toBe(words));
});

describe("The picture", () => {
  test("has every grey from near black to white, equal in every browser", () => {
    const { pixels, width, height } = house();
    expect([width, height, pixels.length]).toEqual([128, 128, 128 * 128]);
    expect(pixels.every((grey) => grey >= 0 && grey <= 1)).toBe(true);
    expect(Math.min(...pixels)).toBeLessThan(0.15);
    expect(Math.max(...pixels)).toBeGreaterThan(0.95);
  });

  test("is compared by the peak signal-to-noise ratio", () => {
    expect(psnrOf([0.1, 0.1], [0, 0])).toBeCloseTo(20, 10);
    expect(psnrOf([1, 2], [1, 2])).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("The bilateral filter as attention", () => {
  let heed: Awaited<ReturnType<typeof load>>;
  beforeAll(async () => {
    heed = await load({ threads: 1 });
  });

  const [width, height] = [19, 13];
  const pixels = Float32Array.from({ length: width * height }, (_, i) => ((i * 37) % 64) / 64);
  const grid = { pixels, width, height };
  const kernel = { window: 3, tone: 0.3 };

  /** Computes the result directly from the definition. */
  function expected(row: number, col: number): { mean: number; weights: number[] } {
    const { window, tone } = kernel;
    const reach = window / 2;
    const own = pixels[row * width + col] as number;
    const weights: number[] = [];
    let [sum, total] = [0, 0];
    for (let dy = -window; dy <= window; ++dy) {
      for (let dx = -window; dx <= window; ++dx) {
        const isInside = row + dy >= 0 && row + dy < height && col + dx >= 0 && col + dx < width;
        const value = isInside ? (pixels[(row + dy) * width + col + dx] as number) : 0;
        const far = ((value - own) / tone) ** 2 + (dx / reach) ** 2 + (dy / reach) ** 2;
        const weight = isInside ? Math.exp(-far / 2) : 0;
        weights.push(weight);
        sum += weight * value;
        total += weight;
      }
    }
    return { mean: sum / total, weights: weights.map((weight) => weight / total) };
  }

  test("gives every pixel the kernel's weighted mean of its window, at the edges too", () => {
    const result = heed.scope(() => bilateral(heed, grid, kernel));
    for (let i = 0; i < result.length; ++i)
      expect(result[i]).toBeCloseTo(expected(Math.floor(i / width), i % width).mean, 5);
  });

  test.each([
    [0, 0],
    [6, 9],
    [12, 18],
  ])("gives the weights of the pixel at %i, %i", (row, col) => {
    const weights = heed.scope(() => bilateralWeights(heed, grid, kernel, { row, col }));
    for (const [i, weight] of expected(row, col).weights.entries())
      expect(weights[i]).toBeCloseTo(weight, 5);
  });
});

test("The error of a filled series does not depend on the level of its values", async () => {
  const heed = await load({ threads: 1 });
  fetchPublished();
  const errors = [0, 2 ** 27].map(async (level) => {
    const values = Array.from({ length: 48 }, (_, t) => level + Math.round(40 * Math.sin(t)) / 16);
    const isHidden = values.map((_, t) => t >= 20 && t < 26);
    const own = { values, isHidden, hasTruth: true, note: "" };
    const request = { model: `${published}models/series-encoder/`, seed: 1, own };
    const { error, lineError } = await fillSeries(request, contextOf(heed));
    return [error, lineError] as [number, number];
  });
  const [low, high] = (await Promise.all(errors)) as [[number, number], [number, number]];
  expect(low[0]).toBeGreaterThan(0.1);
  for (const which of [0, 1] as const) expect(high[which]).toBeCloseTo(low[which], 4);
  vi.unstubAllGlobals();
  heed.dispose();
});

describe("A person's own series", () => {
  const wave = (length: number, period: number) =>
    Array.from({ length }, (_, t) => 3 * Math.sin((2 * Math.PI * t) / period) + 0.05 * t + 40);
  const marked = (length: number, from: number, to: number) =>
    wave(length, 7).map((value, t) => (t >= from && t < to ? "?" : String(value)));

  test.each([
    ["spaces", marked(30, 10, 14).join(" ")],
    ["lines", marked(30, 10, 14).join("\n")],
    [
      "commas over lines",
      marked(30, 10, 14)
        .join(", ")
        .replace(/((?:[^,]*, ){10})/g, "$1\n"),
    ],
    [
      "a table",
      `t;y\n${marked(30, 10, 14)
        .map((cell, t) => `${t};${cell.replace(".", ",")}`)
        .join("\r\n")}`,
    ],
    [
      "empty cells",
      marked(30, 10, 14)
        .map((cell, t) => `${t},${cell === "?" ? "" : cell}`)
        .join("\n"),
    ],
  ])("is read from %s", (_, text) => {
    const { values, isHidden, hasTruth } = ownSeriesOf(text);
    expect(values).toHaveLength(30);
    expect(isHidden.map((hidden, t) => (hidden ? t : -1)).filter((t) => t >= 0)).toEqual([
      10, 11, 12, 13,
    ]);
    expect(hasTruth).toBe(false);
    for (const [t, value] of wave(30, 7).entries())
      if (!isHidden[t]) expect(values[t]).toBeCloseTo(value, 9);
  });

  const comma = (value: number) => value.toFixed(2).replace(".", ",");
  const series = wave(30, 7);

  test.each([
    ["a column", series.map(comma).join("\n")],
    ["a column with a heading", `height\n${series.map(comma).join("\r\n")}`],
    ["a line", series.map(comma).join(" ")],
    ["whole numbers between", series.map((v, t) => (t === 3 ? "40" : comma(v))).join("\n")],
  ])("may have decimal commas: %s", (_, text) => {
    const { values, note } = ownSeriesOf(text);
    expect(note).toMatch(/^Shown: 30 values, with decimal commas\. /);
    for (const [t, value] of series.entries())
      if (t !== 3 || !text.includes("\n40\n")) expect(values[t]).toBeCloseTo(value, 2);
  });

  test("may have missing values between decimal commas", () => {
    const text = series.map((v, t) => (t >= 10 && t < 14 ? "?" : comma(v))).join("\n");
    const { isHidden, values } = ownSeriesOf(text);
    expect(isHidden.filter(Boolean)).toHaveLength(4);
    expect(values[20]).toBeCloseTo(series[20] as number, 2);
  });

  test.each([
    ["positions before whole numbers", series.map((v, t) => `${t + 1},${Math.round(v)}`)],
    ["years", series.map((v, t) => `${1990 + 2 * t},${Math.round(v)}`)],
    ["a heading of two names", ["a,b", ...series.map((v) => `7,${Math.round(v)}`)]],
    ["decimal points", series.map((v) => `7,${v.toFixed(2)}`)],
  ])("is the last column of a table of commas: %s", (_, lines) => {
    const { values, note } = ownSeriesOf(lines.join("\n"));
    expect(note).toContain("30 values, from the last of 2 columns");
    expect(values[29]).toBeCloseTo(series[29] as number, -1);
  });

  test("is cut to its last 48 values, and eight of them are hidden if none is missing", () => {
    const series = ownSeriesOf(wave(60, 7).join("\n"));
    // The gap takes a third of the series, so for some shifts no pair of known values remains.
    const gap = wave(48, 6).map((value, t) => (t >= 16 && t < 32 ? "?" : value));
    expect(periodOf(ownSeriesOf(gap.join("\n")))).toBe(6);
    expect(series.values[0]).toBeCloseTo(wave(60, 7)[12] as number, 9);
    expect(series.isHidden.filter(Boolean)).toHaveLength(8);
    expect(series.hasTruth).toBe(true);
    expect(series.note).toBe(
      "Shown: the last 48 of 60 values. None is missing, so 21 to 28 are hidden.",
    );
  });

  test.each([
    ["1 2 3", "12 to 48 numbers are needed, and there are 3"],
    ["a b c d e f g h i j k l m", "Number 1: “a b c d e f g h i j k l m” is not a number"],
    [`y\n${wave(12, 7).join("\n")}\nabc`, "Line 14: “abc” is not a number"],
    [["?", ...wave(20, 7)].join(" "), "A known value is needed before the gap"],
    [
      marked(30, 10, 14).concat("?", "1").join(" "),
      "must be neighbours: 11 and 31 are missing, but 15 is not",
    ],
    [marked(30, 5, 25).join(" "), "At most half of the values may be missing, and 20 of 30 are"],
    ["你好 🎂", "is not a number"],
    [
      [...wave(20, 7), "1e300", 40].join(" "),
      "Number 21: “1e300” is too large. The largest number",
    ],
    [["y", ...wave(20, 7), -1.1e15].join("\n"), "Line 22: “-1100000000000000” is too large."],
  ])("is refused with a reason: %s", (text, why) => {
    expect(() => ownSeriesOf(text)).toThrow(why);
    expect(() => ownSeriesOf(text)).toThrow(SeriesError);
  });

  test("may be as large as 10^15", () => {
    const { values } = ownSeriesOf([...wave(20, 7), 1e15].join(" "));
    expect(values.at(-1)).toBe(1e15);
  });

  test.each([6, 7, 10, 16])("has this period: %i", (period) => {
    const series = ownSeriesOf(wave(48, period).join(" "));
    expect(periodOf(series)).toBe(period);
    const alike = alikeIn(series.isHidden, period)[22] ?? [];
    expect(alike.length).toBeGreaterThan(0);
    for (const t of alike) {
      expect(Math.abs(t - 22) % period).toBe(0);
      expect(series.isHidden[t]).toBe(false);
    }
  });

  test("has no period if it is a straight line or constant", () => {
    const none = Array.from({ length: 48 }, () => false);
    const line = Array.from({ length: 48 }, (_, t) => 2 * t);
    expect(periodOf({ values: line.map(() => 1), isHidden: none })).toBeNull();
    expect(periodOf({ values: line, isHidden: none })).toBeNull();
    expect(alikeIn([false, true], null)).toEqual([[], []]);
  });
});

describe("Scores in words are those of the engine", () => {
  let heed: Awaited<ReturnType<typeof load>>;
  beforeAll(async () => {
    heed = await load({ threads: 1 });
  });

  test("for a melody: the cosine of two frames, each minus the mean frame", async () => {
    const sound = await tune({ tune: "round", seed: 1 }, contextOf(heed));
    const melody = await compare({ sound, temperature: 0.1 }, contextOf(heed));
    const { frames, loudness, weights, logSums } = melody;
    const row = (data: ArrayLike<number>, frame: number) =>
      Array.from({ length: bands }, (_, band) => data[frame * bands + band] as number);
    const mean = Array.from({ length: bands }, (_, band) => {
      const column = Array.from({ length: frames }, (_, t) => loudness[t * bands + band] as number);
      return column.reduce((sum, value) => sum + value, 0) / frames;
    });
    const cosine = (a: readonly number[], b: readonly number[]) => {
      const dot = (a: readonly number[], b: readonly number[]) =>
        a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
      return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
    };
    const centred = (frame: number) =>
      row(loudness, frame).map((value, band) => value - (mean[band] as number));
    for (const [query, key] of [
      [3, 19],
      [3, 40],
      [60, 61],
    ] as const) {
      const weight = weights[query * frames + key] as number;
      const score = Math.log(weight) + (logSums[query] as number);
      expect(score * 0.1).toBeCloseTo(cosine(centred(query), centred(key)), 4);
    }
    const plain = cosine(row(loudness, 3), row(loudness, 40));
    expect(Math.abs(plain - cosine(centred(3), centred(40)))).toBeGreaterThan(0.1);
  });

  test("for softmax(X Xᵀ) X: a point far out pulls more than a nearer one", async () => {
    // The first point is nearest to the second, but its weight is largest on the third.
    const points = [1, 2, 9, -12].map((x) => ({ x: x + 5, y: 0 }));
    const { similar } = await regress({ points, bandwidth: 1, query: 5 }, contextOf(heed));
    expect(similar[0]).toBeGreaterThan(13.9);
  });
});

describe("Tunes", () => {
  test("have every bar of the round twice", () => {
    const notes = notesOf({ tune: "round", seed: 1 });
    expect(notes.slice(0, 4)).toEqual(notes.slice(4, 8));
    expect(notes.reduce((sum, [, quavers]) => sum + quavers, 0)).toBe(64);
  });

  test("have the form A A B A, and are equal for equal seeds", () => {
    const notes = notesOf({ tune: "seed", seed: 5 });
    expect(notesOf({ tune: "seed", seed: 5 })).toEqual(notes);
    expect(notesOf({ tune: "seed", seed: 6 })).not.toEqual(notes);
    const quavers = notes.flatMap(([pitch, length]) => [pitch, ...Array(length - 1).fill("-")]);
    expect(quavers).toHaveLength(64);
    expect(quavers.slice(16, 32)).toEqual(quavers.slice(0, 16));
    expect(quavers.slice(48)).toEqual(quavers.slice(0, 16));
  });
});
