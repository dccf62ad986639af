/** Both sides of the page's worker, tested without a worker: the page's engine, and the task that finds solvers. */
import { HeedError } from "heed/worker";
import { afterEach, describe, expect, test, vi } from "vitest";
import { EngineClient, type PageEngine } from "../../web/src/worker/engineClient";
import { askIn, type SolverContext } from "../../web/src/worker/solver";
import type { RequestOf } from "../../web/src/worker/solvers";

const info = { version: "0", variant: "simd", threads: 1, crossOriginIsolated: true, reason: null };

type Ask = PageEngine["tasks"]["ask"];

/** Replaces the starts of workers by promises that a test settles. */
function fakeStarts() {
  const all: {
    signal: AbortSignal;
    isDisposed: boolean;
    isReady(ask?: Ask): void;
    fails(error: Error): void;
  }[] = [];
  const start = (_: boolean, signal: AbortSignal) =>
    new Promise<PageEngine>((resolve, reject) => {
      const own = {
        signal,
        isDisposed: false,
        isReady(ask: Ask = async () => "answer") {
          const dispose = () => {
            own.isDisposed = true;
          };
          const engine = { info, tasks: { ask }, dispose };
          resolve(engine as unknown as PageEngine);
        },
        fails: reject,
      };
      all.push(own);
    });
  return { all, start };
}

const request = {} as RequestOf<"steps">;
const settled = () => new Promise((resolve) => setTimeout(resolve));
const stopped = (why: string) =>
  new HeedError("worker", `worker: expected a running worker: ${why}`, { cause: new Error(why) });

describe("The page's engine", () => {
  afterEach(() => vi.useRealTimers());

  test("stores requests until it has started, and returns each answer to its caller", async () => {
    const { all, start } = fakeStarts();
    const engine = new EngineClient({ start });
    const first = engine.ask("steps", request);
    const second = engine.ask("steps", request);
    const asked: unknown[] = [];
    all[0]?.isReady(async (each) => {
      asked.push(each);
      if (asked.length === 1) throw new RangeError("too large");
      return "two";
    });
    expect(await engine.started).toEqual(info);
    await expect(first).rejects.toThrow("The engine could not compute this: too large");
    expect(await second).toBe("two");
    expect(asked).toEqual([1, 2].map(() => ({ solver: "steps", request })));
  });

  test("passes progress on, and cancels requests that are no longer needed", async () => {
    const { all, start } = fakeStarts();
    const engine = new EngineClient({ start });
    const given: Parameters<Ask>[1][] = [];
    all[0]?.isReady((_, options) => {
      given.push(options);
      return new Promise((resolve) =>
        options?.signal?.addEventListener("abort", () => resolve("late")),
      );
    });
    const controller = new AbortController();
    const news: unknown[] = [];
    const options = { signal: controller.signal, progress: (part: never) => void news.push(part) };
    const answer = engine.ask("steps", request, options);
    await settled();
    given[0]?.onProgress?.("half");
    controller.abort(new Error("no longer"));
    await expect(answer).rejects.toThrow("no longer");
    expect(news).toEqual(["half"]);
    expect(given[0]?.signal).toBe(controller.signal);
  });

  test("starts a second worker after five seconds, keeps the first that is ready and ends the other", async () => {
    vi.useFakeTimers();
    const { all, start } = fakeStarts();
    const engine = new EngineClient({ start });
    await vi.advanceTimersByTimeAsync(5000);
    expect(all).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(5000);
    const [failing, fast, slow] = all;
    failing?.fails(new Error("out of memory"));
    fast?.isReady();
    expect(await engine.started).toEqual(info);
    expect([fast, slow].map((each) => each?.signal.aborted)).toEqual([false, true]);
    slow?.isReady();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([fast, slow].map((each) => each?.isDisposed)).toEqual([false, true]);
    expect(all).toHaveLength(3);
  });

  test("reports why it cannot start, why it stops, and that it was ended", async () => {
    const { all, start } = fakeStarts();
    const broken = new EngineClient({ start });
    all[0]?.fails(new Error("no WebAssembly"));
    await expect(broken.ask("steps", request)).rejects.toThrow(
      "The engine could not start: no WebAssembly",
    );
    const ending = new EngineClient({ start });
    all[1]?.isReady(() => Promise.reject(stopped("trap")));
    await expect(ending.ask("steps", request)).rejects.toThrow("The engine has stopped: trap");
    for (const code of ["internal", "disposed"] as const) {
      const trapped = new EngineClient({ start });
      const error = new HeedError(code, "engine: expected to go on, got an end");
      all.at(-1)?.isReady(() => Promise.reject(error));
      await expect(trapped.ask("steps", request)).rejects.toThrow("Reload the page");
      trapped.dispose();
    }
    ending.dispose();
    await settled();
    expect(all[1]?.isDisposed).toBe(true);
    const ended = new EngineClient({ start });
    ended.dispose();
    expect(all.at(-1)?.signal.aborted).toBe(true);
    await expect(ended.ask("steps", request)).rejects.toThrow("The engine was ended.");
  });
});

describe("The worker", () => {
  const context = (pause: () => Promise<void>) => ({ pause }) as SolverContext<unknown>;

  test("loads a solver on its first request, and returns an answer or an error", async () => {
    const load = vi.fn(async () => ({
      default: (n: number) => {
        if (n < 0) throw new RangeError("n: expected at least 0");
        return n + 1;
      },
    }));
    const ask = askIn({ steps: load });
    expect(load).not.toHaveBeenCalled();
    const free = context(async () => {});
    expect(await ask({ solver: "steps", request: 1 }, free)).toBe(2);
    await expect(ask({ solver: "steps", request: -1 }, free)).rejects.toThrow(
      "n: expected at least 0",
    );
  });

  test("does not start a request that was cancelled while its solver was loading", async () => {
    const solve = vi.fn();
    const ask = askIn({ steps: async () => ({ default: solve }) });
    const cancelled = context(() => Promise.reject(new HeedError("cancelled", "call: cancelled")));
    await expect(ask({ solver: "steps", request: 1 }, cancelled)).rejects.toThrow(
      "call: cancelled",
    );
    expect(solve).not.toHaveBeenCalled();
  });
});
