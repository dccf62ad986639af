// The script of a worker for tests, which offers tasks.

import * as models from "../../dist/models.js";
import * as nn from "../../dist/nn.js";
import { serve } from "../../dist/serve.js";

/** @typedef {import("heed").Tensor} Tensor */
/** @template P @typedef {import("heed/worker/serve").TaskContext<P>} TaskContext */

export const tasks = {
  /**
   * Attends without a pause until it is cancelled, and counts.
   * @param {{ counter: Int32Array, x: Tensor }} request
   * @param {TaskContext<never>} context
   */
  attendForever({ counter, x }, { heed }) {
    for (;;) {
      heed.attention(x, x, x).output.dispose();
      Atomics.add(counter, 0, 1);
    }
  },

  /**
   * Pauses until it is cancelled; tells how often it did, and when it has ended.
   * @param {{ counter: Int32Array }} request
   * @param {TaskContext<number>} context
   * @returns {Promise<void>}
   */
  async pauseForever({ counter }, { pause, progress, heed }) {
    const x = heed.ones([4]);
    try {
      for (let step = 0; ; ++step) {
        progress(step);
        await pause();
        Atomics.add(counter, 0, 1);
      }
    } finally {
      x.dispose();
      Atomics.store(counter, 1, 1);
    }
  },

  /**
   * Pauses until it is cancelled, after a wait for something else, or for what all calls share.
   * @param {{ counter: Int32Array, after: "timer" | "shared" }} request
   * @param {TaskContext<never>} context
   */
  async pauseAfter({ counter, after }, { pause }) {
    if (after === "timer") await new Promise((resolve) => setTimeout(resolve, 5));
    else {
      shared ??= pause().then(() => pause());
      await shared;
    }
    for (;;) {
      await pause();
      Atomics.add(counter, 0, 1);
    }
  },

  /** @param {unknown} request */
  echo(request) {
    return request;
  },

  /** @param {string} what */
  answer(what) {
    if (what === "error") return { error: new TypeError("as data") };
    /** @type {Record<string, unknown>} */
    const circle = { numbers: Float32Array.of(1, 2) };
    circle.circle = circle;
    return circle;
  },

  throwNothingReadable() {
    throw Object.create(null);
  },

  /** An object whose end fails. */
  fragile() {
    return new (class Fragile {
      size = 1;
      dispose() {
        throw new Error("fragile");
      }
    })();
  },

  /**
   * A view of the memory, and what makes it grow.
   * @param {{ x: Tensor, floats: number }} request
   * @param {TaskContext<never>} context
   */
  grow({ x, floats }, { heed }) {
    const { data } = x;
    const large = heed.ones([floats]);
    large.dispose();
    return { data };
  },

  /**
   * @param {{ rows: Float32Array, shape: number[] }} request
   * @param {TaskContext<{ done: number, part: Float32Array }>} context
   */
  async scale({ rows, shape }, { heed, progress, pause }) {
    const whole = new Float32Array(rows.length);
    for (let at = 0; at < rows.length; at += 2) {
      using(heed.tensor(rows.subarray(at, at + 2), [2]), (x) => {
        using(heed.multiply(x, 2), ({ data }) => whole.set(data, at));
      });
      progress({ done: at + 2, part: whole.slice(at, at + 2) });
      await pause();
    }
    return { whole, same: whole.subarray(0, 2), shape };
  },

  /**
   * Returns an object of the engine, and one in data.
   * @param {{ x: Tensor }} request
   * @param {TaskContext<never>} context
   */
  double({ x }, { heed }) {
    return { tensor: heed.add(x, x), view: x.data };
  },

  /**
   * Adds up a tensor as soon as the counter is not 0 any more.
   * @param {{ x: Tensor, counter: Int32Array, beside?: unknown }} request
   * @param {TaskContext<never>} context
   * @returns {Promise<number>}
   */
  async sumLater({ x, counter }, { heed, pause }) {
    while (Atomics.load(counter, 0) === 0) await pause();
    return /** @type {number} */ (heed.scope(() => heed.sum(x).item()));
  },

  /**
   * @param {{ named: Map<unknown, Tensor> }} request
   * @param {TaskContext<never>} context
   */
  doubleNamed({ named }, { heed }) {
    const doubled = new Map([...named].map(([name, x]) => [name, heed.add(x, x)]));
    const sizes = new Map([...named].map(([name, { size }]) => [name, size]));
    const views = new Map([...named].map(([name, { data }]) => [name, data]));
    return { doubled, sizes, views };
  },

  /**
   * @param {{ x: Tensor, where: "set" | "key" }} request
   * @returns {unknown}
   */
  wrapped({ x, where }) {
    return where === "set" ? [new Set([1]), new Set([x])] : new Map([[{ x }, 1]]);
  },

  /** @param {string} message */
  fail(message) {
    throw new RangeError(message);
  },

  /** Ends the worker from within. */
  leave() {
    if (globalThis.close) globalThis.close();
    else process.exit(3);
  },

  /** Fails outside of any task. */
  breakDown() {
    setTimeout(() => {
      throw new Error("broken down");
    });
  },

  /**
   * Moves an array to the page twice: as news, and in the answer.
   * @param {unknown} _
   * @param {TaskContext<Float32Array>} context
   */
  moveTwice(_, { progress }) {
    const numbers = Float32Array.of(1, 2);
    progress(numbers);
    return { numbers };
  },

  /**
   * Returns a tensor of the script, or a new one, after a pause if wanted.
   * @param {{ isNew: boolean, pauses: boolean }} request
   * @param {TaskContext<never>} context
   * @returns {Tensor | Promise<Tensor>}
   */
  tensorOf({ isNew, pauses }, { heed, pause }) {
    own ??= heed.ones([2]);
    if (!pauses) return isNew ? heed.ones([2]) : own;
    return pause().then(() => (isNew ? heed.ones([2]) : /** @type {Tensor} */ (own)));
  },

  /**
   * Gives a module another weight.
   * @param {{ layer: { weight: Tensor }, weight: Tensor }} request
   */
  setWeight({ layer, weight }) {
    layer.weight.dispose();
    layer.weight = weight;
  },

  /** @param {{ x: Tensor }} request */
  twice({ x }) {
    return { first: x, second: x };
  },
};

/**
 * A tensor of this script.
 * @type {Tensor | undefined}
 */
let own;

/** @type {Promise<void> | undefined} */
let shared;

/** @param {Tensor} tensor @param {(tensor: Tensor) => void} run */
function using(tensor, run) {
  run(tensor);
  tensor.dispose();
}

serve(tasks, { nn, models });
