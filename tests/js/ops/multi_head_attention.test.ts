import type { Tensor } from "heed";
import { Tape } from "heed/nn";
import { expect, test } from "vitest";
import { describeEngines } from "../engine.js";
import { Random, upload } from "../values.js";

describeEngines((heed) => {
  test("reads no key that either mask hides, on a tape and with dropout too", () => {
    const random = new Random(64);
    const query = random.array([2, 3, 4]);
    const key = random.array([2, 3, 4]);
    const weights = [random.array([12, 4]), random.array([4, 4])] as const;
    const keyMask = { data: Uint8Array.of(1, 1, 0, 1, 1, 1), shape: [2, 3] };
    const bool = { data: Uint8Array.of(1, 1, 1, 1, 0, 1, 1, 1, 1), shape: [3, 3] };
    const short = { data: Uint8Array.of(1, 1, 0, 1, 1, 1), shape: [3, 2] };
    const float = { data: Float32Array.of(1, 2, 0, 3, 1, 2, 0, 1, 2), shape: [3, 3] };
    for (const mask of [undefined, bool, short, float]) {
      const run = (hidden: number, dropout: number) => {
        const k = { data: key.data.slice(), shape: key.shape };
        k.data.fill(hidden, 8, 12);
        return heed().scope(() => {
          const [q, keys] = [upload(heed(), query), upload(heed(), k)];
          const [inProjWeight, outProjWeight] = weights.map((weight) => upload(heed(), weight)) as [
            Tensor,
            Tensor,
          ];
          const options = {
            ...{ heads: 2, dropout, seed: 3, keyMask: upload(heed(), keyMask) },
            ...(mask && { mask: upload(heed(), mask) }),
          };
          const attend = () =>
            heed().multiHeadAttention(q, keys, keys, { inProjWeight, outProjWeight }, options)
              .output;
          return [attend(), new Tape([q]).run(attend)].map((output) => output.data.slice());
        });
      };
      for (const dropout of [0, 0.3]) {
        const [plain, taped] = run(0, dropout);
        for (const hidden of [Number.NaN, Infinity]) {
          // The results need not be equal bit by bit: in the relaxed binary the last bit may differ.
          const far = run(hidden, dropout).flatMap((output, i) =>
            [...output].map((x, n) => Math.abs(x - ((i === 0 ? plain : taped)?.[n] as number))),
          );
          expect(far.every((distance) => distance < 1e-5)).toBe(true);
        }
      }
    }
  });
});
