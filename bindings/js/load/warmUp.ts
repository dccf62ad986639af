// Browsers compile a WebAssembly function twice: quickly at its first call, and with optimisation
// after it has run for a while. A call that is already running stays in the slow code (V8, "Dynamic
// tiering", 2021), so the first large attention takes several times as long as the next. A few
// small attentions before it trigger the optimisation of its kernels. The tables "Start" of
// tests/bench/RESULTS.md have both times.

import { pause } from "../core/pause.js";
import type { Heed } from "../heed.js";

/** The duration of a slice in milliseconds. */
const sliceTime = 3;
const slices = 3;
/**
 * The largest number of calls. If the kernels are not compiled with optimisation after these calls,
 * they never will be.
 */
const mostCalls = 100;
const size = 16;

const page = 4096;
const touched = 8 * 2 ** 20;

/**
 * Writes to the first megabytes of a new memory, so that the operating system provides them while
 * the binary is fetched. Otherwise it provides each page of 4 KB when the first large call writes
 * to it, which takes a third of that call.
 */
export function touch(memory: WebAssembly.Memory): void {
  const bytes = new Uint8Array(memory.buffer, 0, touched);
  for (let at = 0; at < touched; at += page) bytes[at] = 0;
}

/**
 * Computes attention with one tile of queries and one of keys, in short calls. With small heads,
 * the exponentials take as much time as the products, so the functions of both become hot at about
 * the same time.
 */
export async function warmUp(heed: Heed): Promise<void> {
  const make = (rows: number) => heed.tensor(new Float32Array(rows * size), [1, 1, rows, size]);
  const [q, k] = [make(48), make(128)];
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
