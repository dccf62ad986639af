// Optimisers, compared with their papers' formulas in double precision, and schedules.

import { nn, optim, safetensors, valueAndGrad } from "heed/nn";
import { describe, expect, test } from "vitest";
import { describeEngines, engine, refusal } from "../engine.js";
import { expectClose, Random } from "../values.js";

type State = Record<string, number[]>;
/** Computes one step of one number and returns the new parameter. `kept` is the state between steps. */
type Formula = (p: number, g: number, t: number, kept: Record<string, number>) => number;

function sgd(o: optim.SGDOptions): Formula {
  const { learningRate = 1e-3, momentum = 0, dampening = 0, weightDecay = 0, nesterov } = o;
  return (p, gradient, t, kept) => {
    let g = gradient + weightDecay * p;
    if (momentum !== 0) {
      kept.b = t === 1 ? g : momentum * (kept.b as number) + (1 - dampening) * g;
      g = nesterov ? g + momentum * kept.b : kept.b;
    }
    return p - learningRate * g;
  };
}

function adam(o: optim.AdamOptions, isDecoupled: boolean): Formula {
  const { learningRate = 1e-3, betas = [0.9, 0.999], eps = 1e-8 } = o;
  const { weightDecay = isDecoupled ? 1e-2 : 0 } = o;
  return (p, gradient, t, kept) => {
    const g = isDecoupled ? gradient : gradient + weightDecay * p;
    const before = isDecoupled ? p - learningRate * weightDecay * p : p;
    kept.m = betas[0] * (kept.m ?? 0) + (1 - betas[0]) * g;
    kept.v = betas[1] * (kept.v ?? 0) + (1 - betas[1]) * g * g;
    const mean = kept.m / (1 - betas[0] ** t);
    return before - (learningRate * mean) / (Math.sqrt(kept.v / (1 - betas[1] ** t)) + eps);
  };
}

const kinds: [name: string, make: (p: optim.Parameters) => optim.SGD | optim.Adam, Formula][] = [
  ["SGD", (p) => new optim.SGD(p), sgd({})],
  ...(
    [
      { learningRate: 0.1, weightDecay: 0.1 },
      { learningRate: 0.1, momentum: 0.9 },
      { learningRate: 0.1, momentum: 0.9, dampening: 0.3, weightDecay: 0.1 },
      { learningRate: 0.1, momentum: 0.9, nesterov: true },
    ] as optim.SGDOptions[]
  ).map((o): (typeof kinds)[number] => [
    `SGD with ${Object.keys(o).join(", ")}`,
    (p) => new optim.SGD(p, o),
    sgd(o),
  ]),
  ["Adam", (p) => new optim.Adam(p), adam({}, false)],
  ["AdamW", (p) => new optim.AdamW(p), adam({}, true)],
  ...[false, true].map((isDecoupled): (typeof kinds)[number] => {
    const o = { learningRate: 0.05, betas: [0.8, 0.95], eps: 1e-3, weightDecay: 0.1 } as const;
    const make = isDecoupled ? optim.AdamW : optim.Adam;
    return [`${make.name} with all options`, (p) => new make(p, o), adam(o, isDecoupled)];
  }),
];

describeEngines((heed) => {
  test.each(kinds)("%s steps as its formula says", (_, make, formula) => {
    heed().scope(() => {
      const random = new Random(761);
      const shapes = [[3, 50], [7], []];
      const parameters = shapes.map((shape) => heed().tensor(random.array(shape).data, shape));
      const expected: State = {};
      const kept = parameters.map(({ size }) => Array.from({ length: size }, () => ({})));
      for (const [i, { data }] of parameters.entries())
        expected[i] = Array.from(data as Float32Array);
      using optimizer = make(parameters);
      for (let t = 1; t <= 5; ++t) {
        const gradients = shapes.map((shape) => heed().tensor(random.array(shape, 2).data, shape));
        for (const [i, { data }] of gradients.entries())
          expected[i] = (expected[i] as number[]).map((p, n) =>
            formula(p, data[n] as number, t, kept[i]?.[n] ?? {}),
          );
        optimizer.step(gradients);
        expect(gradients.every((gradient) => gradient.isDisposed)).toBe(true);
        expect(optimizer.stepCount).toBe(t);
        for (const [i, parameter] of parameters.entries())
          expectClose(parameter, shapes[i] as number[], expected[i] as number[], 1e-5);
      }
    });
  });

  test("clipGradNorm scales all gradients by one factor, or leaves them unchanged", () => {
    heed().scope(() => {
      const make = () => [heed().tensor([3, 0]), heed().tensor([[4], [12]])];
      const small = make();
      expect(optim.clipGradNorm(small, 20)).toBeCloseTo(13, 5);
      expect(small.map((gradient) => gradient.toArray())).toEqual([
        [3, 0],
        [[4], [12]],
      ]);
      const large = make();
      expect(optim.clipGradNorm(large, 1.3)).toBeCloseTo(13, 5);
      expectClose(large[0] as never, [2], [0.3, 0], 1e-6);
      expectClose(large[1] as never, [2, 1], [0.4, 1.2], 1e-6);
    });
  });
});

describe("an optimiser", () => {
  const heed = engine({ threads: 1 });
  const gradientsOf = (seed: number) => {
    const random = new Random(seed);
    return [
      heed().tensor(random.array([2, 3]).data, [2, 3]),
      heed().tensor(random.array([2]).data),
    ];
  };

  test.each(["SGD", "Adam", "AdamW"] as const)("%s goes on from its saved state", (name) => {
    heed().scope(() => {
      const make = () => {
        const layer = new nn.Linear(heed(), 3, 2, { generator: new nn.Generator(4) });
        const options = { learningRate: 0.1, ...(name === "SGD" && { momentum: 0.9 }) };
        return { layer, optimizer: new optim[name](layer, options) };
      };
      const [one, other] = [make(), make()];
      for (let t = 1; t <= 3; ++t) one.optimizer.step(gradientsOf(t));
      one.optimizer.learningRate = 0.05;
      const { tensors, ...rest } = one.optimizer.stateDict();
      const file = safetensors.read(safetensors.write(tensors)).tensors;
      other.layer.loadStateDict(one.layer.stateDict());
      other.optimizer.loadStateDict({ ...rest, tensors: file });
      for (const { optimizer } of [one, other]) optimizer.step(gradientsOf(9));
      expect(other.layer.weight.toArray()).toEqual(one.layer.weight.toArray());
      expect([other.optimizer.stepCount, other.optimizer.learningRate]).toEqual([4, 0.05]);
      const names = name === "SGD" ? ["momentum_buffer"] : ["exp_avg", "exp_avg_sq"];
      expect(Object.keys(tensors)).toEqual(
        [0, 1].flatMap((i) => names.map((each) => `${i}.${each}`)),
      );
    });
  });

  test("keeps its averages through scopes, and frees them when it is disposed of", () => {
    heed().scope(() => {
      const layer = new nn.Linear(heed(), 3, 2);
      const optimizer = heed().scope(() => {
        const made = new optim.Adam(layer);
        made.step(gradientsOf(1));
        return made;
      });
      optimizer.step(gradientsOf(2));
      const averages = Object.values(optimizer.stateDict().tensors);
      expect(averages.map(({ isDisposed }) => isDisposed)).toEqual([false, false, false, false]);
      optimizer.dispose();
      optimizer.dispose();
      expect(averages.every(({ isDisposed }) => isDisposed)).toBe(true);
      expect(layer.weight.isDisposed).toBe(false);
    });
  });

  test("learns a line", () => {
    heed().scope(() => {
      const layer = new nn.Linear(heed(), 1, 1);
      const optimizer = new optim.SGD(layer, { learningRate: 0.1, momentum: 0.9 });
      const [x, y] = [heed().tensor([[-1], [0], [1]]), heed().tensor([[5], [2], [-1]])];
      let last = Infinity;
      for (let t = 0; t < 200; ++t) {
        const { value, gradients } = valueAndGrad(layer, () => {
          const error = heed().subtract(layer.forward(x), y);
          return heed().mean(heed().multiply(error, error));
        });
        optimizer.step(gradients);
        last = value;
      }
      expect(last).toBeLessThan(1e-6);
      expectClose(layer.weight, [1, 1], [-3], 1e-3);
    });
  });

  const refused: Record<string, [call: () => unknown, error: string]> = {
    "too few gradients": [
      () => new optim.SGD(new nn.Linear(heed(), 3, 2)).step([heed().ones([2, 3])]),
      "option: gradients: expected 2, one for each parameter, got 1",
    ],
    "gradients that are no list": [
      () => new optim.SGD(new nn.Linear(heed(), 3, 2)).step(1 as never),
      "option: gradients: expected 2, one for each parameter, got 1",
    ],
    "a gradient of another shape": [
      () =>
        new optim.SGD(new nn.Linear(heed(), 3, 2)).step([heed().ones([2, 3]), heed().ones([3])]),
      "shape: gradients[1]: expected [2], got [3]",
    ],
    "a gradient that was used": [
      () => {
        const optimizer = new optim.SGD(new nn.Linear(heed(), 3, 2, { bias: false }));
        const gradients = [heed().ones([2, 3])];
        optimizer.step(gradients);
        optimizer.step(gradients);
      },
      "disposed: gradients[0]: expected a live tensor, got a disposed one",
    ],
    "gradients of whole numbers": [
      () => {
        const [first, second] = [heed().ones([1]), heed().ones([1])];
        const optimizer = new optim.SGD([first, second]);
        const gradients = [heed().ones([1]), heed().tensor(Int32Array.of(1))];
        const error = refusal(() => optimizer.step(gradients));
        expect([first.toArray(), optimizer.stepCount]).toEqual([[1], 0]);
        expect(gradients.some(({ isDisposed }) => isDisposed)).toBe(false);
        throw error;
      },
      "dtype: gradients[1]: expected float32, got int32",
    ],
    "a step after its end": [
      () => {
        const optimizer = new optim.Adam([heed().ones([1])]);
        optimizer.dispose();
        const error = refusal(() => optimizer.step([heed().ones([1])]));
        expect(optimizer.stepCount).toBe(0);
        throw error;
      },
      "disposed: exp_avg: expected a live tensor, got a disposed one",
    ],
    "no parameters": [
      () => new optim.Adam([]),
      "option: parameters: expected a module or a list of different float32 tensors, one or more, got []",
    ],
    "one parameter twice": [
      () => {
        const parameter = heed().ones([1]);
        return new optim.Adam([parameter, parameter]);
      },
      "option: parameters: expected a module or a list of different float32 tensors, one or more, got [a Tensor, a Tensor]",
    ],
    "a negative learning rate": [
      () => new optim.Adam([heed().ones([1])], { learningRate: -1 }),
      "option: learningRate: expected a number of 0 or more, got -1",
    ],
    "a learning rate that is NaN, later": [
      () => {
        new optim.Adam([heed().ones([1])]).learningRate = Number.NaN;
      },
      "option: learningRate: expected a number of 0 or more, got NaN",
    ],
    "a beta of 1": [
      () => new optim.Adam([heed().ones([1])], { betas: [0.9, 1] }),
      "option: betas: expected two numbers from 0 to below 1, got [0.9, 1]",
    ],
    "torch's name for an option": [
      () => new optim.AdamW([heed().ones([1])], { lr: 1 } as never),
      "option: lr: expected an option of AdamW (learningRate, betas, eps, weightDecay), got an unknown one",
    ],
    "Nesterov's momentum without momentum": [
      () => new optim.SGD([heed().ones([1])], { nesterov: true }),
      "option: nesterov: expected a momentum and no dampening, got momentum 0 and dampening 0",
    ],
    "a state of another optimiser": [
      () => {
        const state = new optim.Adam([heed().ones([1])]).stateDict();
        new optim.SGD([heed().ones([1])], { momentum: 0.9 }).loadStateDict(state);
      },
      "option: state dict: expected the entries of the optimiser, got 1 missing: 0.momentum_buffer; 2 unexpected: 0.exp_avg, 0.exp_avg_sq",
    ],
    "a state without its steps": [
      () =>
        new optim.SGD([heed().ones([1])]).loadStateDict({ learningRate: 1, tensors: {} } as never),
      "option: stepCount: expected a whole number of 0 or more, got undefined",
    ],
    "a negative norm": [
      () => optim.clipGradNorm([heed().ones([1])], -1),
      "option: maxNorm: expected a number of 0 or more, got -1",
    ],
    "no gradients to clip": [
      () => optim.clipGradNorm([], 1),
      "option: gradients: expected a list of one tensor or more, got []",
    ],
  };
  test.each(Object.entries(refused))("refuses %s", (_, [call, error]) => {
    heed().scope(() => {
      const { code, message } = refusal(call);
      expect(`${code}: ${message}`).toBe(error);
    });
  });
});

describe("schedules", () => {
  const at = (schedule: optim.Schedule, ...steps: number[]) => steps.map(schedule);
  const expectNear = (got: number[], expected: number[]) => {
    for (const [i, value] of expected.entries()) expect(got[i]).toBeCloseTo(value, 12);
  };

  test("constant", () => {
    expect(at(optim.constant(), 1, 2, 1e9)).toEqual([1, 1, 1]);
    expectNear(at(optim.constant({ warmupSteps: 4 }), 1, 2, 4, 5), [0.25, 0.5, 1, 1]);
  });

  test("warm-up and cosine", () => {
    const schedule = optim.warmupCosine({ warmupSteps: 10, totalSteps: 110, floor: 0.1 });
    expectNear(at(schedule, 1, 5, 10, 60, 110, 500), [0.1, 0.5, 1, 0.55, 0.1, 0.1]);
    expectNear(at(schedule, 35), [0.1 + 0.45 * (1 + Math.SQRT1_2)]);
    expectNear(at(optim.warmupCosine({ warmupSteps: 0, totalSteps: 2 }), 1, 2), [0.5, 0]);
  });

  test("warm-up and inverse square root, the one of Vaswani et al.", () => {
    const [dModel, warmupSteps] = [512, 4000];
    const schedule = optim.warmupInverseSquareRoot({ warmupSteps });
    const peak = 1 / Math.sqrt(dModel * warmupSteps);
    for (const step of [1, 100, 4000, 4001, 1e5]) {
      const paper = dModel ** -0.5 * Math.min(step ** -0.5, step * warmupSteps ** -1.5);
      expect((peak * schedule(step)) / paper).toBeCloseTo(1, 12);
    }
  });

  test("refuse numbers outside their range", () => {
    expect(refusal(() => optim.warmupCosine({ warmupSteps: 5, totalSteps: 5 })).message).toBe(
      "totalSteps: expected a whole number of 6 or more, got 5",
    );
    expect(refusal(() => optim.warmupInverseSquareRoot({ warmupSteps: 0 })).message).toBe(
      "warmupSteps: expected a whole number of 1 or more, got 0",
    );
    expect(refusal(() => optim.constant({ warmupSteps: 0.5 })).message).toBe(
      "warmupSteps: expected a whole number of 0 or more, got 0.5",
    );
  });
});
