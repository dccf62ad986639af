/** Tests parts of the page without a browser. */

import { describe, expect, test } from "vitest";
import {
  columnsCsv,
  csvBlob,
  format,
  indexAt,
  npyOf,
  rowsCsv,
  shorten,
  type Timeline,
  transposed,
  viewOn,
  weightShare,
} from "#parts";
import { countOf, isMadeBy, momentAt, tempoAt } from "../../dist/view/parts/timeline.js";
import { css, inkOn, signedColour, weightColour } from "../../dist/view/picture/colour.js";
import { csvOf } from "../../dist/view/picture/csv.js";
import { readLink, writeLink } from "../../web/src/app/link";
import { rooms } from "../../web/src/app/rooms";
import { nearest, rangeOfAll, textsOf, ticksOf } from "../../web/src/picture/scale";
import { read as readRecurrent } from "../../web/src/rooms/recurrent/state";
import { read, write } from "../../web/src/rooms/steps/link";
import { seededNumbers, seededOrder } from "../../web/src/rooms/steps/seeded";
import { initialState, type State } from "../../web/src/rooms/steps/settings";
import { tokenize } from "../../web/src/rooms/steps/tokens";
import { noRestrictions } from "../../web/src/shared/restrictions";
import { testLink } from "./links";

describe("The link of “Step by step”", () => {
  testLink<State>({
    ...{ read, write, initial: initialState },
    opposite: {
      vectors: "random",
      model: null,
      layer: 0,
      text: "a & b = c # d + e % 🙂",
      keyText: "two; three",
      split: "characters",
      heads: 5,
      headSize: 3,
      seed: "été",
      position: true,
      scaled: false,
      temperature: 0.25,
      mask: "painted",
      padFrom: initialState.padFrom,
      window: initialState.window,
      hidden: new Set(["0,0", "0,1", "0,2", "4,1", "63,63"]),
      stage: "joined",
      head: 4,
      row: 6,
      cell: { matrix: "weights", row: 6, col: 2 },
      number: { part: "attention", of: "head", row: 2, col: 0 },
      time: 3,
      shuffle: 12,
      edits: new Map([
        ["q.4.1.2", { matrix: "q", head: 4, row: 1, col: 2, value: -0.25 }],
        ["k.0.0.0", { matrix: "k", head: 0, row: 0, col: 0, value: 3 }],
      ]),
      ablated: new Set([0, 3]),
      range: "row",
      curve: "log",
      mass: 55,
      trialSize: 512,
    },
    same: ["model", "layer", "padFrom", "window"],
    contains: [
      "edits=q.5.2.3:-0.25;k.1.1.1:3&ablate=1,4",
      "hidden=1:1-3;5:2;64:64",
      "number=attention.head.3.1",
    ],
    refused: [
      "heads=0",
      "heads=2.5",
      "heads=",
      "size=17",
      "temperature=NaN",
      "temperature=-1",
      "mask=all",
      "window=512",
      "pad=x",
      "hidden=1",
      "hidden=1:0",
      "hidden=513:1",
      "step=constructor",
      "cell=scores.0.x",
      "cell=scores.0.0",
      "cell=scores.1.513",
      "cell=scores.1.2.3",
      "cell=toString.1.1",
      "curve=cube",
      "mass=5",
      "trial=3",
      "__proto__=1",
    ],
    beside: ["query=3", { row: 2 }],
  });

  test.each([
    ["text", 4096, read],
    ["keys", 4096, read],
    ["seed", 40, read],
    ["date", 48, readRecurrent],
  ] as const)("takes no part of a %s of more than %d characters", (key, most, readLong) => {
    const long = (length: number) => readLong(new URLSearchParams({ [key]: "a".repeat(length) }));
    expect(long(most).notices).toEqual([]);
    const [notice, ...others] = long(most + 1).notices;
    expect(notice).toContain(`it takes at most ${most} characters`);
    expect(others).toEqual([]);
  });
});

describe("The link", () => {
  test("leads to the first room unless it names one", () => {
    expect(rooms[0].id).toBe("steps");
    expect(readLink("").room).toBe("steps");
    expect(readLink("#text=a+b").params.toString()).toBe("text=a+b");
    expect(writeLink(readLink("#room=steps&text=a+b"))).toBe("text=a+b");
  });

  test.each([
    ["room=heads&head=encoder.3.4", "room=models&head=encoder.3.4&model=pronouns"],
    ["room=heads&model=dates", "room=models&model=dates"],
    ["room=write&text=a+b&hide=nav", "room=models&text=a+b&hide=nav"],
    ["room=yours&lock=on", "room=models&model=yours&lock=on"],
    ["room=yours&model=a/b", "room=models&model=a/b"],
    ["room=yours&model=write&length=9", "room=models&length=9&temperature=0&topp=1"],
    ["room=heads&drop=encoder.1.1", "room=models&ablate=encoder.1.1&model=pronouns"],
    ["room=models&drop=1.2,6.6", "room=models&ablate=1.2,6.6"],
    ["drop=2&step=joined", "ablate=2&step=joined"],
  ])("with former names leads to the present ones: %s", (former, present) => {
    const link = readLink(`#${former}`);
    expect(link.notices).toEqual([]);
    expect(writeLink(link).replace("%2F", "/")).toBe(present);
  });

  test("restores the restrictions of a teacher's link", () => {
    const { restrictions, params, notices } = readLink(
      "#hide=nav,text&mask=causal&lock=on&embed=lines",
    );
    expect(restrictions).toEqual({ hide: ["nav", "text"], lock: true, embed: "lines" });
    expect(notices).toEqual([]);
    expect(writeLink({ room: "steps", restrictions, params })).toBe(
      "mask=causal&hide=nav,text&lock=on&embed=lines",
    );
  });

  test.each(["room=cellar", "room=constructor", "lock=yes", "embed=a,b", "hide=,", "hide=A"])(
    "leaves out %s and reports it",
    (link) => {
      const { room, restrictions, notices } = readLink(`#${link}`);
      expect({ room, restrictions }).toEqual({ room: "steps", restrictions: noRestrictions });
      expect(notices).toHaveLength(1);
    },
  );
});

describe("The rooms", () => {
  test("have unique names and fit their links", async () => {
    expect(new Set(rooms.map(({ id }) => id)).size).toBe(rooms.length);
    expect(new Set(rooms.map(({ name }) => name)).size).toBe(rooms.length);
    for (const { id } of rooms) expect(id).toMatch(/^[a-z]+$/);
  });
});

describe("Playing", () => {
  test("shows a step for its time and stays at the last one", () => {
    const shown = [0, 99, 100, 350, 10_000].map((time) => indexAt(time, 2, 6, 100));
    expect(shown).toEqual([2, 2, 3, 5, 5]);
  });

  test("may show each step for a different time", () => {
    const slowFirst = (index: number) => (index === 0 ? 1000 : 10);
    const shown = [0, 999, 1000, 1009, 1010, 9999].map((time) => indexAt(time, 0, 4, slowFirst));
    expect(shown).toEqual([0, 0, 1, 1, 2, 3]);
  });
});

describe("Axes", () => {
  test("have round numbers along them", () => {
    expect(ticksOf({ low: 0, high: 1 }, 4)).toEqual([0, 0.5, 1]);
    expect(ticksOf({ low: 0, high: 700 }, 4)).toEqual([0, 200, 400, 600]);
    expect(ticksOf({ low: -0.07, high: 0.31 }, 4)).toEqual([0, 0.1, 0.2, 0.3]);
  });

  test("write them with enough decimals to distinguish them", () => {
    expect(textsOf([0, 200, 400])).toEqual(["0", "200", "400"]);
    expect(textsOf([-0.05, 0, 0.05])).toEqual(["−0.05", "0.00", "0.05"]);
    expect(textsOf([0, 0.5, 1])).toEqual(["0.0", "0.5", "1.0"]);
  });

  test("find the nearest number, and have a range for equal numbers or none", () => {
    expect([-5, 0.4, 0.6, 7, 99].map((x) => nearest([0, 1, 5, 10], x))).toEqual([0, 0, 1, 2, 3]);
    expect(rangeOfAll([2, 2, Number.NaN])).toEqual({ low: 1.5, high: 2.5 });
    expect(rangeOfAll([])).toEqual({ low: 0, high: 1 });
  });
});

describe("Tokens", () => {
  test("are words and separate punctuation marks, or graphemes", () => {
    expect(tokenize("Don't stop, fox!", "words").tokens).toEqual([
      "Don't",
      "stop",
      ",",
      "fox",
      "!",
    ]);
    expect(tokenize(" a\té 👩‍👩‍👧 ", "characters").tokens).toEqual(["a", "é", "👩‍👩‍👧"]);
    expect(tokenize(" \n ", "words")).toEqual({ tokens: [], kept: " \n ", cut: false });
  });

  test("end after the 512th, with the text that they come from", () => {
    const text = Array.from({ length: 513 }, (_, i) => i).join(" ");
    const { tokens, kept, cut } = tokenize(text, "words");
    expect(tokens).toHaveLength(512);
    expect(cut).toBe(true);
    expect(tokenize(kept, "words")).toEqual({ tokens, kept, cut: false });
  });
});

describe("Seeded numbers", () => {
  test("depend only on their key, and have mean 0 and the given standard deviation", () => {
    const numbers = seededNumbers("a key", 10_000, 0.5);
    expect(seededNumbers("a key", 10_000, 0.5)).toEqual(numbers);
    expect(seededNumbers("a key", 3, 0.5)).toEqual(numbers.slice(0, 3));
    expect(seededNumbers("b key", 3, 0.5)).not.toEqual(numbers.slice(0, 3));
    const mean = numbers.reduce((all, x) => all + x, 0) / numbers.length;
    const variance = numbers.reduce((all, x) => all + (x - mean) ** 2, 0) / numbers.length;
    expect(Math.abs(mean)).toBeLessThan(0.02);
    expect(Math.abs(Math.sqrt(variance) - 0.5)).toBeLessThan(0.02);
  });
});

describe("Numbers and words", () => {
  test("are written with a true minus sign and one width", () => {
    expect([0.0979, -1.5, -0.0001, 0, -Infinity, 1234.5678].map((x) => format(x))).toEqual([
      "0.098",
      "−1.500",
      "0.000",
      "0.000",
      "−∞",
      "1234.6",
    ]);
  });

  test("are shortened between characters, never within one", () => {
    expect(shorten("👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", 2)).toBe("👩‍👩‍👧…");
    expect(shorten("word", 4)).toBe("word");
  });

  test("quote tokens that would break a line of CSV", () => {
    const view = viewOn(new Float32Array([0.1, -2]), 1, 2);
    expect(csvOf(view, ['say "hi", you'], undefined)).toBe(
      '"","1","2"\r\n"say ""hi"", you",0.1,-2\r\n',
    );
  });
});

describe("CSV", () => {
  test("has an empty field for a number that is missing", () => {
    const view = viewOn(new Float32Array([Number.NaN, 0.5, -Infinity]), 1, 3);
    expect(csvOf(view, ["row"], undefined)).toBe('"","1","2","3"\r\n"row",,0.5,-Infinity\r\n');
    expect(columnsCsv(["x", "y"], [[1, 2], [0.25]])).toBe('"x","y"\r\n1,0.25\r\n2,\r\n');
  });

  test("has all digits of 64-bit numbers, and the fewest of 32-bit ones", () => {
    const numbers = [2 ** 33, 0.1234567890123, Math.fround(0.1)];
    expect(rowsCsv([numbers])).toBe("8589934592,0.1234567890123,0.1\r\n");
  });

  test("is a file in UTF-8 that Excel reads as such", async () => {
    const bytes = new Uint8Array(await csvBlob('"“é”"').arrayBuffer());
    expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    expect(new TextDecoder().decode(bytes)).toBe('"“é”"');
  });
});

describe("NPY", () => {
  test("is version 1.0, float32 in row order, its numbers from a multiple of 64 on", () => {
    const view = transposed(viewOn(new Float32Array([1, 2, 3, 4, 5, -Infinity]), 3, 2));
    const bytes = npyOf(view);
    expect([...bytes.slice(0, 8)]).toEqual([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0]);
    const memory = new DataView(bytes.buffer);
    const start = 10 + memory.getUint16(8, true);
    expect(start % 64).toBe(0);
    const header = new TextDecoder().decode(bytes.slice(10, start));
    expect(header).toMatch(/^\{'descr': '<f4', 'fortran_order': False, 'shape': \(2, 3\), \} *\n$/);
    expect(bytes).toHaveLength(start + 4 * 6);
    const numbers = Array.from({ length: 6 }, (_, i) => memory.getFloat32(start + 4 * i, true));
    expect(numbers).toEqual([1, 3, 5, 2, 4, -Infinity]);
  });
});

describe("Colours", () => {
  test("are the page's colour for zero, orange below and blue above", () => {
    expect(css(signedColour(0, "light"))).toBe("rgb(255 255 255)");
    expect(css(signedColour(-1, "dark"))).toBe("rgb(245 147 34)");
    expect(css(signedColour(5, "light"))).toBe("rgb(8 119 189)");
  });

  test.each(["light", "dark"] as const)(
    "have more contrast to the %s page for larger weights, and keep text on them readable",
    (theme) => {
      const luminance = (colour: readonly number[]) => {
        const [r, g, b] = colour.map((c) => (c / 255) ** 2.2) as [number, number, number];
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const sign = theme === "light" ? -1 : 1;
      let last = Number.NEGATIVE_INFINITY;
      for (let i = 0; i <= 100; ++i) {
        const colour = weightColour(i / 100, theme);
        const light = luminance(colour);
        expect(sign * light).toBeGreaterThan(last);
        last = sign * light;
        const ink = inkOn(colour) === "#000" ? 0 : 1;
        expect((Math.max(ink, light) + 0.05) / (Math.min(ink, light) + 0.05)).toBeGreaterThan(4.4);
      }
    },
  );

  test("depend on the selected range and curve", () => {
    expect(weightShare("absolute", "linear")(0.25, 0.5)).toBe(0.25);
    expect(weightShare("row", "linear")(0.25, 0.5)).toBe(0.5);
    expect(weightShare("head", "linear")(0.25, 0.5)).toBe(0.5);
    expect(weightShare("absolute", "sqrt")(0.25, 0.5)).toBe(0.5);
    expect(weightShare("absolute", "log")(0.001, 1)).toBe(0);
    expect(weightShare("absolute", "log")(1, 1)).toBe(1);
    expect(weightShare("row", "linear")(0, 0)).toBe(0);
  });
});

describe("The time of a computation", () => {
  const timeline: Timeline = {
    lead: null,
    targets: [
      { matrix: "q", rows: 3, cols: 2 },
      { matrix: "k", rows: 2, cols: 2 },
    ],
    terms: 3,
    first: 1,
  };

  test("computes one cell term by term, its row cell by cell, then whole rows, then the next matrix", () => {
    const q = { matrix: "q", terms: null };
    expect(
      Array.from({ length: countOf(timeline) }, (_, index) => momentAt(timeline, index)),
    ).toEqual([
      { ...q, row: 1, col: 0, terms: 1 },
      { ...q, row: 1, col: 0, terms: 2 },
      { ...q, row: 1, col: 0, terms: 3 },
      { ...q, row: 1, col: 1 },
      { ...q, row: 0, col: null },
      { ...q, row: 2, col: null },
      { matrix: "k", terms: null, row: 0, col: null },
      { matrix: "k", terms: null, row: 1, col: null },
    ]);
    const tempos = Array.from({ length: countOf(timeline) }, (_, i) => tempoAt(timeline, i));
    expect(tempos).toEqual(["slow", "slow", "slow", "cell", "row", "row", "row", "end"]);
  });

  test("sums a row before the first cell that is divided by the sum", () => {
    const softmax: Timeline = {
      lead: { matrix: "exponentials", rows: 1, cols: 3 },
      targets: [{ matrix: "weights", rows: 2, cols: 3 }],
      terms: 1,
      first: 1,
    };
    const sum = { matrix: "exponentials", row: 0 };
    const weight = { matrix: "weights", terms: null };
    expect(Array.from({ length: countOf(softmax) }, (_, i) => momentAt(softmax, i))).toEqual([
      { ...sum, col: 0, terms: 1 },
      { ...sum, col: 1, terms: 2 },
      { ...sum, col: 2, terms: 3 },
      { ...weight, row: 1, col: 0 },
      { ...weight, row: 1, col: 1 },
      { ...weight, row: 1, col: 2 },
      { ...weight, row: 0, col: null },
    ]);
    expect([0, 2, 3, 4, 5, 6].map((i) => tempoAt(softmax, i))).toEqual([
      "slow",
      "slow",
      "slow",
      "cell",
      "cell",
      "end",
    ]);
    const isMade = isMadeBy(softmax, 1);
    expect([0, 1, 2].map((col) => isMade("exponentials", 0, col))).toEqual([true, true, false]);
    expect(isMade("weights", 1, 0)).toBe(false);
    const later = isMadeBy(softmax, 4);
    expect([0, 1, 2].map((col) => later("weights", 1, col))).toEqual([true, true, false]);
    expect(later("exponentials", 0, 2)).toBe(true);
  });

  test("knows at every moment which cells have a number", () => {
    const made = (index: number) => {
      const isMade = isMadeBy(timeline, index);
      return timeline.targets.map(({ matrix, rows, cols }) =>
        Array.from({ length: rows }, (_, i) =>
          Array.from({ length: cols }, (_, j) => Number(isMade(matrix, i, j))).join(""),
        ).join(" "),
      );
    };
    expect(made(0)).toEqual(["00 10 00", "00 00"]);
    expect(made(3)).toEqual(["00 11 00", "00 00"]);
    expect(made(4)).toEqual(["11 11 00", "00 00"]);
    expect(made(7)).toEqual(["11 11 11", "11 11"]);
  });
});

test("Shuffled words are in another order, and complete", () => {
  for (const count of [2, 3, 5, 64]) {
    for (const seed of [1, 2, 3, 4, 5]) {
      const order = seededOrder(`order ${seed}`, count);
      const sorted = Array.from({ length: count }, (_, i) => i);
      expect(order).not.toEqual(sorted);
      expect(order.toSorted((a, b) => a - b)).toEqual(sorted);
      expect(seededOrder(`order ${seed}`, count)).toEqual(order);
    }
  }
  expect(seededOrder("one", 1)).toEqual([0]);
});
