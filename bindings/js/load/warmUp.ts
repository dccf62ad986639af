// Browsers compile a WebAssembly function twice: quickly at its first call, and with optimisation after it has
// run for a while. A call that is already running stays in the slow code (V8, "Dynamic tiering", 2021), so a
// first large attention takes three times as long as the next. A few small ones before it trigger the
// optimisation of its kernels.

import { pause } from "../core/pause.js";
import type { Heed } from "../heed.js";

/** Milliseconds. */
const sliceTime = 3;
const slices = 3;
/** After this many calls the kernels are compiled with optimisation, or never will be. */
const mostCalls = 100;

/** Attends with a whole register block of queries and a few of keys, in short calls. */
export async function warmUp(heed: Heed): Promise<void> {
  const make = (rows: number) => heed.tensor(new Float32Array(rows * 32), [1, 1, rows, 32]);
  const [q, k] = [make(12), make(64)];
  for (let slice = 0, calls = 0; slice < slices && calls < mostCalls; ++slice) {
    const end = performance.now() + sliceTime;
    for (; calls < mostCalls && performance.now() < end; ++calls) {
      heed.attention(q, k, k).output.dispose();
    }
    await pause();
  }
  q.dispose();
  k.dispose();
}
