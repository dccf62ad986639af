// The computations for pictures of heads, compared with plain references in double precision: max pooling (also
// compared with the engine's), measures of a head, the choice of lines, and work in slices.

import { type Heed, load } from "heed";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  finished,
  hidingPooled,
  type MatrixView,
  patternNames,
  patternsOf,
  rangeOf,
  transposed,
  viewOn,
} from "#parts";
import { measuringHead } from "../../../dist/view/parts/measures.js";
import { pooling } from "../../../dist/view/parts/pool.js";
import { Slices } from "../../../dist/view/parts/slices.js";
import {
  choosing,
  type LineLook,
  mostLines,
  strongestOfRow,
} from "../../../dist/view/parts/strongest.js";
import {
  endsIn,
  largestIn,
  weightColour,
  weightPalette,
} from "../../../dist/view/picture/colour.js";
import { xmlOf } from "../../../dist/view/picture/export.js";
import { isNode } from "../engine.js";

const future = (row: number, col: number) => col > row;

/** A generator of numbers from 0 to 1 (Park and Miller, 1988). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

function randomMatrix(rows: number, cols: number, seed = 1): MatrixView {
  const next = generator(seed);
  return viewOn(Float32Array.from({ length: rows * cols }, next), rows, cols);
}

/** Rows that add up to 1; most of each lies on few columns. */
function randomWeights(rows: number, cols: number, seed = 1): MatrixView {
  const next = generator(seed);
  const data = new Float32Array(rows * cols);
  for (let row = 0; row < rows; ++row) {
    const raw = Array.from({ length: cols }, () => next() ** 6);
    const sum = raw.reduce((total, each) => total + each, 0);
    data.set(
      raw.map((each) => each / sum),
      row * cols,
    );
  }
  return viewOn(data, rows, cols);
}

const rowsOf = ({ data, rows, cols, offset, rowStride, colStride }: MatrixView): number[][] =>
  Array.from({ length: rows }, (_, i) =>
    Array.from({ length: cols }, (_, j) => data[offset + i * rowStride + j * colStride] as number),
  );

describe("Max pooling without the engine", () => {
  let heed: Heed;
  beforeAll(async () => {
    heed = await load({ threads: 1 });
  });
  afterAll(() => heed.dispose());

  test.each([
    [1, 1, 48],
    [5, 7, 3],
    [48, 48, 48],
    [49, 100, 48],
    [97, 33, 32],
    [512, 512, 48],
    [1, 300, 48],
    [300, 2, 48],
  ])("gives the engine's numbers for %i x %i to at most %i", (rows, cols, most) => {
    const view = randomMatrix(rows, cols, rows * cols);
    const small = finished(pooling(view, most, most));
    expect([small.rows, small.cols]).toEqual([Math.min(rows, most), Math.min(cols, most)]);
    const data = heed.scope(() =>
      heed
        .adaptiveMaxPool(
          heed.tensor(view.data as Float32Array, [rows, cols]),
          small.rows,
          small.cols,
        )
        .data.slice(),
    );
    expect(small.data).toEqual(data);
  });

  test("keeps NaN where the engine does", () => {
    const view = randomMatrix(50, 70);
    for (const place of [0, 1234, 3499]) view.data[place] = Number.NaN;
    const engine = heed.scope(() =>
      heed.adaptiveMaxPool(heed.tensor(view.data as Float32Array, [50, 70]), 8, 9).data.slice(),
    );
    const { data } = finished(pooling(view, 8, 9));
    expect(data).toEqual(engine);
    expect(data.filter(Number.isNaN).length).toBeGreaterThan(0);
  });

  test("reads views inside of an array, and transposed ones", () => {
    const data = Float32Array.from({ length: 3 * 12 }, (_, i) => i);
    const second = viewOn(data, 3, 4, 12);
    expect([...finished(pooling(second, 1, 2)).data]).toEqual([21, 23]);
    expect([...finished(pooling(transposed(second), 2, 1)).data]).toEqual([21, 23]);
  });

  test("of signed numbers takes the one farthest from zero, and of hidden ones a visible one", () => {
    const hidden = Number.NEGATIVE_INFINITY;
    const view = viewOn(Float32Array.of(1, -3, hidden, 0.5, hidden, hidden, 2, -2), 2, 4);
    expect([...finished(pooling(view, 2, 2, true)).data]).toEqual([-3, 0.5, hidden, 2]);
  });

  test("leaves out what is hidden", () => {
    const none = Number.NEGATIVE_INFINITY;
    const numbers = Float32Array.of(1, 9, 9, 9, -3, 2, 9, -9);
    const view = { ...viewOn(numbers, 2, 4), hides: future };
    expect([...finished(pooling(view, 1, 2, false)).data]).toEqual([2, none]);
    expect([...finished(pooling(view, 1, 2, true)).data]).toEqual([-3, none]);
  });

  test("does not read cells of which all is known to be hidden", () => {
    const size = 24;
    const view = viewOn(Float32Array.from({ length: size * size }, Math.random), size, size);
    const hidden = finished(hidingPooled(future, view, { rows: 6, cols: 6 }, true));
    const hides = (row: number, col: number) => {
      if (hidden(Math.floor(row / 4), Math.floor(col / 4)))
        throw new Error(`row ${row}, column ${col} is read`);
      return future(row, col);
    };
    const expected = finished(pooling({ ...view, hides: future }, 6, 6));
    const rest = { ...view, hides };
    expect(finished(pooling(rest, 6, 6, false, hidden))).toEqual(expected);
    expect(() => finished(pooling(rest, 6, 6))).toThrow("is read");
  });

  test("pauses often in a large matrix, and says how much is done", () => {
    const job = pooling(viewOn(new Float32Array(1000 * 1000), 1000, 1000), 48);
    const done: number[] = [];
    for (let step = job.next(); !step.done; step = job.next()) done.push(step.value as number);
    expect(done.length).toBeGreaterThan(10);
    expect(done).toEqual([...done].sort((a, b) => a - b));
    expect(done.every((each) => each >= 0 && each <= 1)).toBe(true);
  });

  test.each([5, 32, 33, 40, 48, 300])("hides the later ones of %d tokens by one corner", (size) => {
    const whole = { rows: size, cols: size };
    const cells = Math.min(size, 32);
    const small = { rows: cells, cols: cells };
    const expected = finished(hidingPooled(future, whole, small));
    const hides = finished(hidingPooled(future, whole, small, true));
    for (let row = 0; row < cells; ++row)
      for (let col = 0; col < cells; ++col) expect(hides(row, col)).toBe(expected(row, col));
  });

  test("hides a cell if all that it stands for is hidden, and by one corner for a causal mask", () => {
    for (const [rows, cols, most] of [
      [7, 7, 3],
      [100, 100, 48],
      [20, 90, 12],
    ] as const) {
      const whole = { rows, cols };
      const small = { rows: Math.min(rows, most), cols: Math.min(cols, most) };
      const [plain, corner] = [false, true].map((isCausal) =>
        finished(hidingPooled(future, whole, small, isCausal)),
      );
      const shown = Float32Array.from({ length: rows * cols }, (_, i) =>
        Number(!future(Math.floor(i / cols), i % cols)),
      );
      const seen = finished(pooling(viewOn(shown, rows, cols), most));
      const expected = Array.from(seen.data, (each) => each === 0);
      for (const hides of [plain, corner])
        expect(
          expected.map((_, place) => hides?.(Math.floor(place / small.cols), place % small.cols)),
        ).toEqual(expected);
    }
  });
});

describe("A head is measured", () => {
  /** The measures as their texts define them. */
  function measuresOf(rows: readonly (readonly number[])[], isSelf: boolean) {
    const average = (numbers: readonly number[]) =>
      numbers.length === 0 ? null : numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
    const later = isSelf ? rows.slice(1) : rows;
    return {
      entropy: average(
        rows.map((row) =>
          row.filter((weight) => weight > 0).reduce((sum, w) => sum - w * Math.log2(w), 0),
        ),
      ),
      largest: average(rows.map((row) => Math.max(...row))),
      previous: isSelf ? average(rows.slice(1).map((row, i) => row[i] as number)) : null,
      first: average(later.map((row) => row[0] as number)),
      diagonal: average(rows.flatMap((row, i) => row.slice(i, i + 1))),
    };
  }

  test.each([
    [1, 1, true],
    [1, 9, false],
    [9, 1, false],
    [40, 40, true],
    [40, 40, false],
    [30, 17, false],
  ])("%i x %i, self-attention: %s", (rows, cols, isSelf) => {
    const view = randomWeights(rows, cols, rows + cols);
    const expected = measuresOf(rowsOf(view), isSelf);
    const measured = patternsOf(view, isSelf);
    for (const name of patternNames) {
      if (expected[name] === null) expect(measured[name]).toBeNull();
      else expect(measured[name]).toBeCloseTo(expected[name] as number, 12);
    }
  });

  test("by what its mask shows, as if the rest were 0", () => {
    const view = randomWeights(12, 12, 5);
    const hides = (row: number, col: number) => (row + col) % 3 === 0;
    const seen = Float32Array.from(view.data, (weight, i) =>
      hides(Math.floor(i / 12), i % 12) ? 0 : weight,
    );
    const expected = patternsOf(viewOn(seen, 12, 12), true);
    expect(patternsOf({ ...view, hides }, true)).toEqual(expected);
    expect(expected).not.toEqual(patternsOf(view, true));
  });

  test("known heads have known measures", () => {
    const size = 8;
    const even = viewOn(new Float32Array(size * size).fill(1 / size), size, size);
    expect(patternsOf(even, true)).toMatchObject({ entropy: 3, largest: 1 / size });
    const diagonal = viewOn(
      Float32Array.from({ length: size * size }, (_, i) => Number(i % (size + 1) === 0)),
      size,
      size,
    );
    expect(patternsOf(diagonal, true)).toEqual({
      ...{ entropy: 0, largest: 1, previous: 0, first: 0, diagonal: 1 },
    });
  });

  test("and what is missing does not count as entropy", () => {
    const view = viewOn(Float32Array.of(Number.NaN, 0.5, 0.5, 0.5, 0.5, 0), 2, 3);
    expect(finished(measuringHead(view, "entropy", true))).toBe(1);
    expect(finished(measuringHead(view, "diagonal", true))).toBeNaN();
  });

  test("of rows that add up to something else are those of their shares", () => {
    const entropyOf = (...row: number[]) =>
      finished(measuringHead(viewOn(Float32Array.from(row), 1, row.length), "entropy", true));
    expect(entropyOf(2, 2, 2, 2)).toBeCloseTo(2, 6);
    expect(entropyOf(0.25, 0.25, 0, 0)).toBeCloseTo(1, 6);
    expect(entropyOf(3, -1, 0, 0)).toBeCloseTo(0, 6);
    expect(entropyOf(0, 0, 0, 0)).toBe(0);
  });
});

describe("The colours of a head", () => {
  test.each(["head", "row"] as const)("end at what its mask shows, range %s", (range) => {
    const data = Float32Array.of(0.25, 0.9, 0.8, 0.25, 0.5, 0.7, 0.1, 0.2, 0.125);
    const view = { ...viewOn(data, 3, 3), hides: future };
    const { within } = weightPalette(range, "linear", "light");
    const ends = range === "head" ? [0.5, 0.5, 0.5] : [0.25, 0.5, Math.fround(0.2)];
    expect([0, 1, 2].map(largestIn(within, view))).toEqual(ends);
    // The range of the same numbers without the mask stays another one.
    expect(largestIn(within, viewOn(data, 3, 3))(0)).toBe(Math.fround(0.9));
    expect(largestIn(within, view)(1)).toBe(0.5);
    expect(transposed(view).hides?.(2, 0)).toBe(true);
    expect(transposed(view).hides?.(0, 2)).toBe(false);
    // A partly shown matrix has the colours and the legend of the whole matrix.
    const part = { ...view, hides: () => true, whole: view };
    expect([0, 1, 2].map(largestIn(within, part))).toEqual(ends);
    const words = range === "head" ? "0.50" : "largest of its row, 0.20 to 0.50";
    for (const shown of [view, part])
      expect(endsIn(weightPalette(range, "linear", "light"), shown)[1]).toBe(words);
  });
});

describe("Lines", () => {
  const look: LineLook = { mass: 0.8, range: "absolute", curve: "linear" };

  /** For each row the largest weights until they add up to the mass of its sum, by sorting in double precision. */
  function plainLines(view: MatrixView, mass: number): string[] {
    return rowsOf(view).flatMap((row, i) => {
      const sum = row.reduce((total, each) => total + each, 0);
      const wanted = mass * (Math.abs(sum - 1) < 0.01 ? 1 : sum);
      const order = row.map((weight, col) => ({ weight, col }));
      order.sort((a, b) => b.weight - a.weight || a.col - b.col);
      let carried = 0;
      const taken = order.filter(({ weight }) => {
        if (weight <= 0 || (mass < 1 && carried > wanted - 1e-6)) return false;
        carried += weight;
        return true;
      });
      return taken.map(({ col }) => `${i} ${col}`).sort();
    });
  }

  const strongest = (view: MatrixView, look: LineLook) => finished(choosing(view, look));

  const named = (lines: readonly { row: number; col: number }[]) =>
    lines.map(({ row, col }) => `${row} ${col}`);

  test.each([0, 0.3, 0.5, 0.8, 0.95, 1])("carry the share %d of each row", (mass) => {
    for (const [rows, cols] of [
      [1, 1],
      [6, 6],
      [12, 40],
      [40, 12],
    ] as const) {
      const view = randomWeights(rows, cols, rows * cols + 1);
      const lines = strongest(view, { ...look, mass });
      expect([...named(lines)].sort()).toEqual([...plainLines(view, mass)].sort());
    }
  });

  test("of rows that add up to something else carry the share of their sum", () => {
    const view = viewOn(Float32Array.of(5, 3, 2, 0, 0, 0, 0.1, 0.1, 0.3), 3, 3);
    const lines = strongest(view, { ...look, mass: 0.5 });
    expect(named(lines)).toEqual(["0 0", "2 2"]);
  });

  test("begin with the first of equal weights", () => {
    const even = viewOn(new Float32Array(3 * 10).fill(0.1), 3, 10);
    const lines = strongest(even, { ...look, mass: 0.3 });
    expect(named(lines)).toEqual(
      [0, 1, 2].flatMap((row) => [0, 1, 2].map((col) => `${row} ${col}`)),
    );
  });

  test("leave out what is missing, negative or hidden", () => {
    const numbers = Float32Array.of(Number.NaN, 0.5, -1, 0.5, 0.25, 0.25);
    const view = { ...viewOn(numbers, 2, 3), hides: (_: number, col: number) => col === 2 };
    const lines = strongest(view, { ...look, mass: 1 });
    expect(named(lines)).toEqual(["0 1", "1 0", "1 1"]);
  });

  test.each(["absolute", "head", "row"] as const)(
    "of more than are drawn are the strongest, range %s",
    (range) => {
      const size = 160;
      const view = randomWeights(size, size, 5);
      const lines = strongest(view, { ...look, mass: 0.98, range, curve: "sqrt" });
      const largest = Math.max(...view.data);
      const all = plainLines(view, 0.98).map((name) => {
        const [row = 0, col = 0] = name.split(" ").map(Number);
        const weight = view.data[row * size + col] as number;
        const own = Math.max(...view.data.subarray(row * size, (row + 1) * size));
        const end = { absolute: 1, head: largest, row: own }[range];
        return { name, row, col, strength: Math.fround(Math.sqrt(weight / end)) };
      });
      expect(all.length).toBeGreaterThan(2 * mostLines);
      all.sort((a, b) => b.strength - a.strength || a.row - b.row || a.col - b.col);
      const expected = all.slice(0, mostLines);
      expect([...named(lines)].sort()).toEqual(expected.map(({ name }) => name).sort());
      const strengths = new Map(expected.map(({ name, strength }) => [name, strength]));
      for (const line of lines)
        expect(line.strength).toBe(strengths.get(`${line.row} ${line.col}`));
    },
  );

  test("of one row are complete, however many the others have", () => {
    const view = randomWeights(200, 200, 9);
    const own = plainLines(view, 0.99).filter((name) => name.startsWith("7 "));
    expect(named(strongestOfRow(view, 7, { ...look, mass: 0.99 })).sort()).toEqual(own);
  });

  test("are found bit by bit, with those so far", () => {
    const view = randomWeights(400, 400, 3);
    const counts: number[] = [];
    const job = choosing(view, look, (lines) => counts.push(lines.length));
    expect(finished(job)).toEqual(strongest(view, look));
    expect(counts.length).toBeGreaterThan(2);
    expect(counts[0]).toBeGreaterThan(0);
  });
});

describe("Work in slices", () => {
  const busy = (milliseconds: number) => {
    const end = performance.now() + milliseconds;
    while (performance.now() < end);
  };

  // Node runs messages before anything else.
  test.skipIf(isNode)("lets other tasks run in between, and ends", async () => {
    let turns = 0;
    function* job() {
      for (let i = 0; i < 30; ++i) {
        busy(2);
        ++turns;
        yield undefined;
      }
    }
    const jobs = [job(), job()];
    const slices = new Slices(() => jobs.shift() ?? null);
    const { port1, port2 } = new MessageChannel();
    const seen: number[] = [];
    port1.onmessage = () => {
      seen.push(turns);
      if (turns < 60) port2.postMessage(null);
    };
    port2.postMessage(null);
    slices.wake();
    expect(turns).toBe(0);
    await slices.idle;
    port1.close();
    expect(turns).toBe(60);
    expect(seen.some((each) => each > 0 && each < 60)).toBe(true);
  });

  test("stops at once, also from within a job, and can begin anew", async () => {
    let turns = 0;
    function* endless() {
      for (;;) {
        if (++turns === 5) slices.stop();
        yield undefined;
      }
    }
    let isDone = false;
    function* last() {
      isDone = true;
      yield undefined;
    }
    const jobs = [endless(), last()];
    const slices = new Slices(() => jobs.shift() ?? null);
    slices.wake();
    await slices.idle;
    expect([turns, isDone]).toEqual([5, false]);
    slices.wake();
    await slices.idle;
    expect([turns, isDone]).toEqual([5, true]);
  });
});

test("A share that is missing has the colour of none, so that a picture with it can be made", () => {
  for (const theme of ["light", "dark"] as const)
    expect(weightColour(Number.NaN, theme)).toEqual(weightColour(0, theme));
});

test("A file has no character that XML does not know", () => {
  expect(xmlOf("a\u0000\u001f\t\n\u007f\uffff 😀")).toBe("a\ufffd\ufffd\t\n\u007f\ufffd 😀");
});

test("The range of a matrix is found bit by bit, and then known", () => {
  const view = viewOn(Float32Array.of(3, Number.NaN, -2, Number.POSITIVE_INFINITY), 2, 2);
  expect(rangeOf(view)).toEqual([-2, 3]);
  view.data[0] = 5;
  expect(rangeOf(view)).toEqual([-2, 3]);
});
