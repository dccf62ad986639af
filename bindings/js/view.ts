/** `heed/view`: attention as pictures, without a framework and without WebAssembly. */
export { defineElements } from "./view/elements/define.js";
export {
  type CellDetail,
  HeedElement,
  type HeedEvents,
} from "./view/elements/element.js";
export type { Mask, NestedNumbers, Numbers, TensorLike } from "./view/elements/input.js";
export { HeedMatrix, matrix } from "./view/elements/matrix.js";
export { HeedSteps, type StepDetail, type StepsMatrix, steps } from "./view/elements/steps.js";
export type { StepsStage } from "./view/steps/scene.js";
