/** `heed/view`: attention as pictures, without a framework and without WebAssembly. */
export {
  type Attention,
  type AttentionFiles,
  type AttentionInput,
  type AttentionName,
  readAttention,
} from "./view/files/attention.js";
