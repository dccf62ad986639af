// Rotary position embedding, compared with rotations in double precision.

import type { RopeOptions } from "heed";
import { expect, test } from "vitest";
import { floats } from "../compare.js";
import { describeEngines } from "../engine.js";
import { rotated, type Turn } from "../layer_oracle.js";
import { joinHeads, splitHeads, type Values } from "../oracle.js";
import { expectClose, expectSameBits, Random } from "../values.js";

const [B, H, L, D] = [2, 3, 7, 12];

describeEngines((heed) => {
  function expectTurned(x: Values, options: RopeOptions, turn: Omit<Turn, "style" | "rotarySize">) {
    heed().scope(() => {
      const same = {
        ...(options.style && { style: options.style }),
        ...(options.rotarySize && { rotarySize: options.rotarySize }),
      };
      const y = heed().rope(floats(heed(), x), options);
      expectClose(y, x.shape, rotated(x, { ...turn, ...same }).data, 1e-6);
    });
  }

  test("accepts a position for each row", () => {
    const random = new Random(104);
    const x = random.array([B, H, L, D]);
    const positions = Array.from({ length: B * L }, () => random.whole(-10, 5000));
    heed().scope(() => {
      const positionIds = heed().tensor(Int32Array.from(positions), [B, L]);
      const angle = (b: number, i: number, c: number) =>
        (positions[b * L + i] as number) * 10000 ** ((-2 * c) / D);
      expectTurned(x, { positionIds }, { angle });
    });
  });

  test("accepts tables instead of the base, indexed by offset or by position", () => {
    const random = new Random(105);
    const x = random.array([B, H, L, D]);
    const angles = random.array([20, D / 2], 3);
    heed().scope(() => {
      const table = (f: (x: number) => number) =>
        heed().tensor(Float32Array.from(angles.data, f), angles.shape);
      const [cos, sin] = [table(Math.cos), table(Math.sin)];
      const at = (position: number, c: number) => angles.data[(position * D) / 2 + c] as number;
      expectTurned(x, { cos, sin }, { angle: (_, i, c) => at(i, c) });
      expectTurned(x, { cos, sin, offset: 13 }, { angle: (_, i, c) => at(13 + i, c) });
      const positions = Array.from({ length: B * L }, () => random.whole(0, 19));
      const positionIds = heed().tensor(Int32Array.from(positions), [B, L]);
      const angle = (b: number, i: number, c: number) => at(positions[b * L + i] as number, c);
      expectTurned(x, { cos, sin, positionIds }, { angle });
    });
  });

  test("accepts tables with one row for each row of x", () => {
    const random = new Random(106);
    const x = random.array([B, H, L, D]);
    const angles = random.array([B, L, 2], 3);
    heed().scope(() => {
      const table = (f: (x: number) => number) =>
        heed().tensor(Float32Array.from(angles.data, f), angles.shape);
      const [cos, sin] = [table(Math.cos), table(Math.sin)];
      const angle = (b: number, i: number, c: number) => angles.data[(b * L + i) * 2 + c] as number;
      expectTurned(x, { cos, sin, rotarySize: 4, style: "interleaved" }, { angle });
    });
  });

  test("accepts [B, L, H*D] with heads", () => {
    const x = new Random(107).array([B, L, H * D]);
    const turned = rotated(splitHeads(x, H), { angle: (_, i, c) => i * 10000 ** ((-2 * c) / D) });
    heed().scope(() => {
      const y = heed().rope(floats(heed(), x), { heads: H });
      expectClose(y, x.shape, joinHeads(turned).data, 1e-6);
    });
  });

  test("makes scores depend on the distance alone", () => {
    const random = new Random(108);
    heed().scope(() => {
      const [q, k] = [0, 1].map(() => floats(heed(), random.array([1, 1, L, D])));
      const scores = (offset: number) => {
        const turn = (x: typeof q) => heed().rope(x as NonNullable<typeof q>, { offset });
        return heed()
          .attention(turn(q), turn(k), turn(k), { capture: "scores" })
          .capture.data.slice();
      };
      const far = scores(300);
      for (const [i, score] of scores(0).entries()) expect(far[i]).toBeCloseTo(score, 4);
    });
  });

  test("leaves a row at position 0 and its input unchanged, bit for bit", () => {
    const x = new Random(109).array([1, 1, 1, D]);
    heed().scope(() => {
      const before = floats(heed(), x);
      expectSameBits(heed().rope(before).data, x.data);
      heed().rope(before, { offset: 3 });
      expectSameBits(before.data, x.data);
    });
  });

  test("accepts sizes of 0", () => {
    heed().scope(() => {
      const nothing = heed().tensor(new Float32Array(), [1, 2, 0, 4]);
      expect(heed().rope(nothing).shape).toEqual([1, 2, 0, 4]);
    });
  });
});
