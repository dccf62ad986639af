/** Both sides of the worker's protocol, without a worker: the page's engine and the worker's dispatcher. */
import type { Heed } from "heed";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { EngineClient } from "../../web/src/worker/engineClient";
import type { FromWorker, ToWorker } from "../../web/src/worker/protocol";
import type { RequestOf } from "../../web/src/worker/solvers";
import { buffersIn, dispatcher } from "../../web/src/worker/worker";

const info = { version: "0", variant: "simd", threads: 1, reason: null };

class FakeWorker {
  static all: FakeWorker[] = [];
  readonly sent: ToWorker[] = [];
  isEnded = false;
  onmessage: ((event: { data: FromWorker }) => void) | null = null;
  onerror: ((event: { message: string; preventDefault(): void }) => void) | null = null;
  constructor() {
    FakeWorker.all.push(this);
  }
  postMessage(message: ToWorker): void {
    this.sent.push(message);
  }
  terminate(): void {
    this.isEnded = true;
  }
  says(data: FromWorker): void {
    this.onmessage?.({ data });
  }
}

// The dispatcher needs no engine of its own: it only hands it on.
const heed = {} as Heed;
const request = {} as RequestOf<"steps">;
const settled = () => new Promise((resolve) => setTimeout(resolve));

describe("The page's engine", () => {
  beforeEach(() => {
    FakeWorker.all = [];
    vi.stubGlobal("Worker", FakeWorker);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  test("keeps what it is asked until it has started, and brings answers to those who asked", async () => {
    const engine = new EngineClient();
    const worker = FakeWorker.all[0] as FakeWorker;
    const first = engine.ask("steps", request);
    const second = engine.ask("steps", request);
    await settled();
    expect(worker.sent).toEqual([]);
    worker.says({ ready: info });
    expect(await engine.started).toEqual(info);
    await settled();
    expect(worker.sent).toEqual([1, 2].map((id) => ({ id, solver: "steps", request })));
    worker.says({ id: 2, answer: "two" });
    worker.says({ id: 1, refused: "too large" });
    expect(await second).toBe("two");
    await expect(first).rejects.toThrow("The engine could not compute this: too large");
  });

  test("passes progress on, and cancels what is no longer wanted", async () => {
    const engine = new EngineClient();
    const worker = FakeWorker.all[0] as FakeWorker;
    worker.says({ ready: info });
    const controller = new AbortController();
    const news: unknown[] = [];
    const options = { signal: controller.signal, progress: (part: never) => news.push(part) };
    const answer = engine.ask("steps", request, options);
    await settled();
    worker.says({ id: 1, progress: "half" });
    controller.abort(new Error("no longer"));
    worker.says({ id: 1, progress: "late" });
    worker.says({ id: 1, answer: "late" });
    await expect(answer).rejects.toThrow("no longer");
    expect(news).toEqual(["half"]);
    expect(worker.sent.at(-1)).toEqual({ id: 1, cancel: true });
  });

  test("starts a rival after five seconds, keeps the first that is ready and ends the other", async () => {
    vi.useFakeTimers();
    const engine = new EngineClient();
    await vi.advanceTimersByTimeAsync(5000);
    const [slow, fast] = FakeWorker.all as [FakeWorker, FakeWorker];
    slow.says({ failed: "out of memory" });
    fast.says({ ready: info });
    expect(await engine.started).toEqual(info);
    expect([slow.isEnded, fast.isEnded]).toEqual([true, false]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(FakeWorker.all).toHaveLength(2);
  });

  test("says why when it cannot start, when it stops, and when it was ended", async () => {
    const broken = new EngineClient();
    FakeWorker.all[0]?.says({ failed: "no WebAssembly" });
    await expect(broken.ask("steps", request)).rejects.toThrow(
      "The engine could not start: no WebAssembly",
    );
    const stopped = new EngineClient();
    FakeWorker.all[1]?.says({ ready: info });
    const answer = stopped.ask("steps", request);
    await settled();
    FakeWorker.all[1]?.onerror?.({ message: "trap", preventDefault() {} });
    await expect(answer).rejects.toThrow("The engine has stopped: trap");
    const ended = new EngineClient();
    ended.dispose();
    expect(FakeWorker.all[2]?.isEnded).toBe(true);
    await expect(ended.ask("steps", request)).rejects.toThrow("The engine was ended.");
  });
});

describe("The worker", () => {
  function dispatchTo(solver: unknown) {
    const said: FromWorker[] = [];
    const load = vi.fn(async () => ({ default: solver }));
    const dispatch = dispatcher(heed, { steps: load }, (message) => said.push(message));
    return { said, load, dispatch };
  }

  test("loads a solver on its first request, and answers or says why not", async () => {
    const { said, load, dispatch } = dispatchTo((n: number) => {
      if (n < 0) throw new RangeError("n: expected at least 0");
      return n + 1;
    });
    expect(load).not.toHaveBeenCalled();
    dispatch({ id: 1, solver: "steps", request: 1 });
    await expect.poll(() => said).toEqual([{ id: 1, answer: 2 }]);
    dispatch({ id: 2, solver: "steps", request: -1 });
    await expect.poll(() => said.at(-1)).toEqual({ id: 2, refused: "n: expected at least 0" });
  });

  test("handles a cancel while a solver pauses, and sends nothing more", async () => {
    let steps = 0;
    const { said, dispatch } = dispatchTo(
      async (_: unknown, context: { progress(n: number): void; pause(): Promise<void> }) => {
        for (;;) {
          context.progress(++steps);
          await context.pause();
        }
      },
    );
    dispatch({ id: 1, solver: "steps", request: null });
    await expect.poll(() => steps).toBeGreaterThan(2);
    dispatch({ id: 1, cancel: true });
    await settled();
    const count = steps;
    await settled();
    expect(steps).toBe(count);
    expect(said).toEqual(Array.from({ length: count }, (_, i) => ({ id: 1, progress: i + 1 })));
  });

  test("transfers each buffer of an answer once", () => {
    const shared = new Float32Array(2);
    const other = new Uint8Array(1);
    const answer = { a: shared, b: [shared.subarray(1), { c: other }], d: "text", e: null };
    expect([...buffersIn(answer)]).toEqual([shared.buffer, other.buffer]);
  });
});
