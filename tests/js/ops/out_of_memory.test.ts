// Out of memory at each allocation, tested through the border. No binary has a hook for this. The test fills the memory
// with a ballast of small tensors and frees them one by one. An operation then fails at its first allocation, later at
// its second, and so on, until it succeeds. tests/cpp/out_of_memory_test.cpp does the same with an allocator that
// fails.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Heed, HeedError, load, type Tensor, type TensorData } from "heed";
import { grad } from "heed/nn";
import { describe, expect, test } from "vitest";
import { cacheMethods, methodOf, methods } from "../calls/methods.js";
import { variants } from "../engine.js";
import { expectSameBits, expectWorks, sizeOf } from "../values.js";

const dist = join(import.meta.dirname, "../../../dist");
const variant = variants[0] as (typeof variants)[number];
const compiled = readFile(join(dist, `heed-${variant}.wasm`)).then((bytes) =>
  WebAssembly.compile(bytes),
);

/** Everything that a call made, in order: tensors and other objects to dispose of. */
function madeBy(result: unknown): { dispose(): void }[] {
  if (result === null || typeof result !== "object") return [];
  if ("dispose" in result) return [result as { dispose(): void }];
  return Object.values(result).flatMap(madeBy);
}

const bitsOf = (result: unknown) =>
  madeBy(result).flatMap((made) => ("data" in made ? [(made as Tensor).data.slice()] : []));

const free = (result: unknown) => {
  for (const made of madeBy(result)) made.dispose();
};

function untilFull(make: () => Tensor): Tensor[] {
  const made: Tensor[] = [];
  try {
    for (;;) made.push(make());
  } catch (error) {
    if (!(error instanceof HeedError) || error.code !== "memory") throw error;
    return made;
  }
}

/** Makes tensors of these numbers of floats, of each until there is no room for another. */
function exhaust(heed: Heed, ...sizes: number[]): Tensor[][] {
  return sizes.map((size) => untilFull(() => heed.tensor(new Float32Array(size))));
}

/**
 * Small tensors that fill the memory. They are next to each other in its last part, so that freed tensors become one
 * gap. Before them in the list are tensors that share their elements: they fill the gaps that are too small for
 * elements.
 */
function ballast(heed: Heed): Tensor[] {
  const [large = [], middle = []] = exhaust(heed, 2 ** 18, 2 ** 14, 2 ** 10, 2 ** 6, 1);
  for (const tensor of [...large.slice(-2), ...middle.slice(-2)]) tensor.dispose();
  const small = exhaust(heed, 1)[0] as Tensor[];
  const crumbs = untilFull(() => heed.reshape(small[0] as Tensor, [1]));
  return [...crumbs, ...small];
}

function fillerOf(heed: Heed, floats: number): Tensor | undefined {
  try {
    return heed.tensor(new Float32Array(floats));
  } catch {
    return undefined;
  }
}

type Make = (...shape: number[]) => Tensor;
type Prepare = (heed: Heed, make: Make) => () => unknown;

const ofTable = Object.entries(methods).map(([title, make]): [string, Prepare] => [
  title,
  (heed, t) => {
    const args = make(heed, t);
    const name = methodOf(title) as keyof Heed;
    return () => (heed[name] as (...all: readonly unknown[]) => unknown).apply(heed, [...args]);
  },
]);

const ofCaches = Object.entries(cacheMethods).map(([name, make]): [string, Prepare] => [
  `${name} of a cache`,
  (heed, t) => {
    const cache = heed.createKvCache({ batch: 2, heads: 1, headSize: 3, capacity: 200 });
    cache.append(t(2, 1, 2, 3), t(2, 1, 2, 3));
    const args = make(heed, t);
    return () => (cache[name as "rewind"] as (...all: readonly unknown[]) => unknown)(...args);
  },
]);

const more: [string, Prepare][] = [
  [
    "gradients of attention and a layer",
    (heed, t) => {
      const [x, weight] = [t(1, 1, 3, 4), t(4, 4)];
      const attend = (): Tensor =>
        heed.sum(heed.attention(heed.linear(x, weight), x, x, { isCausal: true }).output);
      return () => grad([x, weight], attend);
    },
  ],
];

// A method's own objects, which are no operations.
const calls = [...ofTable, ...ofCaches, ...more].filter(([title]) => !/^(scope|keep)$/.test(title));

/** A call with its arguments, on a new engine with little memory and no scratch memory yet. */
async function prepared(prepare: Prepare) {
  const options = { variant, wasm: await compiled, threads: 1, warmUp: false } as const;
  const heed = await load({ ...options, maxMemory: 16 * 2 ** 20 });
  const make: Make = (...shape) => heed.tensor(new Float32Array(sizeOf(shape)).fill(1), shape);
  return { heed, call: prepare(heed, make) };
}

/** Makes a call with ever more memory until there is enough, and returns how often there was not. */
function walk(heed: Heed, call: () => unknown, wanted: readonly TensorData[]): number {
  const fill = ballast(heed);
  const heldBy = () => {
    const { tensors, caches, packedWeights, blockMasks, used } = heed.memory();
    const counts = [tensors, caches, packedWeights, blockMasks].map(({ count }) => count);
    return { counts, used };
  };
  let failures = 0;
  /** Makes the call, and returns whether there was memory for it. */
  const attempt = (): boolean => {
    const before = heldBy();
    let result: unknown;
    try {
      result = call();
    } catch (error) {
      if (!(error instanceof HeedError)) throw error;
      expect(error.code).toBe("memory");
      expect(error.message).toMatch(/(^|: )memory: expected .+, got .+/);
      expect(heldBy().counts).toEqual(before.counts);
      // The engine may keep scratch memory for its next call. A second failure must not take more.
      if (++failures % 16 === 0) {
        const { used } = heldBy();
        expect(call).toThrow(HeedError);
        expect(heldBy().used).toBe(used);
      }
      return false;
    }
    const got = bitsOf(result);
    expect(got.length).toBe(wanted.length);
    for (const [i, bits] of wanted.entries()) expectSameBits(got[i], bits);
    free(result);
    return true;
  };
  for (let isDone = attempt(); !isDone; ) {
    // One at a time at first, where small objects fail; then in larger steps.
    for (let i = 0; i < (failures < 400 ? 1 : 8); ++i) {
      const last = fill.pop();
      if (last === undefined) expect.fail("the call needs more than the ballast");
      last.dispose();
    }
    // Between two tensors of the ballast: another takes most of the gap, then less of it.
    for (let floats = 48; failures < 200 && floats > 0 && !isDone; floats -= 16) {
      const filler = fillerOf(heed, floats);
      if (filler === undefined) continue;
      isDone = attempt();
      filler.dispose();
    }
    isDone ||= attempt();
  }
  for (const tensor of fill) tensor.dispose();
  return failures;
}

describe("with no memory left at one of its allocations", () => {
  test.each(calls)(
    "%s is a typed error, leaks nothing, and is right the next time",
    async (title, prepare) => {
      const plenty = await prepared(prepare);
      const wanted = bitsOf(plenty.call());
      plenty.heed.dispose();

      const { heed, call } = await prepared(prepare);
      // First without scratch memory. The second time the scratch memory of the first call exists, so only objects and
      // results are allocated.
      for (let again = 0; again < 2; ++again) {
        const failures = walk(heed, call, wanted);
        // A cache shares its memory, and shortens it, without a new allocation.
        expect(failures > 0).toBe(!/^(rewind|share)/.test(title));
      }
      expectWorks(heed);
      heed.dispose();
    },
  );
});
