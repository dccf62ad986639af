// The types of heed-simd.mjs and heed-relaxed.mjs. The build copies this file to dist, beside each of them.

import type { Glue } from "./core/module.js";

declare const glue: Glue;
export default glue;
