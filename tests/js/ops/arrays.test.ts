// Array and element-wise operations at the limits: no elements, one element, and the maximum number of
// axes. autograd.test.ts and operations.test.ts test ordinary sizes.

import type { Heed, Tensor } from "heed";
import { grad } from "heed/nn";
import { describe, expect, test } from "vitest";
import { describeEngines } from "../engine.js";
import type { Unary } from "../operations/operation.js";
import { entriesOf } from "../operations/table.js";

describeEngines((heed) => {
  /** Expects that the gradient has the shape of x and that all its elements are finite. */
  const expectGradient = (x: Tensor, operation: Unary) => {
    const [gradient] = grad([x], () => heed().sum(operation(heed(), x)));
    expect(gradient?.shape).toEqual(x.shape);
    expect(gradient?.data.every(Number.isFinite)).toBe(true);
  };

  describe("of nothing", () => {
    for (const [name, operation] of entriesOf("keepsShape")) {
      test(`${name} gives nothing`, () => {
        for (const shape of [[0], [0, 3], [3, 0], [2, 0, 3], [1, 1, 1, 1, 1, 1, 1, 0]]) {
          heed().scope(() => {
            const x = heed().zeros(shape);
            expect(operation(heed(), x).shape).toEqual(shape);
            expectGradient(x, operation);
          });
        }
      });
    }

    for (const [what, [shape, call, [expected, elements]], { gradients }] of entriesOf(
      "ofNothing",
    )) {
      test(`${what} gives [${expected}]`, () => {
        heed().scope(() => {
          const x = heed().ones(shape);
          const result = call(heed(), x);
          expect(result.shape).toEqual(expected);
          expect([...result.data]).toEqual(elements);
          if (gradients !== "none") expectGradient(x, call);
        });
      });
    }

    test("the mean is no number", () => {
      heed().scope(() =>
        expect(
          heed()
            .mean(heed().zeros([0]))
            .toArray(),
        ).toBeNaN(),
      );
    });

    test("tensors can be made", () => {
      heed().scope(() => {
        for (const shape of [[0], [0, 3], [2, 0, 3]])
          for (const make of [
            () => heed().zeros(shape),
            () => heed().ones(shape),
            () => heed().uniform(shape, { seed: 1 }),
            () => heed().normal(shape, { seed: 1 }),
          ])
            expect(make().shape).toEqual(shape);
      });
    });
  });

  describe("of eight axes", () => {
    for (const [name, operation, { gradients }] of [
      ...entriesOf("keepsShape"),
      ...entriesOf("anyRank"),
    ]) {
      test(`${name} gives what it gives of three`, () => {
        heed().scope(() => {
          const few = heed().normal([2, 2, 3], { seed: 3 });
          // The axes of size 1 precede the axes of `few` and lie between them.
          const many = heed().reshape(few, [1, 1, 1, 2, 1, 1, 2, 3]);
          expect(operation(heed(), many).data).toEqual(operation(heed(), few).data);
          if (gradients !== "none") expectGradient(many, operation);
        });
      });
    }

    test("concat of the first axis gives the numbers twice", () => {
      heed().scope(() => {
        const x = heed().normal([1, 1, 1, 2, 1, 1, 2, 3], { seed: 3 });
        const twice = (h: Heed, x: Tensor) => h.concat([x, x]);
        expect([...twice(heed(), x).data]).toEqual([...x.data, ...x.data]);
        expectGradient(x, twice);
      });
    });

    test("transpose turns all of them around", () => {
      heed().scope(() => {
        const x = heed().tensor(
          Float32Array.from({ length: 24 }, (_, i) => i),
          [1, 2, 1, 3, 1, 4, 1, 1],
        );
        const turned = heed().transpose(x, [7, 6, 5, 4, 3, 2, 1, 0]);
        expect(turned.shape).toEqual([1, 1, 4, 1, 3, 1, 2, 1]);
        const expected = heed().transpose(heed().reshape(x, [2, 3, 4]), [2, 1, 0]);
        expect(turned.data).toEqual(expected.data);
      });
    });

    test("broadcastTo repeats along some, and the gradient is summed along them", () => {
      heed().scope(() => {
        const x = heed().tensor([1, 2], [1, 2, 1]);
        const shape = [2, 1, 2, 1, 1, 1, 2, 2];
        const wide = heed().broadcastTo(x, shape);
        expect([...wide.data]).toEqual([1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2]);
        const [gradient] = grad([x], () => heed().sum(heed().broadcastTo(x, shape)));
        expect(gradient?.toArray()).toEqual([[[8], [8]]]);
      });
    });
  });

  test("a single number is a tensor as any other", () => {
    heed().scope(() => {
      for (const shape of [[], [1], [1, 1, 1, 1, 1, 1, 1, 1]]) {
        const x = heed().tensor(Float32Array.of(3), shape);
        for (const [operation, expected] of [
          [heed().add(x, x), 6],
          [heed().divide(x, 2), 1.5],
          [heed().activate(x, "relu"), 3],
        ] as const) {
          expect(operation.shape).toEqual(shape);
          expect([...operation.data]).toEqual([expected]);
        }
        expect(heed().sum(x).toArray()).toBe(3);
        expect(heed().mean(x).toArray()).toBe(3);
        expect(heed().reshape(x, []).toArray()).toBe(3);
        expectGradient(x, (h, x) => h.mean(x));
      }
    });
  });
});
