/** The parts of "Beyond words" that need no browser. */
import { load } from "heed";
import { beforeAll, describe, expect, test } from "vitest";
import { readLink, writeLink } from "../../web/src/app/link";
import { read, write } from "../../web/src/rooms/beyond/link";
import { notesOf } from "../../web/src/rooms/beyond/melody/tune";
import { bilateral, bilateralWeights } from "../../web/src/rooms/beyond/picture/bilateral";
import { psnrOf } from "../../web/src/rooms/beyond/picture/denoise";
import { house } from "../../web/src/rooms/beyond/picture/drawing";
import {
  allowed,
  initialState,
  type State,
  sliderPlaceOf,
  sliderValueAt,
} from "../../web/src/rooms/beyond/state";
import { suggestions } from "../../web/src/rooms/beyond/suggestions";
import { formatWeight } from "../../web/src/shared/format";
import { noRestrictions } from "../../web/src/shared/restrictions";

describe("The link of “Beyond words”", () => {
  test("is empty for the room's first view", () => {
    expect(write(initialState).toString()).toBe("");
    expect(read(new URLSearchParams())).toEqual({ state: initialState, notices: [] });
  });

  test("gives back every setting that it was written from", () => {
    const state: State = {
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
      head: { layer: 2, head: 3 },
      tune: "seed",
      tuneSeed: 12,
      temperature: 0.032,
      frame: 17,
    };
    const link = writeLink({ room: "beyond", restrictions: noRestrictions, params: write(state) });
    expect(read(readLink(`#${link}`).params)).toEqual({ state, notices: [] });
    expect(link).toContain("points=0:-2,9.99:1.5");
  });

  test.each([
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
    "temperature=0",
    "frame=0",
  ])("leaves out %s and names it", (link) => {
    const { state, notices } = read(new URLSearchParams(link));
    expect(state).toEqual(initialState);
    expect(notices).toHaveLength(1);
  });

  test("is understood in every suggestion", () => {
    for (const [href] of suggestions) {
      const { room, params, notices } = readLink(href);
      expect([room, notices, read(params).notices]).toEqual(["beyond", [], []]);
    }
  });
});

describe("Sliders by the logarithm", () => {
  test.each(["bandwidth", "temperature", "tone"] as const)("reach both ends of %s", (name) => {
    const { min, max } = allowed[name];
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
  test("has every grey from near black to white, the same in every browser", () => {
    const { pixels, width, height } = house();
    expect([width, height, pixels.length]).toEqual([128, 128, 128 * 128]);
    expect(pixels.every((grey) => grey >= 0 && grey <= 1)).toBe(true);
    expect(Math.min(...pixels)).toBeLessThan(0.15);
    expect(Math.max(...pixels)).toBeGreaterThan(0.95);
  });

  test("is told from another by its peak signal-to-noise ratio", () => {
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

  /** Straight from the definition. */
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

  test("gives every pixel the mean of its window by the kernel, at the edges too", () => {
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

describe("Tunes", () => {
  test("sing every bar of the round twice", () => {
    const notes = notesOf({ tune: "round", seed: 1 });
    expect(notes.slice(0, 4)).toEqual(notes.slice(4, 8));
    expect(notes.reduce((sum, [, quavers]) => sum + quavers, 0)).toBe(64);
  });

  test("have the form A A B A by chance, the same for the same seed", () => {
    const notes = notesOf({ tune: "seed", seed: 5 });
    expect(notesOf({ tune: "seed", seed: 5 })).toEqual(notes);
    expect(notesOf({ tune: "seed", seed: 6 })).not.toEqual(notes);
    const quavers = notes.flatMap(([pitch, length]) => [pitch, ...Array(length - 1).fill("-")]);
    expect(quavers).toHaveLength(64);
    expect(quavers.slice(16, 32)).toEqual(quavers.slice(0, 16));
    expect(quavers.slice(48)).toEqual(quavers.slice(0, 16));
  });
});
