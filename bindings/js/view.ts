// `heed/view`: attention as pictures, without a framework and without WebAssembly. Nothing runs on import.

export { defineElements } from "./view/elements/define.js";
export { HeedElement } from "./view/elements/element.js";
export type { CellDetail, HeedEvents } from "./view/elements/events.js";
export type { HeadOrder } from "./view/elements/headResults.js";
export { HeedHeads, heads } from "./view/elements/heads.js";
export type { Mask, NestedNumbers, Numbers, TensorLike } from "./view/elements/input.js";
export { HeedLines, lines } from "./view/elements/lines.js";
export type { HeedElements, HeedMarkup, HeedProperties } from "./view/elements/markup.js";
export { HeedMatrix, matrix } from "./view/elements/matrix.js";
export { HeedSteps, type StepsMatrix, steps } from "./view/elements/steps.js";
export { HeedTokens, tokens } from "./view/elements/tokens.js";
export {
  type Attention,
  type AttentionFiles,
  type AttentionInput,
  type AttentionName,
  readAttention,
} from "./view/files/attention.js";
export type { ColourCurve, ColourRange, Theme } from "./view/picture/colour.js";
export type { Cell } from "./view/picture/layout.js";
export type { StepDetail, StepsStage } from "./view/steps/scene.js";
