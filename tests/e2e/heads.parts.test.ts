/** The pure parts of the room "Heads". */
import { taskOf } from "heed/models";
import { describe, expect, test } from "vitest";
import {
  closerOf,
  type Input,
  mostTokens,
  placesOf,
  readInput,
} from "../../web/src/rooms/heads/input";
import { read, write } from "../../web/src/rooms/heads/link";
import { maxPooled, measuresOf } from "../../web/src/rooms/heads/measures";
import {
  attentionAt,
  headKey,
  initialState,
  pathOf,
  placeOf,
} from "../../web/src/rooms/heads/state";

const uneven = {
  weights: Float32Array.of(1, 0, 0, 0.5, 0.5, 0, 0, 0.25, 0.75),
  rows: 3,
  columns: 3,
};

describe("A head is measured", () => {
  test("by entropy, its largest weights and where they fall", () => {
    const places = [[], [0, 1], [2]];
    expect(measuresOf(uneven, { places, isSelf: true })).toEqual({
      places: (1 + 0.75) / 2,
      entropy: expect.closeTo((0 + 1 + 0.8113) / 3, 4),
      largest: (1 + 0.5 + 0.75) / 3,
      previous: (0.5 + 0.25) / 2,
      first: (0.5 + 0) / 2,
      diagonal: (1 + 0.5 + 0.75) / 3,
    });
  });

  test("by nothing that makes no sense for it", () => {
    const { places, previous } = measuresOf(uneven, { places: null, isSelf: false });
    expect([places, previous]).toEqual([null, null]);
  });

  test("in pictures that keep what is small and bright", () => {
    const weights = new Float32Array(64 * 64);
    weights[10 * 64 + 9] = 0.9;
    const { data, rows, cols } = maxPooled({ weights, rows: 64, columns: 64 }, 8);
    expect([rows, cols, Math.max(...data)]).toEqual([8, 8, Math.fround(0.9)]);
    expect(data.indexOf(Math.fround(0.9))).toBe(8 + 1);
  });
});

describe("The link", () => {
  const roundTrip = (link: string) => write(read(new URLSearchParams(link)).state).toString();

  test.each([
    "",
    "model=dates",
    "model=dates&example=7&drop=cross.1.2%2Cdecoder.2.4&head=cross.2.1&compare=cross.1.1&row=3&cell=3.4",
    "text=Bob+wrote+a+poem.&measure=entropy&order=measure&range=row&curve=log&mass=60",
    "example=1",
    "model=sort&text=",
  ])("says what it has read: %s", (link) => {
    expect(roundTrip(link)).toBe(link);
  });

  test("is read in any order", () => {
    expect(roundTrip("row=3&text=cab&model=sort")).toBe("model=sort&text=cab&row=3");
  });

  test("leaves out and names what makes no sense", () => {
    const { state, notices } = read(new URLSearchParams("head=tail&example=0&model=cats&zoom=2"));
    expect(state).toEqual(initialState);
    expect(notices).toHaveLength(4);
  });
});

describe("A head's name", () => {
  test.each([
    ["encoder.layers.0.self_attn", "encoder.1.3"],
    ["decoder.layers.1.self_attn", "decoder.2.3"],
    ["decoder.layers.1.multihead_attn", "cross.2.3"],
  ])("stands for a head of %s", (path, key) => {
    const found = attentionAt(path);
    if (!found) throw new Error(path);
    expect(headKey(found.name, found.layer, 2)).toBe(key);
    const place = placeOf(key);
    expect(place && [pathOf(place), place.head]).toEqual([path, 2]);
  });
});

describe("An input", () => {
  const pronouns = taskOf("pronouns");

  test("that has unknown words is refused by their names", () => {
    expect(readInput(pronouns, "Alice fed the cat and the dog.")).toEqual({
      why: expect.stringMatching(/does not know “fed”, “cat”, “dog.”\. It knows \d+ words/),
    });
    expect(readInput(taskOf("sort"), "a B")).toEqual({
      why: expect.stringContaining("does not know the space, “B”"),
    });
    expect(readInput(pronouns, "  ")).toEqual({ why: expect.stringContaining("nothing") });
    expect(readInput(taskOf("sort"), "a".repeat(mostTokens + 1))).toEqual({
      why: expect.stringContaining(`more than ${mostTokens}`),
    });
  });

  test("has its answers where the task's rule says", () => {
    const answered = (source: string, target: string): Input => {
      return { kind: "translation", source: [...source], target: [...target], alignment: [] };
    };
    expect(placesOf("reverse", answered("abc", "cba"))).toEqual([[2], [1], [0]]);
    expect(placesOf("sort", answered("bab", "abb"))).toEqual([[1], [0, 2], [0, 2]]);
    expect(placesOf("dates", answered("1", "2"))).toBeNull();
  });

  test("of brackets has them where each was opened", () => {
    const tokens = [..."([])("];
    const input = readInput(taskOf("brackets"), tokens.join("")) as Input;
    expect(placesOf("brackets", input)).toEqual([[], [], [1], [0], [], [4]]);
    expect([closerOf(tokens), closerOf([..."{}"])]).toEqual([")", null]);
  });
});
