/** `heed/view`: attention as pictures, without a framework and without WebAssembly. */
export {
  type CellDetail,
  HeedElement,
  type HeedEvents,
} from "./view/elements/element.js";
export type { Mask, NestedNumbers, Numbers, TensorLike } from "./view/elements/input.js";
export {
  type Attention,
  type AttentionFiles,
  type AttentionInput,
  type AttentionName,
  readAttention,
} from "./view/files/attention.js";
