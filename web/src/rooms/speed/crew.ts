/** Starts threads that run the same loop at the same time: this thread, and one worker for each other thread. */
import { type CrewMember, type Loops, nextTurn, repeats, runner, turn, working } from "./crewTurns";

export interface Crew {
  /** Runs a loop, or reads the memory, `count` times in each thread. Returns when all threads are done. */
  run(loop: number, threads: number, count: number): void;
}

function startMember(message: CrewMember): Promise<void> {
  const worker = new Worker(new URL("./crew.worker.ts", import.meta.url), {
    type: "module",
    name: "loop",
  });
  return new Promise((resolve, reject) => {
    worker.onmessage = () => resolve();
    worker.onerror = ({ message }) => reject(new Error(message || "a thread did not start"));
    worker.postMessage(message);
  });
}

/** The workers end together with the thread that started them. */
export async function startCrew(loops: Loops, threads: number): Promise<Crew> {
  const own = runner(loops, 0);
  if (threads === 1) return { run: (loop, _, count) => own({ loop, threads: 1 }, count) };
  const control = new Int32Array(new SharedArrayBuffer(12));
  await Promise.all(
    Array.from({ length: threads - 1 }, (_, i) => startMember({ ...loops, control, index: i + 1 })),
  );
  return {
    run(loop, threads, count) {
      const now = { loop, threads };
      Atomics.store(control, repeats, count);
      Atomics.store(control, working, threads - 1);
      Atomics.store(control, turn, nextTurn(Atomics.load(control, turn), now));
      Atomics.notify(control, turn);
      own(now, count);
      for (let left = Atomics.load(control, working); left > 0; ) {
        Atomics.wait(control, working, left);
        left = Atomics.load(control, working);
      }
    },
  };
}
