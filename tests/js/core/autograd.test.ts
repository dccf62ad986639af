// Gradients: the gradients of every operation are compared with finite differences. Other tests check how the tape
// handles recorded operations.

import { type Heed, load, type Tensor } from "heed";
import { detach, grad, nn, noGrad, Tape, valueAndGrad } from "heed/nn";
import { describe, expect, test } from "vitest";
import { describeEngines, refusal } from "../engine.js";
import { operations } from "../operations/table.js";
import { expectClose, expectSameBits, Random, upload } from "../values.js";

const bools = (heed: Heed, shape: number[], ...seen: number[]) =>
  heed.tensor(Uint8Array.from(seen), shape, "bool");

/**
 * Returns a weighted sum of all results. Each element has a different weight, so that symmetry hides no
 * wrong gradient.
 */
function weighted(heed: Heed, results: Tensor | Tensor[]): Tensor {
  const list = Array.isArray(results) ? results : [results];
  const random = new Random(77);
  const terms = list.map((result) =>
    heed.sum(heed.multiply(result, upload(heed, random.array(result.shape)))),
  );
  return terms.reduce((sum, term) => heed.add(sum, term));
}

describeEngines((heed) => {
  const differentiable = Object.values(operations).flatMap(({ gradients }) =>
    gradients === "none" ? [] : Object.entries(gradients),
  );
  for (const [name, { shapes, run, away }] of differentiable) {
    test(`the gradients of ${name} are those of its differences`, () => {
      const h = heed();
      const random = new Random(701);
      const values = shapes.map((shape) => random.array(shape, 0.8));
      for (const { data } of values)
        for (const [i, x] of data.entries()) data[i] = x + (x < 0 ? -away : away);
      h.scope(() => {
        const inputs = values.map((value) => upload(h, value));
        const loss = () => weighted(h, run(h, inputs));
        const { value, gradients } = valueAndGrad(inputs, loss);
        const at = () => h.scope(() => loss().data[0] as number);
        expect(value).toBeCloseTo(at(), 5);
        const step = 1 / 128;
        for (const [n, input] of inputs.entries()) {
          const expected = Array.from(input.data, (x, i) => {
            input.data[i] = x + step;
            const above = at();
            input.data[i] = x - step;
            const below = at();
            input.data[i] = x;
            return (above - below) / (2 * step);
          });
          expectClose(gradients[n] as Tensor, input.shape, expected, 2e-3);
        }
      });
    });
  }
});

describeEngines((heed) => {
  test("the gradient of selfSimilarity keeps its digits where scores are near 490", () => {
    const random = new Random(702);
    const [L, E] = [9, 7];
    // Whole numbers, so that the scores, 22^2 and a little, are exact. The given gradients are zero at the column of
    // 22s, and the test does not compare the gradients of that column, because 22 would multiply the rounding error.
    const x = Array.from({ length: L }, () => [
      22,
      ...Array.from({ length: E - 1 }, () => random.whole(-1, 1)),
    ]);
    const d = Array.from({ length: L }, () => [0, ...random.array([E - 1]).data]);
    const range = (n: number) => Array.from({ length: n }, (_, i) => i);
    const dot = (a: number[], b: number[]) =>
      a.reduce((sum, y, i) => sum + y * (b[i] as number), 0);
    // P = softmax(X X^T), O = P X: dX = P^T dO + dS X + dS^T X, dS = P (dP - sum P dP), dP = dO X^T.
    const wanted = x.map(() => new Array<number>(E).fill(0));
    for (const [i, row] of x.entries()) {
      const scores = x.map((other) => dot(row, other));
      const most = Math.max(...scores);
      const powers = scores.map((score) => Math.exp(score - most));
      const sum = powers.reduce((a, b) => a + b);
      const p = powers.map((power) => power / sum);
      const dp = x.map((other) => dot(d[i] as number[], other));
      const mean = dot(p, dp);
      for (const [j, other] of x.entries()) {
        const ds = (p[j] as number) * ((dp[j] as number) - mean);
        for (const e of range(E)) {
          const [own, key] = [wanted[i] as number[], wanted[j] as number[]];
          own[e] = (own[e] as number) + ds * (other[e] as number);
          key[e] =
            (key[e] as number) + (p[j] as number) * (d[i]?.[e] as number) + ds * (row[e] as number);
        }
      }
    }
    heed().scope(() => {
      const [tensor, weights] = [heed().tensor([x]), heed().tensor([d])];
      const loss = () => heed().sum(heed().multiply(heed().selfSimilarity(tensor).output, weights));
      const [gradient] = grad([tensor], loss);
      for (const [i, want] of wanted.flat().entries())
        if (i % E > 0)
          expect(Math.abs((gradient?.data[i] as number) - want), `at ${i}`).toBeLessThan(2e-6);
    });
  });
});

describe("a tape", () => {
  /** An engine for one test. */
  async function withEngine(run: (heed: Heed) => void | Promise<void>): Promise<void> {
    const heed = await load({ threads: 1 });
    try {
      await run(heed);
    } finally {
      heed.dispose();
    }
  }

  test("gives zeros for a source that the loss does not depend on", () =>
    withEngine((h) => {
      const [used, unused] = [h.tensor([1, 2]), h.tensor([[3], [4]])];
      const [a, b] = grad([used, unused], () => h.sum(h.multiply(used, used))) as [Tensor, Tensor];
      expect(a.toArray()).toEqual([2, 4]);
      expect(b.toArray()).toEqual([[0], [0]]);
    }));

  test("takes what is detached, or made without it, as constant", () =>
    withEngine((h) => {
      const x = h.tensor([3]);
      const product = (y: Tensor) => h.sum(h.multiply(x, y));
      expect(grad([x], () => product(detach(x)))[0]?.toArray()).toEqual([3]);
      expect(grad([x], () => product(noGrad(() => h.multiply(x, 2))))[0]?.toArray()).toEqual([6]);
      expect(grad([x], () => product(h.multiply(x, 2)))[0]?.toArray()).toEqual([12]);
      const same = detach(x);
      x.data[0] = 5;
      expect(same.toArray()).toEqual([5]);
    }));

  test("gives each source a gradient of its own, whatever they share", () =>
    withEngine((h) => {
      const [a, b] = [h.tensor([1, 2]), h.tensor([3, 4])];
      const gradients = grad([a, b, a], () => h.sum(h.reshape(h.add(a, b), [2, 1])));
      expect(gradients.map((gradient) => gradient.toArray())).toEqual([
        [1, 1],
        [1, 1],
        [1, 1],
      ]);
      (gradients[0] as Tensor).data[0] = 9;
      gradients[2]?.dispose();
      expect(gradients[1]?.toArray()).toEqual([1, 1]);
      expect(gradients[0]?.toArray()).toEqual([9, 1]);
    }));

  test("multi-head attention hides with both masks what it hides without a tape", () =>
    withEngine((h) => {
      const layer = new nn.MultiHeadAttention(h, 4, 2);
      const x = h.normal([1, 3, 4], { seed: 1 });
      x.data.fill(Number.NaN, 4, 8);
      const options = {
        mask: bools(h, [3, 3], 1, 0, 0, 1, 1, 0, 1, 1, 1),
        keyMask: bools(h, [1, 3], 1, 0, 1),
        needWeights: true,
      } as const;
      const query = h.normal([1, 3, 4], { seed: 2 });
      const expected = layer.forward(query, x, x, options);
      const { aux } = valueAndGrad(layer, () => {
        const result = layer.forward(query, x, x, options);
        return [h.sum(result.output), result];
      });
      expect(aux.weights.toArray()).toEqual(expected.weights.toArray());
      expectClose(aux.output, [1, 3, 4], expected.output.data);
    }));

  test("goes back by the options of the call, whatever became of the object since", () =>
    withEngine((h) => {
      const x = h.normal([1, 2, 4, 4], { seed: 1 });
      const flat = h.reshape(x, [2, 4, 4]);
      const parameters = { weightIh: h.ones([3, 4]), weightHh: h.ones([3, 1]) };
      const calls: ((isChanged: boolean) => Tensor)[] = [
        (isChanged) => {
          const options = { rate: 0.5, seed: 1 };
          const y = h.dropout(x, options);
          if (isChanged) options.seed = 2;
          return y;
        },
        (isChanged) => {
          const options = { kvLengths: [4], dropout: 0.5, seed: 1 };
          const y = h.attention(x, x, x, options).output;
          if (isChanged) Object.assign(options, { seed: 2 }).kvLengths[0] = 1;
          return y;
        },
        (isChanged) => {
          const options = { offset: 1 };
          const y = h.rope(x, options);
          if (isChanged) options.offset = 2;
          return y;
        },
        (isChanged) => {
          const options = { isCausal: true };
          const y = h.average(flat, options);
          if (isChanged) options.isCausal = false;
          return y;
        },
        (isChanged) => {
          const options = { lengths: [4, 4] };
          const y = h.gru(flat, parameters, options).output;
          if (isChanged) options.lengths[1] = 1;
          return y;
        },
        (isChanged) => {
          const order = [0, 2, 1];
          const y = h.transpose(flat, order);
          if (isChanged) order.reverse();
          return y;
        },
        (isChanged) => {
          const parts = [flat, h.ones([1, 4, 4])];
          const y = h.concat(parts);
          if (isChanged) parts.reverse();
          return y;
        },
      ];
      for (const call of calls) {
        const [asCalled, changed] = [false, true].map((isChanged) => {
          const sources = [x, flat];
          const weighted = () => {
            const y = call(isChanged);
            return h.sum(h.multiply(y, h.normal(y.shape, { seed: 3 })));
          };
          return grad(sources, weighted).map((gradient) => gradient.toArray());
        });
        expect(changed).toEqual(asCalled);
      }
    }));

  test("frees what a step makes, and keeps what the function returns beside the loss", () =>
    withEngine((h) => {
      const x = h.normal([64, 64], { seed: 1 });
      const made: Tensor[] = [];
      const { aux, gradients } = valueAndGrad([x], () => {
        const y = h.matmul(x, x);
        const z = h.activate(y, "tanh");
        made.push(y, z);
        return [h.mean(z), { z }];
      });
      expect(made.map((tensor) => tensor.isDisposed)).toEqual([true, false]);
      expect(aux.z.shape).toEqual([64, 64]);
      expect(gradients[0]?.isDisposed).toBe(false);
    }));

  test("goes back through a scope, which then leaves to it what was made there", () =>
    withEngine((h) => {
      const x = h.tensor([1, 2]);
      const made: Tensor[] = [];
      const square = () => {
        const y = h.add(x, 1);
        made.push(y);
        noGrad(() => h.scope(() => made.push(h.add(x, 2))));
        expect(made.map((tensor) => tensor.isDisposed)).toEqual([false, true]);
        return h.sum(h.multiply(y, y));
      };
      expect(grad([x], () => h.scope(square))[0]?.toArray()).toEqual([4, 6]);
      expect(made.map((tensor) => tensor.isDisposed)).toEqual([true, true]);
    }));

  test("refuses tensors of another engine", () =>
    withEngine((h) =>
      withEngine((other) => {
        const [x, y] = [h.ones([1]), other.ones([1])];
        const message = /expected a tensor of this engine, got one of another$/;
        expect(refusal(() => grad([x, y], () => h.sum(x))).message).toMatch(message);
        expect(refusal(() => grad([x], () => other.sum(y))).message).toMatch(message);
      }),
    ));

  test("uses no more memory after a hundred steps than after ten", async () => {
    const heed = await load({ threads: 1, maxMemory: 64 * 2 ** 20 });
    const x = heed.normal([256, 256], { seed: 1 });
    for (let step = 0; step < 100; ++step) {
      // Each step allocates a quarter of a megabyte ten times. Without freeing, the memory would soon be
      // full.
      const gradients = grad([x], () => {
        let y = x;
        for (let i = 0; i < 5; ++i) y = heed.activate(heed.add(y, x), "tanh");
        return heed.mean(y);
      });
      for (const gradient of gradients) gradient.dispose();
    }
    heed.dispose();
  });

  test("is not needed for a model that runs many times to use no more memory", async () => {
    const heed = await load({ threads: 1, maxMemory: 64 * 2 ** 20 });
    const encoder = new nn.TransformerEncoder(heed, 64, 4, 2, { dimFeedforward: 128 }).eval();
    const x = heed.normal([4, 32, 64], { seed: 4 });
    // Each call allocates about thirty tensors of at least 32 KB. If they were kept, they would fill the
    // memory four times.
    for (let call = 0; call < 300; ++call) encoder.forward(x).dispose();
    heed.dispose();
  });

  test("gives the same gradients with any number of threads", async () => {
    const gradientsWith = async (threads: number) => {
      const h = await load({ threads });
      nn.manualSeed(h, 5);
      const layer = new nn.TransformerEncoderLayer(h, 32, 4, { dimFeedforward: 64, dropout: 0.1 });
      const x = h.normal([3, 50, 32], { seed: 4 });
      const gradients = grad(layer, () => h.sum(h.multiply(layer.forward(x), x)));
      const copies = gradients.map((gradient) => gradient.data.slice());
      h.dispose();
      return copies;
    };
    const one = await gradientsWith(1);
    for (const threads of [2, 3]) {
      const more = await gradientsWith(threads);
      for (const [i, gradient] of more.entries()) expectSameBits(gradient, one[i] as Float32Array);
    }
  });

  const refusals: Record<string, [error: RegExp, call: (h: Heed, x: Tensor) => unknown]> = {
    "a loss that is no scalar": [
      /^shape: loss: expected one number, got \[2\]$/,
      (h, x) => grad([x], () => h.multiply(x, 2)),
    ],
    "a loss that is no tensor": [
      /^option: loss: expected a tensor, got 3$/,
      (_, x) => grad([x], () => 3 as never),
    ],
    "a loss that is not finite": [
      /^nan: loss: expected a finite number, got Infinity \(with debug/,
      (h, x) => grad([x], () => h.sum(h.divide(x, 0))),
    ],
    "an async function": [/^option: .*async/, (h, x) => grad([x], (async () => h.sum(x)) as never)],
    "no source": [
      /^option: sources: expected one tensor or more, got none$/,
      () => grad([], () => 0 as never),
    ],
    "sources that are none": [
      /^option: sources: expected a module or a list of tensors, got null$/,
      () => grad(null as never, () => 0 as never),
    ],
    "a source that is disposed of": [
      /^disposed: sources\[1\]: expected a live tensor/,
      (h, x) => {
        const gone = h.tensor([1]);
        gone.dispose();
        return grad([x, gone], () => h.sum(x));
      },
    ],
    "a source of whole numbers": [
      /^dtype: sources\[0\]: expected float32, got int32$/,
      (h) => grad([h.tensor(Int32Array.of(1))], () => h.tensor(1)),
    ],
    "one within another": [
      /^unsupported: tape: expected no other tape to be running/,
      (h, x) => grad([x], () => grad([x], () => h.sum(x))[0] as Tensor),
    ],
    "going back twice": [
      /^option: tape: expected a tape whose gradients were not computed yet, got one whose gradients were$/,
      (h, x) => {
        const tape = new Tape([x]);
        const loss = tape.run(() => h.sum(h.multiply(x, x)));
        expect(tape.gradients(loss)[0]?.toArray()).toEqual([2, 4]);
        return tape.gradients(loss);
      },
    ],
    "going back through something disposed of": [
      /^disposed: gradient of multiply: .: expected a live tensor, got a disposed one$/,
      (h, x) =>
        grad([x], () => {
          const y = h.multiply(x, 2);
          const z = h.multiply(y, y);
          y.dispose();
          return h.sum(z);
        }),
    ],
    "a loss from what has no gradient": [
      /^unsupported: loss: expected a tensor with a gradient, or a detached one, got a result of localMean/,
      (h, x) => grad([x], () => h.sum(h.localMean(h.reshape(x, [1, 2]), 1))),
    ],
    "a loss from the largest numbers": [
      /^unsupported: loss: expected a tensor with a gradient, or a detached one, got a result of topK/,
      (h, x) => grad([x], () => h.sum(h.topK(x, 1).values)),
    ],
    "a loss from tables of rope": [
      /^unsupported: sum: x: expected a tensor with a gradient, or a detached one, got a result of rope for its/,
      (h, x) => {
        const [y, sin] = [h.ones([1, 1, 1, 4]), h.ones([1, 2])];
        return grad([x, y], () => h.sum(h.rope(y, { cos: h.reshape(x, [1, 2]), sin })));
      },
    ],
    "a loss to which such a thing adds": [
      /^unsupported: add: b: expected a tensor with a gradient.* got a result of cast/,
      (h, x) => grad([x], () => h.sum(h.add(x, h.cast(x, "float32")))),
    ],
  };
  for (const [what, [message, call]] of Object.entries(refusals)) {
    test(`refuses ${what}, and stays usable`, () =>
      withEngine((h) => {
        const x = h.tensor([1, 2]);
        const error = refusal(() => call(h, x));
        expect(`${error.code}: ${error.message}`).toMatch(message);
        expect(grad([x], () => h.sum(h.multiply(x, x)))[0]?.toArray()).toEqual([2, 4]);
      }));
  }

  test("names, when asked to, the first operation that gives what is not finite", () =>
    withEngine((h) => {
      const x = h.tensor([0, 1]);
      const run = () => h.sum(h.multiply(h.divide(h.add(x, 1), x), 2));
      const error = refusal(() => grad([x], run, { debug: true }));
      expect(error.message).toBe("divide: expected finite numbers, got Infinity");
      expect(error.code).toBe("nan");
    }));

  test("names a gradient that is not finite", () =>
    withEngine((h) => {
      const x = h.tensor([1e-30]);
      // 1 / x is finite; its derivative -1 / x^2 is not.
      const run = () => h.sum(h.divide(h.ones([1]), x));
      expect(refusal(() => grad([x], run, { debug: true })).message).toBe(
        "gradient of divide: the gradient for b: expected finite numbers, got -Infinity",
      );
    }));

  test("frees what was recorded if a gradient fails", () =>
    withEngine((h) => {
      const x = h.tensor([1e-30]);
      const tape = new Tape([x], { debug: true });
      const loss = tape.run(() => h.sum(h.divide(h.ones([1]), h.multiply(h.add(x, 0), 1))));
      expect(refusal(() => tape.gradients(loss)).code).toBe("nan");
      // x, the loss, and two tensors that no operation gave: 1, and 0 as a tensor
      expect(h.memory().tensors.count).toBe(4);
    }));

  test("names the module in whose path something is wrong", () =>
    withEngine((h) => {
      class Inner extends nn.Module {
        weight = h.ones([3, 2]);
        forward(x: Tensor): Tensor {
          return h.linear(x, this.weight);
        }
      }
      class Outer extends nn.Module {
        layers = [new Inner(h), new Inner(h)];
        forward(x: Tensor): Tensor {
          return h.sum((this.layers[1] as Inner).forward(x));
        }
      }
      const model = new Outer(h);
      const wrong = h.ones([4]);
      expect(refusal(() => model.forward(wrong)).message).toBe(
        "layers.1: x: expected a last axis of 2, as weight [3, 2] has, got [4]",
      );
      (model.layers[1] as Inner).weight.data[0] = Number.NaN;
      const loss = () => model.forward(h.ones([2]));
      expect(refusal(() => grad(model, loss, { debug: true })).message).toBe(
        "layers.1: linear: expected finite numbers, got NaN",
      );
    }));
});
