// Attention over 16,384 tokens in a page, computed in tiles: a whole matrix of scores would take 8 GiB.

import { load, type Tensor } from "heed";
import { expect, test } from "vitest";
import { attention, rowsOf, type Values } from "../oracle.js";
import { expectClose, Random } from "../values.js";

type Floats = Values & { data: Float32Array };

const MiB = 2 ** 20;
const [H, L, D] = [8, 16_384, 64];

/** Watches the memory that the next engine creates. */
function watchMemory(): { bytes(): number; stop(): void } {
  const Original = WebAssembly.Memory;
  const made: WebAssembly.Memory[] = [];
  WebAssembly.Memory = class extends Original {
    constructor(descriptor: WebAssembly.MemoryDescriptor) {
      super(descriptor);
      made.push(this);
    }
  };
  return {
    bytes: () => made.reduce((sum, memory) => sum + memory.buffer.byteLength, 0),
    stop: () => {
      WebAssembly.Memory = Original;
    },
  };
}

test("8 heads x 16,384 tokens x 64 need no more than 200 MB beside their tensors", async ({
  annotate,
}) => {
  const memory = watchMemory();
  const heed = await load({ threads: 2, variant: "relaxed" });
  memory.stop();
  expect(heed.info.threads).toBe(2);
  const random = new Random(121);
  const shape = [1, H, L, D];
  const [q, k, v] = [1, 2, 3].map(() => random.array(shape)) as [Floats, Floats, Floats];
  const tensors = [q, k, v].map(({ data }) => heed.tensor(data, shape)) as [Tensor, Tensor, Tensor];
  const before = memory.bytes();
  expect(before).toBeGreaterThan(3 * 4 * H * L * D);

  const started = performance.now();
  const { output } = heed.attention(...tensors);
  const seconds = (performance.now() - started) / 1000;

  const beside = memory.bytes() - before - 4 * output.size;
  await annotate(
    `16,384 tokens: ${(beside / MiB).toFixed(1)} MiB beside the tensors, ${seconds.toFixed(1)} s`,
  );
  expect(beside).toBeLessThan(200e6);
  // The results are right, too: this checks the last query of each head.
  const last = (x: Values) => rowsOf(x, L - 1, L);
  const got = last({ data: output.data, shape });
  using row = heed.tensor(Float32Array.from(got.data), got.shape);
  expectClose(row, [1, H, 1, D], attention({ q: last(q), k, v }).output);
  heed.dispose();
}, 180_000);
