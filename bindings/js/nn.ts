// The entry heed/nn: gradients, modules, optimisers, files of parameters, and text generation.

export {
  detach,
  grad,
  noGrad,
  type Sources,
  Tape,
  type TapeOptions,
  type ValueAndGradients,
  valueAndGrad,
} from "./nn/autograd.js";
export {
  type BeamSearchOptions,
  beamSearch,
  type GreedyOptions,
  generate,
  type Hypothesis,
  type SamplingOptions,
  type Step,
} from "./nn/generate.js";
export * as nn from "./nn/index.js";
export * as optim from "./nn/optim.js";
export * as safetensors from "./nn/safetensors.js";
export type {
  LoadedStateDict,
  LoadStateDictOptions,
  StateDict,
  StateDictEntry,
} from "./nn/stateDict.js";
