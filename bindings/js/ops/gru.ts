// The gated recurrent unit.

import type { Engine } from "../core/engine.js";
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

export interface GruOptions {
  /** The state before the first step, [B, Hd]; zeros by default. */
  state?: Tensor;
  /** Sequence b ends after lengths[b] steps: then its state no longer changes, and its outputs are zero. */
  lengths?: readonly number[] | Tensor;
}

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
  const inputs = () => [
    engine.handle("x", x),
    engine.handle("weightIh", weightIh),
    engine.handle("weightHh", weightHh),
    engine.handleOrNone("biasIh", biasIh),
    engine.handleOrNone("biasHh", biasHh),
  ];
  return engine.withLists((list) => {
    const given = (needGates: boolean) => [
      engine.handleOrNone("state", before),
      list("lengths", lengths),
      Number(needGates),
    ];
    engine.run(module.gru, [...inputs(), ...given(tape !== undefined)]);
    const output = engine.tensor();
    const state = engine.tensor();
    const gates = engine.optional();
    const taken = { x, weightIh, weightHh, biasIh, biasHh, state: before };
    tape?.record("gru", taken, [output, state], ([dOutput, dState]) =>
      engine.withLists((list) => {
        engine.run(module.gruBackward, [
          engine.handleOrNone("d", dOutput),
          engine.handleOrNone("d", dState),
          ...inputs(),
          engine.handle("output", output),
          engine.handle("gates", gates),
          engine.handleOrNone("state", before),
          list("lengths", lengths),
          1,
        ]);
        return {
          x: engine.tensor(),
          state: engine.tensor(),
          weightIh: engine.tensor(),
          weightHh: engine.tensor(),
          biasIh: engine.optional(),
          biasHh: engine.optional(),
        };
      }),
    );
    return { output, state };
  });
}
