// The entry heed/nn: gradients, modules, optimisers, and what models are kept in and speak by.

export {
  detach,
  grad,
  noGrad,
  type Sources,
  Tape,
  type TapeOptions,
  type ValueAndGradients,
  valueAndGrad,
} from "./autograd.js";
export {
  type BeamSearchOptions,
  beamSearch,
  type GreedyOptions,
  generate,
  type Hypothesis,
  type SamplingOptions,
  type Step,
} from "./generate.js";
export * as nn from "./nn/index.js";
export * as optim from "./optim.js";
export * as safetensors from "./safetensors.js";
export type {
  LoadedStateDict,
  LoadStateDictOptions,
  StateDict,
  StateDictEntry,
} from "./stateDict.js";
