// Runs one function of a module in several threads at the same time.

const [turn, working] = [0, 1]; // indices in `control`

/** How to run a thread's share; shared with thread.mjs. */
export function shareOf({ bytes, memory, share }) {
  const { r } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { m: { m: memory } })
    .exports;
  return () => r(...share);
}

/** The loop of a thread until the page closes: it runs its share in each turn. */
export function work(control, run) {
  for (let done = 0; ; ++done) {
    Atomics.wait(control, turn, done);
    run();
    Atomics.sub(control, working, 1);
    Atomics.notify(control, working);
  }
}

/**
 * @param {Uint8Array} bytes a module that exports r
 * @param {number[][]} shares the arguments of r, for each thread; the first is the calling one
 * @param {(result: number) => boolean} isRight checks the result of r in the calling thread
 * @returns a function that runs all shares and returns after the last one
 */
export async function startTogether(bytes, shares, isRight, memory) {
  const control = new Int32Array(new SharedArrayBuffer(8));
  const [own, ...others] = shares.map((share) => ({ bytes, memory, share, control }));
  for (const other of others) {
    const thread = new Worker(new URL("thread.mjs", import.meta.url), { type: "module" });
    await new Promise((resolve, reject) => {
      thread.onmessage = resolve;
      thread.onerror = ({ message }) => reject(new Error(message ?? "a thread did not start"));
      thread.postMessage(other);
    });
  }
  const run = shareOf(own);
  return () => {
    Atomics.store(control, working, others.length);
    Atomics.add(control, turn, 1);
    Atomics.notify(control, turn);
    const result = run();
    for (let left = Atomics.load(control, working); left > 0; ) {
      Atomics.wait(control, working, left);
      left = Atomics.load(control, working);
    }
    if (!isRight(result)) throw new Error(`a limit's loop: expected another result than ${result}`);
  };
}
