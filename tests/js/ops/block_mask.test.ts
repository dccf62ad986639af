// Block masks: attention sees exactly the keys that the mask function allows, for blocks of any size.

import { type Heed, load, type MaskFunction, maskFunctions } from "heed";
import { describe, expect, test } from "vitest";
import { describeEngines, engine, refusal } from "../engine.js";
import { expectClose, Random, upload } from "../values.js";

const [L, S] = [200, 300];

/** Expects that attention with a block mask equals attention with the same dense mask. */
function expectAsDense(
  heed: Heed,
  visible: MaskFunction,
  dense: (q: number, k: number) => boolean,
): void {
  const random = new Random(71);
  heed.scope(() => {
    const q = upload(heed, random.array([2, 2, L, 8], 2));
    const k = upload(heed, random.array([2, 1, S, 8], 2));
    const v = upload(heed, random.array([2, 1, S, 8]));
    const table = new Uint8Array(L * S).map((_, i) => (dense(Math.floor(i / S), i % S) ? 1 : 0));
    expect(new Set(table).size).toBe(2);
    const mask = heed.tensor(table, [L, S], "bool");
    using blockMask = heed.blockMask(visible, { queries: L, keys: S });
    const wanted = { needWeights: true, needLse: true } as const;
    const [got, expected] = [
      heed.attention(q, k, v, { ...wanted, blockMask }),
      heed.attention(q, k, v, { ...wanted, mask }),
    ];
    for (const name of ["output", "weights", "lse"] as const)
      expectClose(got[name], expected[name].shape, expected[name].data, 1e-6);
  });
}

describeEngines((heed) => {
  describe("maskFunctions", () => {
    const documents = Array.from(
      { length: S },
      (_, i) => Math.floor(i / 70) + (i % 11 === 0 ? 9 : 0),
    );
    const ready: [name: string, visible: MaskFunction, dense: (q: number, k: number) => boolean][] =
      [
        ["causal", maskFunctions.causal(), (q, k) => k <= q],
        ["causal, with an offset", maskFunctions.causal(100), (q, k) => k <= q + 100],
        ["causal, with a negative offset", maskFunctions.causal(-60), (q, k) => k <= q - 60],
        ["window", maskFunctions.window(30, 4), (q, k) => k - q <= 4 && q - k <= 30],
        ["window, open on the left", maskFunctions.window(-1, 4), (q, k) => k - q <= 4],
        ["window, open on the right", maskFunctions.window(0, -1), (q, k) => q <= k],
        ["document", maskFunctions.document(documents), (q, k) => documents[q] === documents[k]],
        ["prefixLm", maskFunctions.prefixLm(50), (q, k) => k < 50 || k <= q],
        [
          "dilated",
          maskFunctions.dilated(3, 20),
          (q, k) => Array.from({ length: 41 }, (_, n) => q + 3 * (n - 20)).includes(k),
        ],
        [
          "and",
          maskFunctions.and(maskFunctions.causal(), maskFunctions.document(documents)),
          (q, k) => k <= q && documents[q] === documents[k],
        ],
        [
          "or",
          maskFunctions.or(maskFunctions.window(10, 0), ({ k }) => k < 4),
          (q, k) => (k <= q && q - k <= 10) || k < 4,
        ],
      ];

    test.each(ready)("%s sees what the same mask written out sees", (_, visible, dense) => {
      expectAsDense(heed(), visible, dense);
    });

    test("are all tested here", () => {
      const tested = new Set(ready.map(([name]) => name.split(",")[0]));
      expect([...tested].sort()).toEqual(Object.keys(maskFunctions).sort());
    });

    test("and() allows all pairs, or() allows none", () => {
      const place = { b: 0, h: 0, q: 5, k: 9 };
      expect(maskFunctions.and()(place)).toBe(true);
      expect(maskFunctions.or()(place)).toBe(false);
    });
  });

  test("a mask over a cache counts the cache's keys from the first", () => {
    const random = new Random(73);
    heed().scope(() => {
      const [all, next] = [random.array([1, 1, 141, 4]), random.array([1, 1, 1, 4])];
      const x = upload(heed(), all);
      using cache = heed().createKvCache({ heads: 1, headSize: 4, capacity: 200 });
      cache.append(x, x);
      const visible: MaskFunction = ({ k }) => k % 4 === 1;
      using blockMask = heed().blockMask(visible, { queries: 1, keys: 142 });
      const n = upload(heed(), next);
      const { output } = heed().attention(n, n, n, { past: cache, blockMask });
      const allowed = heed().tensor(Array.from({ length: 142 }, (_, k) => k % 4 === 1));
      const past = { key: x, value: x };
      const dense = heed().attention(n, n, n, { past, mask: allowed });
      expectClose(output, [1, 1, 1, 4], dense.output.data, 1e-6);
    });
  });
});

describe("a block mask", () => {
  test.each([
    { batch: 2 ** 40, queries: 0, keys: 5 },
    { heads: 2 ** 40, queries: 5, keys: 0 },
    { queries: 2 ** 40, keys: 0 },
    { queries: 0, keys: 2 ** 40 },
  ])("without pairs is made at once, for any other sizes: %o", (sizes) => {
    let count = 0;
    using mask = heed().blockMask(() => ++count > 0, sizes);
    expect([count, mask.density]).toEqual([0, 0]);
  });

  const heed = engine({ threads: 1 });

  test("calls its function once for each pair", () => {
    const asked = new Map<string, number>();
    const sizes = { batch: 2, heads: 3, queries: 50, keys: 130 };
    using mask = heed().blockMask(({ b, h, q, k }) => {
      const place = [b, h, q, k].join();
      asked.set(place, (asked.get(place) ?? 0) + 1);
      return true;
    }, sizes);
    expect(mask.sizes).toEqual(sizes);
    expect(asked.size).toBe(2 * 3 * 50 * 130);
    expect(new Set(asked.values())).toEqual(new Set([1]));
    expect(asked.has("1,2,49,129")).toBe(true);
  });

  test("reports the proportion of computed blocks", () => {
    const density = (visible: MaskFunction, queries: number, keys: number) => {
      using mask = heed().blockMask(visible, { queries, keys });
      return mask.density;
    };
    expect(density(() => true, 100, 300)).toBe(1);
    expect(density(() => false, 100, 300)).toBe(0);
    // One visible element makes a block visible.
    expect(density(({ q, k }) => q === 99 && k === 0, 100, 300)).toBe(1 / 9);
    // Of 8 rows of blocks, 1, 1, 2, 2, 2, 3, 3 and 3 blocks begin at or before the row's last query.
    expect(density(maskFunctions.causal(), 384, 384)).toBe((1 + 1 + 2 + 2 + 2 + 3 + 3 + 3) / 24);
    expect(density(() => true, 0, 300)).toBe(0);
  });

  test("has read-only sizes, with a batch and heads of 1 by default", () => {
    using mask = heed().blockMask(() => true, { queries: 2, keys: 3 });
    expect(mask.sizes).toEqual({ batch: 1, heads: 1, queries: 2, keys: 3 });
    expect(Object.isFrozen(mask.sizes)).toBe(true);
  });

  test("reports an exception of its function, and keeps it as the cause", () => {
    const cause = new RangeError("mine");
    const error = refusal(() =>
      heed().blockMask(
        () => {
          throw cause;
        },
        { queries: 1, keys: 1 },
      ),
    );
    expect(error.code).toBe("option");
    expect(error.cause).toBe(cause);
  });

  test("can be disposed of twice, and is refused by other engines", async () => {
    const other = await load({ threads: 1 });
    const mask = other.blockMask(() => true, { queries: 1, keys: 1 });
    heed().scope(() => {
      const x = heed().tensor([[[[1]]]]);
      const error = refusal(() => heed().attention(x, x, x, { blockMask: mask }));
      expect(error.code).toBe("option");
      expect(error.message).toBe("blockMask: expected a mask of this engine, got one of another");
    });
    mask.dispose();
    mask.dispose();
    other.dispose();
    expect(refusal(() => other.blockMask(() => true, { queries: 1, keys: 1 })).code).toBe(
      "disposed",
    );
  });
});
