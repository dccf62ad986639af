// The gated recurrent unit.

import type { Engine } from "../core/engine.js";
import {
  readGruGradients,
  readGruResult,
  withGruOptions,
  withGruParameters,
} from "../core/members.js";
import { recording, snapshot } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import { type Check, checkOptions, isListOrTensor, isTensor } from "../core/validate.js";

/** The parameters of torch.nn.GRU with one layer, in its layout: rows for the gates r, z and n. */
export interface GruParameters {
  /** [3 Hd, I] */
  weightIh: Tensor;
  /** [3 Hd, Hd] */
  weightHh: Tensor;
  /** [3 Hd] */
  biasIh?: Tensor;
  /** [3 Hd] */
  biasHh?: Tensor;
}

/** Options of `gru`. */
export interface GruOptions {
  /** The state before the first step, [B, Hd]; zeros by default. */
  state?: Tensor;
  /** Sequence b ends after lengths[b] steps: then its state no longer changes, and its outputs are zero. */
  lengths?: readonly number[] | Tensor;
}

/** The result of `gru`. */
export interface GruResult {
  /** [B, L, Hd]: the state after every step. */
  output: Tensor;
  /** [B, Hd]: the state at the end. */
  state: Tensor;
}

const parameterChecks = {
  weightIh: isTensor,
  weightHh: isTensor,
  biasIh: isTensor,
  biasHh: isTensor,
} satisfies Record<keyof GruParameters, Check>;

export const gruChecks = { state: isTensor, lengths: isListOrTensor } satisfies Record<
  keyof GruOptions,
  Check
>;

/**
 * Gated recurrent unit (Cho et al., 2014), with the parameters of torch.nn.GRU.
 *
 * @param x [B, L, I]
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const [x, weightIh, weightHh] = [heed.ones([1, 3, 2]), heed.ones([12, 2]), heed.ones([12, 4])];
 * const { output, state } = heed.gru(x, { weightIh, weightHh });
 * console.log(output.shape, state.shape); // prints: [ 1, 3, 4 ] [ 1, 4 ]
 * ```
 */
export function gru(
  engine: Engine,
  x: Tensor,
  parameters: GruParameters,
  options: GruOptions = {},
): GruResult {
  checkOptions("gru", parameters, parameterChecks, "parameter");
  checkOptions("gru", options, gruChecks);
  const { module } = engine;
  const { weightIh, weightHh, biasIh, biasHh } = parameters;
  const tape = recording();
  const { state: before, lengths } = tape ? snapshot(options) : options;
  const withInputs = (args: number[]) => {
    args.push(engine.handle("x", x));
    return withGruParameters(engine, args, { weightIh, weightHh, biasIh, biasHh });
  };
  return engine.withLists((list) => {
    const given = {
      state: before,
      lengths: list("lengths", lengths),
      needGates: tape !== undefined,
    };
    engine.run(module.gru, withGruOptions(engine, withInputs([]), given));
    const { output, state, gates } = readGruResult(engine);
    const taken = { x, weightIh, weightHh, biasIh, biasHh, state: before };
    tape?.record("gru", taken, [output, state], ([dOutput, dState]) =>
      engine.withLists((list) => {
        const args = withInputs([
          engine.handleOrNone("d", dOutput),
          engine.handleOrNone("d", dState),
        ]);
        args.push(engine.handle("output", output), engine.handle("gates", gates));
        const options = { ...given, lengths: list("lengths", lengths) };
        engine.run(module.gruBackward, withGruOptions(engine, args, options));
        return readGruGradients(engine);
      }),
    );
    return { output, state };
  });
}
