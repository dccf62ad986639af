/** `heed/view/parts`: what the elements of `heed/view` are made of, for views of one's own. */

export * from "./view/parts/attention.js";
export * from "./view/parts/explanation.js";
export * from "./view/parts/formulas.js";
export * from "./view/parts/moments.js";
export * from "./view/parts/play.js";
export * from "./view/parts/story.js";
export * from "./view/parts/terms.js";
export * from "./view/parts/timeline.js";
export * from "./view/picture/colour.js";
export * from "./view/picture/export.js";
export * from "./view/picture/format.js";
export * from "./view/picture/ink.js";
export * from "./view/picture/layout.js";
export * from "./view/picture/moving.js";
export * from "./view/picture/paint.js";
export * from "./view/picture/view.js";
