/** The logits after some tokens, the largest first. */
import type { Heed, Tensor } from "heed";
import type { SortedLogits } from "../shared/candidates";

/** Sorts the logits [1, L, V] of some places at a time, so that the worker can handle other messages between. */
export async function* sortedLogits(
  heed: Heed,
  logits: Tensor,
  pause: () => Promise<void>,
): AsyncGenerator<SortedLogits> {
  const [, count, size] = logits.shape as [number, number, number];
  const most = 16;
  for (let start = 0; start < count; start += most) {
    const length = Math.min(most, count - start);
    const rows = heed.scope(() => {
      const { values, indices } = heed.topK(heed.slice(logits, { axis: 1, start, length }), size);
      return [values.data.slice() as Float32Array, indices.data.slice() as Int32Array] as const;
    });
    for (let i = 0; i < length; ++i) {
      const [values, ids] = [rows[0], rows[1]].map((all) => all.subarray(i * size, (i + 1) * size));
      yield { values, ids } as SortedLogits;
    }
    await pause();
  }
}
