// The base of Heed: its engine, in a private field, so that no function that prints a Heed also prints the engine.

import type { Engine } from "./engine.js";
import { describe, refuse } from "./error.js";
import { isObject } from "./objects.js";

export abstract class WithEngine {
  readonly #engine: Engine;

  /** @internal */
  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** @internal */
  static engineOf(given: object): Engine | undefined {
    return #engine in given ? given.#engine : undefined;
  }
}

/** The engine of a method's `this`. Throws if the method was detached from its object, so that `this` is undefined. */
export function engineOf(given: unknown): Engine {
  const engine = isObject(given) ? WithEngine.engineOf(given) : undefined;
  if (engine) return engine;
  const call = "call a method on its object, as in heed.add(a, b)";
  throw refuse("option", "this", "a Heed", `${describe(given)}: ${call}`);
}
