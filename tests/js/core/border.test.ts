// The border (bindings/js/core/border.ts) passes bare numbers. The build prints from C++ how TypeScript writes
// structs and enumerations as numbers (constants.ts and members.ts); these tests call the border without the
// argument checks of the operations.

import type { Heed, Tensor } from "heed";
import { describe, expect, test } from "vitest";
import { dtypes } from "../../../dist/core/constants.js";
import type { Engine } from "../../../dist/core/engine.js";
import * as members from "../../../dist/core/members.js";
import { describeEngines, refusal } from "../engine.js";
import { expectSameBits, expectWorks } from "../values.js";

const engineOf = (heed: Heed) => (heed as unknown as { engine: Engine }).engine;

type Operation = keyof Engine["module"];

/** Adds a struct without any member to the arguments of a call. */
type WithNothing = (engine: Engine, args: number[]) => number[];

/** How to write each struct that ends the arguments of an operation, if all its members have defaults. */
const withNothing: Readonly<Partial<Record<Operation, WithNothing>>> = {
  adamStep: (_, args) => members.withAdamOptions(args, {} as never),
  attention: (engine, args) => members.withAttentionOptions(engine, args, {} as never),
  average: (engine, args) => members.withAverageOptions(engine, args, {} as never),
  crossEntropy: (_, args) => members.withCrossEntropyOptions(args, {} as never),
  layerNorm: (engine, args) => members.withLayerNormOptions(engine, args, {} as never),
  linearAttention: (engine, args) => members.withLinearAttentionOptions(engine, args, {} as never),
  linearBackward: (_, args) => members.withLinearGradientOptions(args, {} as never),
  matmul: (_, args) => members.withMatmulOptions(args, {} as never),
  newKvCache: (_, args) => members.withKvCacheOptions(args, {} as never),
  nonLocalMeans: (_, args) => members.withNonLocalMeansOptions(args, {} as never),
  rmsNorm: (engine, args) => members.withRmsNormOptions(engine, args, {} as never),
  rope: (engine, args) => members.withRopeOptions(engine, args, {} as never),
  sample: (_, args) => members.withSampleOptions(args, {} as never),
  sgdStep: (_, args) => members.withSgdOptions(args, {} as never),
  sinusoidalEncoding: (_, args) => members.withSinusoidalOptions(args, {} as never),
};

describeEngines((heed) => {
  const run = (operation: Operation, args: readonly number[]) => {
    const engine = engineOf(heed());
    return engine.run(engine.module[operation] as never, args);
  };

  // The argument checks of the TypeScript code reject all of these.
  test.each([1e300, -1e300, 2 ** 63, Infinity, Number.NaN, 0.5])(
    "%d is refused where C++ reads a whole number",
    (given) => {
      const error = refusal(() => run("sinusoidalEncoding", [2, given, 1e4, 0]));
      expect(error.message).toMatch(
        /^argument 2: expected a whole number from -9\.22\S+ to 9\.22\S+, got \S+$/,
      );
      expect(error.code).toBe("option");
      expectWorks(heed());
    },
  );

  test.each([-1, 0.5, dtypes.length, Number.NaN])(
    "%d is refused where C++ reads an enumerator",
    (given) => {
      const error = refusal(() => run("newTensor", [given, 1, 2]));
      expect(error.message).toBe(`argument 1: expected a whole number from 0 to 4, got ${given}`);
      expect(error.code).toBe("option");
      expectWorks(heed());
    },
  );

  test.each([
    ["more", [2]],
    ["more", [2, 4, 1e4]],
    ["fewer", [2, 4, 1e4, 0, 0]],
  ])("C++ expects %s arguments than %j", (expected, args) => {
    const error = refusal(() => run("sinusoidalEncoding", args));
    expect(error.message).toBe(`border: expected ${expected} arguments`);
    expect(error.code).toBe("internal");
    expectWorks(heed());
  });

  describe("members that are not given have the values that they have in C++:", () => {
    /** Runs an operation, and returns the elements of a tensor that it made or changed. */
    function outcome(operation: Operation, hasStruct: boolean): Tensor["data"] {
      return heed().scope(() => {
        const engine = engineOf(heed());
        const made = (seed: number, ...shape: number[]) => heed().uniform(shape, { seed });
        const [x, y] = [made(1, 2, 2, 2, 4), made(2, 2, 2, 2, 4)];
        const [matrix, image] = [made(3, 8, 4), made(4, 20, 20)];
        const classes = heed().tensor(Int32Array.of(0, 1, 2, 3, 0, 1, 2, 3), [8]);
        const handles = (...tensors: Tensor[]) => tensors.map((t) => engine.handle("x", t));
        const inputs: Partial<Record<Operation, () => number[]>> = {
          adamStep: () => [...handles(x, y, made(5, 2, 2, 2, 4), made(6, 2, 2, 2, 4)), 1],
          attention: () => handles(x, y, x),
          average: () => handles(made(5, 2, 4, 4)),
          crossEntropy: () => handles(matrix, classes),
          linearAttention: () => handles(x, y, x),
          linearBackward: () => handles(matrix, matrix, made(5, 4, 4)),
          matmul: () => handles(x, made(5, 2, 2, 4, 2)),
          nonLocalMeans: () => handles(image),
          sample: () => handles(matrix),
          sgdStep: () => [...handles(x, y), 0, 1],
          sinusoidalEncoding: () => [3, 4],
        };
        const args = inputs[operation]?.() ?? handles(x);
        run(operation, hasStruct ? (withNothing[operation] as WithNothing)(engine, args) : args);
        const changed = operation === "sgdStep" || operation === "adamStep";
        return (changed ? x : (engine.tensor() as unknown as Tensor)).data.slice();
      });
    }

    test.each((Object.keys(withNothing) as Operation[]).filter((name) => name !== "newKvCache"))(
      "%s",
      (operation) => {
        const given = outcome(operation, true);
        expect(given.length).toBeGreaterThan(0);
        expectSameBits(given, outcome(operation, false));
      },
    );

    test("newKvCache, which refuses them", () => {
      const engine = engineOf(heed());
      const args = withNothing.newKvCache?.(engine, []) ?? [];
      expect(args.length).toBeGreaterThan(0);
      const { message } = refusal(() => run("newKvCache", args));
      expect(message).toBe(refusal(() => run("newKvCache", [])).message);
    });
  });
});

test("the defaults of every struct of options are compared", () => {
  // No operation has them as its last argument, or only together with other structs.
  const others = ["AttentionGradientOptions", "GruOptions", "MultiHeadAttentionOptions"];
  const printed = Object.keys(members).filter((name) => /^with\w+Options$/.test(name));
  const compared = Object.values(withNothing).join();
  expect(printed.length).toBeGreaterThan(others.length);
  expect(printed.filter((name) => !compared.includes(`.${name}(`))).toEqual(
    others.map((name) => `with${name}`),
  );
});

test("the type checker finds a member that is forgotten, misspelled or of another type", () => {
  const matmul = { transposeA: true, transposeB: undefined };
  expect(members.withMatmulOptions([7], matmul)).toEqual([7, 1, 0]);
  // @ts-expect-error transposeB is missing
  members.withMatmulOptions([], { transposeA: true });
  // @ts-expect-error transposeB is misspelled
  members.withMatmulOptions([], { transposeA: true, transposeb: false });
  // @ts-expect-error there is no transposeC
  members.withMatmulOptions([], { ...matmul, transposeC: false });
  // @ts-expect-error a number
  members.withMatmulOptions([], { transposeA: 1, transposeB: false });

  const loss = { ignoreIndex: undefined, labelSmoothing: 0.5 };
  const none = members.withCrossEntropyOptions([], { ...loss, reduction: "none" });
  expect(none).toEqual([Number.NaN, 0.5, 2]);
  // @ts-expect-error an enumerator that does not exist
  members.withCrossEntropyOptions([], { ...loss, reduction: "all" });
});
