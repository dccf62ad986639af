/** `heed/view/parts`: what the elements of `heed/view` are made of, for views of one's own. */

export * from "./view/files/words.js";
export * from "./view/parts/legend.js";
export * from "./view/parts/lines.js";
export * from "./view/parts/matrixCanvas.js";
export * from "./view/parts/measures.js";
export * from "./view/parts/pieces.js";
export * from "./view/parts/pool.js";
export * from "./view/parts/saveDrawing.js";
export * from "./view/parts/saveMenu.js";
export * from "./view/parts/slices.js";
export * from "./view/parts/strongest.js";
export * from "./view/parts/thumbnail.js";
export * from "./view/parts/tokenShades.js";
export * from "./view/picture/colour.js";
export * from "./view/picture/export.js";
export * from "./view/picture/format.js";
export * from "./view/picture/ink.js";
export * from "./view/picture/job.js";
export * from "./view/picture/layout.js";
export * from "./view/picture/moving.js";
export * from "./view/picture/paint.js";
export * from "./view/picture/view.js";
