// Gradients of functions of tensors.

import { describe, refuse } from "../core/error.js";
import { ownedIn } from "../core/owned.js";
import { noGrad, type Sources, Tape, type TapeOptions, tapeChecks } from "../core/tape.js";
import { Tensor } from "../core/tensor.js";
import { checkOptions } from "../core/validate.js";

/** The result of `valueAndGrad`. */
export interface ValueAndGradients<Aux> {
  /** The loss. */
  value: number;
  /**
   * In the order of the sources, or of the module's `parameters()`. A source without influence on the loss
   * has zeros.
   */
  gradients: Tensor[];
  /** The second result of the function; undefined if it returns only the loss. */
  aux: Aux;
}

/**
 * Runs a function that computes a loss, and returns the loss and its gradients with respect to the sources.
 * All other tensors that the function creates are freed, except the ones in `aux`.
 *
 * The function must not be async. Gradients of gradients are not supported.
 *
 * @param run returns the loss, a tensor with one element, or [loss, aux]; tensors in aux are not freed
 * @param options with `debug`, every result is checked, and the error names the first operation whose
 *   result has a number that is not finite
 * @throws HeedError "shape" for a loss that is not one element, "nan" for a loss that is not finite,
 *   "disposed", "unsupported", and any error of the function
 * @example
 * ```ts
 * const w = heed.tensor([2, 3]);
 * const { value, gradients } = valueAndGrad([w], () => heed.sum(heed.multiply(w, w)));
 * console.log(value, gradients[0]!.toArray()); // prints: 13 [ 4, 6 ]
 * ```
 */
export function valueAndGrad<Aux = undefined>(
  sources: Sources,
  run: () => Tensor | readonly [Tensor, Aux],
  options: TapeOptions = {},
): ValueAndGradients<Aux> {
  checkOptions("valueAndGrad", options, tapeChecks);
  const tape: Tape = new Tape(sources, options);
  const { engine } = tape;
  const result = engine.scope(() => {
    const returned = tape.run(run);
    const [loss, aux] = Array.isArray(returned) ? returned : [returned, undefined];
    tape.checkLoss(loss);
    const value = loss.data[0] as number;
    if (!Number.isFinite(value)) {
      const hint = options.debug
        ? ""
        : " (with debug: true the first operation that made it is named)";
      throw refuse("nan", "loss", "a finite number", `${value}${hint}`);
    }
    return { value, gradients: tape.gradients(loss, ownedIn(aux)), aux: aux as Aux };
  });
  result.gradients = separate(result.gradients);
  return result;
}

/** Copies gradients that share memory with each other or with other tensors. */
function separate(gradients: readonly Tensor[]): Tensor[] {
  const single = gradients.map((gradient, i) =>
    gradients.indexOf(gradient) === i ? gradient : gradient.engine.scaled(gradient, 1),
  );
  return single.map((gradient) => {
    const { engine } = gradient;
    if (!engine.isShared(gradient)) return gradient;
    const own = engine.scaled(gradient, 1);
    gradient.dispose();
    return own;
  });
}

/**
 * Computes only the gradients: see `valueAndGrad`.
 *
 * @returns the gradients, each in the shape of its source
 * @throws HeedError as `valueAndGrad`
 * @example
 * ```ts
 * const w = heed.tensor([2, 3]);
 * const [gradient] = grad([w], () => heed.sum(heed.multiply(w, w)));
 * console.log(gradient!.toArray()); // prints: [ 4, 6 ]
 * ```
 */
export function grad(
  sources: Sources,
  run: () => Tensor | readonly [Tensor, unknown],
  options: TapeOptions = {},
): Tensor[] {
  return valueAndGrad(sources, run, options).gradients;
}

/**
 * Returns a tensor with the same elements in the same memory, through which no gradient flows.
 *
 * @param x of any shape
 * @throws HeedError "dtype", "disposed"
 * @example
 * ```ts
 * const w = heed.tensor([2]);
 * const [gradient] = grad([w], () => heed.sum(heed.multiply(w, detach(w))));
 * console.log(gradient!.toArray()); // prints: [ 2 ]
 * ```
 */
export function detach(x: Tensor): Tensor {
  if (!(x instanceof Tensor)) throw refuse("dtype", "x", "a tensor", describe(x));
  return x.engine.alias(x, x.shape);
}

export { noGrad, type Sources, Tape, type TapeOptions };
