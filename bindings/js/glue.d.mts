import type { Glue } from "./module.js";

declare const glue: Glue;
export default glue;
