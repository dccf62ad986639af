// Random calls of arithmetic and of operations that move elements, compared with loops in double precision.

import * as fc from "fast-check";
import type { Values } from "../oracle.js";
import { expectClose, expectSameBits, sizeOf, upload } from "../values.js";
import {
  at,
  flag,
  given,
  indices,
  maybe,
  pick,
  random,
  resized,
  right,
  seed,
  shape,
  shapeWithAxis,
  sizes,
  whole,
} from "./family.js";

const terms = {
  add: (a: number, b: number) => a + b,
  subtract: (a: number, b: number) => a - b,
  multiply: (a: number, b: number) => a * b,
  divide: (a: number, b: number) => a / b,
};

export const arithmetic = {
  terms: right(
    fc.record({
      name: pick("add", "subtract", "multiply", "divide"),
      shape,
      isOne: fc.array(flag, { minLength: 4, maxLength: 4 }),
      dropped: whole(0, 4),
      number: maybe(fc.float({ noNaN: true, min: -1e6, max: 1e6 })),
      seed,
    }),
    (heed, { name, shape, isOne, dropped, number, seed }) => {
      const [draw, f] = [random(seed), terms[name]];
      const a = draw.array(shape, 10);
      const thin = shape.map((size, axis) => (isOne[axis] ? 1 : size)).slice(dropped);
      const b: Values = number === undefined ? draw.array(thin, 10) : { data: [number], shape: [] };
      const result = heed[name](
        upload(heed, a),
        number ?? upload(heed, b as ReturnType<typeof draw.array>),
      );
      const wanted = indices(shape).map((index) => f(at(a, index), at(b, index)));
      // The engine rounds to float32: a number that is too large becomes infinite.
      expectClose(result, shape, wanted.map(Math.fround));
    },
  ),

  reductions: right(
    fc.record({
      name: pick("sum", "mean"),
      given: shapeWithAxis,
      isWhole: flag,
      isNegative: flag,
      keepDims: flag,
      seed,
    }),
    (heed, { name, given: { shape, axis }, isWhole, isNegative, keepDims, seed }) => {
      const x = random(seed).array(shape);
      const kept = isWhole ? shape.map(() => 1) : resized(shape, axis, 1);
      const sums = new Float64Array(sizeOf(kept));
      const place = (index: readonly number[]) =>
        index.reduce((sum, i, k) => sum * (kept[k] as number) + (kept[k] === 1 ? 0 : i), 0);
      for (const index of indices(shape)) (sums[place(index)] as number) += at(x, index);
      const count = isWhole ? sizeOf(shape) : (shape[axis] as number);
      const counted = isNegative ? axis - shape.length : axis;
      const result = heed[name](upload(heed, x), {
        keepDims,
        ...(isWhole ? {} : { axis: counted }),
      });
      const wanted = name === "sum" ? sums : sums.map((total) => total / count);
      const left = kept.filter((_, i) => keepDims || (!isWhole && i !== axis));
      expectClose(result, left, wanted);
    },
  ),

  matmul: right(
    fc.record({
      batch: fc.array(whole(0, 3), { maxLength: 2 }),
      isShared: flag,
      ...{ M: whole(0, 40), K: whole(0, 70), N: whole(0, 40), seed },
      ...{ transposeA: flag, transposeB: flag },
    }),
    (heed, { batch, isShared, M, K, N, transposeA, transposeB, seed }) => {
      const draw = random(seed);
      const a = draw.array([...batch, ...(transposeA ? [K, M] : [M, K])]);
      const b = draw.array([...(isShared ? [] : batch), ...(transposeB ? [N, K] : [K, N])]);
      const wanted: number[] = [];
      for (let n = 0; n < sizeOf(batch); ++n) {
        const [ofA, ofB] = [n * M * K, isShared ? 0 : n * K * N];
        for (let i = 0; i < M; ++i) {
          for (let j = 0; j < N; ++j) {
            let total = 0;
            for (let k = 0; k < K; ++k)
              total +=
                (a.data[ofA + (transposeA ? k * M + i : i * K + k)] as number) *
                (b.data[ofB + (transposeB ? j * K + k : k * N + j)] as number);
            wanted.push(total);
          }
        }
      }
      const options = { transposeA, transposeB };
      const result = heed.matmul(upload(heed, a), upload(heed, b), options);
      expectClose(result, [...batch, M, N], wanted);
    },
  ),

  broadcastTo: right(
    fc.record({
      shape,
      isOne: fc.array(flag, { minLength: 4, maxLength: 4 }),
      dropped: whole(0, 4),
      seed,
    }),
    (heed, { shape, isOne, dropped, seed }) => {
      const x = random(seed).array(
        shape.map((size, axis) => (isOne[axis] ? 1 : size)).slice(dropped),
      );
      const result = heed.broadcastTo(upload(heed, x), shape);
      expectClose(
        result,
        shape,
        indices(shape).map((index) => at(x, index)),
        0,
      );
    },
  ),

  transpose: right(
    sizes(2).chain((shape) =>
      fc.record({
        shape: fc.constant(shape),
        order: fc.shuffledSubarray([...shape.keys()], { minLength: shape.length }),
        seed,
      }),
    ),
    (heed, { shape, order, seed }) => {
      const x = random(seed).array(shape);
      const turned = order.map((axis) => shape[axis] as number);
      const wanted = indices(turned).map((index) =>
        at(
          x,
          shape.map((_, axis) => index[order.indexOf(axis)] as number),
        ),
      );
      expectClose(heed.transpose(upload(heed, x), order), turned, wanted, 0);
    },
  ),

  parts: right(
    fc.record({ given: shapeWithAxis, cuts: fc.array(whole(0, 6), { maxLength: 3 }), seed }),
    (heed, { given: { shape, axis }, cuts, seed }) => {
      const size = shape[axis] as number;
      const x = random(seed).array(shape);
      const bounds = [0, ...cuts.map((cut) => Math.min(cut, size)), size].sort((a, b) => a - b);
      const lengths = bounds.slice(1).map((end, i) => end - (bounds[i] as number));
      const tensor = upload(heed, x);
      const parts = heed.split(tensor, lengths, { axis });
      for (const [i, length] of lengths.entries()) {
        const start = bounds[i] as number;
        const part = resized(shape, axis, length);
        const wanted = indices(part).map((index) =>
          at(x, resized(index, axis, (index[axis] as number) + start)),
        );
        expectClose(heed.slice(tensor, { axis, start, length }), part, wanted, 0);
        expectClose(parts[i] as typeof tensor, part, wanted, 0);
      }
      expectClose(heed.concat(parts, { axis }), shape, x.data, 0);
    },
  ),

  reshape: right(
    fc.record({ shape: sizes(1), axis: whole(0, 3), seed }),
    (heed, { shape, axis, seed }) => {
      const x = random(seed).array(shape);
      const open = [...shape].reverse().map((size, i) => (i === axis ? -1 : size));
      const result = heed.reshape(upload(heed, x), open);
      expectClose(result, [...shape].reverse(), x.data, 0);
    },
  ),

  adaptiveMaxPool: right(
    fc.record({ H: whole(1, 30), W: whole(1, 30), rows: whole(1, 8), columns: whole(1, 8), seed }),
    (heed, { H, W, rows, columns, seed }) => {
      const x = random(seed).array([H, W]);
      const bounds = (size: number, parts: number, i: number) => [
        Math.floor((i * size) / parts),
        Math.ceil(((i + 1) * size) / parts),
      ];
      const wanted = indices([rows, columns]).map(([r, c]) => {
        const [top, bottom] = bounds(H, rows, r as number) as [number, number];
        const [left, end] = bounds(W, columns, c as number) as [number, number];
        let most = -Infinity;
        for (let i = top; i < bottom; ++i)
          for (let j = left; j < end; ++j) most = Math.max(most, at(x, [i, j]));
        return most;
      });
      expectClose(heed.adaptiveMaxPool(upload(heed, x), rows, columns), [rows, columns], wanted, 0);
    },
  ),

  topK: right(
    fc.record({ rows: whole(0, 3), N: whole(1, 300), k: whole(1, 300), spread: whole(1, 9), seed }),
    (heed, { rows, N, k: most, spread, seed }) => {
      const k = Math.min(most, N);
      const x = random(seed).array([rows, N], spread);
      // Equal numbers keep their order.
      for (let i = 0; i < x.data.length; ++i) x.data[i] = Math.round(x.data[i] as number);
      const { values, indices: found } = heed.topK(upload(heed, x), k);
      const order = Array.from({ length: rows }, (_, r) =>
        Array.from({ length: N }, (_, i) => i)
          .sort((i, j) => at(x, [r, j]) - at(x, [r, i]) || i - j)
          .slice(0, k),
      );
      expectSameBits(found.data, Int32Array.from(order.flat()));
      const wanted = order.flatMap((row, r) => row.map((i) => at(x, [r, i])));
      expectClose(values, [rows, k], wanted, 0);
    },
  ),

  cast: right(
    fc.record({
      numbers: fc.array(fc.float(), { maxLength: 20 }),
      dtype: pick("float16", "bfloat16"),
    }),
    (heed, { numbers, dtype }) => {
      const x = heed.tensor(Float32Array.from(numbers));
      const [bits, least, most] = dtype === "float16" ? [11, -14, 65504] : [8, -126, 2 ** 128];
      /** The nearest number with this precision in bits, ties to even. */
      const rounded = (x: number) => {
        if (!Number.isFinite(x) || x === 0) return x;
        const exponent = Math.max(Math.floor(Math.log2(Math.abs(x))), least);
        const unit = 2 ** (exponent - bits + 1);
        const [parts, sign] = [Math.abs(x) / unit, Math.sign(x)];
        const below = Math.floor(parts);
        const isUp = parts - below > 0.5 || (parts - below === 0.5 && below % 2 === 1);
        const nearest = (below + (isUp ? 1 : 0)) * unit;
        return sign * (nearest > most || nearest >= 2 ** 128 ? Infinity : nearest);
      };
      const whole = heed.cast(heed.cast(x, dtype), "float32");
      expectClose(whole, [numbers.length], numbers.map(rounded), 0);
    },
  ),

  drawn: right(
    fc.record({
      name: pick("uniform", "normal"),
      shape,
      seed,
      low: whole(-3, 0),
      width: whole(0, 4),
    }),
    (heed, { name, shape, seed, low, width }) => {
      const draw = () =>
        name === "uniform"
          ? heed.uniform(shape, { seed, low, high: low + width })
          : heed.normal(shape, { seed, mean: low, deviation: width });
      const [first, second] = [draw(), draw()];
      expectSameBits(second.data, first.data);
      const isIn = (x: number) =>
        name === "uniform" ? x >= low && x <= low + width : Math.abs(x - low) <= 8 * width;
      const data = Array.from(first.data);
      if (!data.every(isIn)) throw new Error(`${data.find((x) => !isIn(x))} is out of range`);
    },
  ),

  sinusoidalEncoding: right(
    fc.record({
      ...{ length: whole(0, 50), size: whole(0, 20) },
      ...{ base: maybe(whole(1, 20_000)), offset: maybe(whole(0, 5000)) },
    }),
    (heed, { length, size, base, offset }) => {
      const wanted = indices([length, size]).map((index) => {
        const [row, column] = index as [number, number];
        const wave = (base ?? 10000) ** ((2 * Math.floor(column / 2)) / size);
        const angle = (row + (offset ?? 0)) / wave;
        return column % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
      });
      const table = heed.sinusoidalEncoding(length, size, given({ base, offset }));
      expectClose(table, [length, size], wanted, 1e-6);
    },
  ),
};
