// Gradients of functions of tensors.

import { describe, HeedError, refuse } from "./error.js";
import { noGrad, Tape, type TapeOptions } from "./tape.js";
import { Tensor } from "./tensor.js";
import { type Check, checkOptions, isBoolean, parametersOf } from "./validate.js";

/** Tensors for which gradients are wanted, or what has some, such as a module. */
export type Sources = readonly Tensor[] | { parameters(): Tensor[] };

export interface ValueAndGradients<Aux> {
  /** The loss. */
  value: number;
  /** In the order of the sources, or of the module's `parameters()`; zeros where nothing depends on one. */
  gradients: Tensor[];
  /** What the function returned beside the loss. */
  aux: Aux;
}

const checks = { debug: isBoolean } satisfies Record<keyof TapeOptions, Check>;

function tensorsOf(sources: Sources): readonly Tensor[] {
  const tensors = parametersOf(sources);
  if (!Array.isArray(tensors) || !tensors.every((tensor) => tensor instanceof Tensor))
    throw refuse("option", "sources", "a module or a list of tensors", describe(sources));
  if (tensors.length === 0) throw refuse("option", "sources", "one tensor or more", "none");
  for (const [i, tensor] of tensors.entries()) {
    tensor.engine.handle(`sources[${i}]`, tensor);
    if (tensor.dtype !== "float32") throw refuse("dtype", `sources[${i}]`, "float32", tensor.dtype);
  }
  return tensors;
}

/**
 * Runs a function that computes a loss, and gives its value and its gradients for the sources. All
 * other tensors that the function makes are freed, but for those it returns beside the loss.
 *
 * The function must not be async, and there is no gradient of a gradient.
 *
 * @param run gives the loss, a tensor of one number, or [loss, aux]: what else is to be kept
 * @param options with `debug` every result is looked at, and the first operation that gives a number
 *   that is not finite is named
 * @throws HeedError "shape" for a loss that is not one number, "nan" for one that is not finite,
 *   "disposed", "unsupported", and whatever the function throws
 */
export function valueAndGrad<Aux = undefined>(
  sources: Sources,
  run: () => Tensor | readonly [Tensor, Aux],
  options: TapeOptions = {},
): ValueAndGradients<Aux> {
  checkOptions("valueAndGrad", options, checks);
  const tensors = tensorsOf(sources);
  const engine = (tensors[0] as Tensor).engine;
  const tape = new Tape(tensors, options);
  const result = engine.scope(() => {
    const returned = tape.run(run);
    if (returned instanceof Promise)
      throw refuse("option", "run", "a function that is not async", "a promise");
    const [loss, aux] = Array.isArray(returned) ? returned : [returned, undefined];
    if (!(loss instanceof Tensor)) throw refuse("option", "loss", "a tensor", describe(loss));
    const value = loss.size === 1 ? (loss.data[0] as number) : 0;
    if (!Number.isFinite(value)) {
      const hint = options.debug
        ? ""
        : " (with debug: true the first operation that made it is named)";
      throw new HeedError("nan", `loss: expected a finite number, got ${value}${hint}`);
    }
    return { value, gradients: tape.gradients(loss, engine.tensorsIn(aux)), aux: aux as Aux };
  });
  result.gradients = separate(result.gradients);
  return result;
}

/** Gradients that share memory, with each other or with what was returned, get their own. */
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

/** The gradients alone: see `valueAndGrad`. */
export function grad(
  sources: Sources,
  run: () => Tensor | readonly [Tensor, unknown],
  options: TapeOptions = {},
): Tensor[] {
  return valueAndGrad(sources, run, options).gradients;
}

/** The same numbers, in the same memory, as a constant: no gradient passes. */
export function detach(x: Tensor): Tensor {
  return noGrad(() => x.engine.alias(x, x.shape));
}

export { noGrad, Tape, type TapeOptions };
