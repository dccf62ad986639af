/**
 * `#parts`: the drawing code that the Playground shares with the elements of `heed/view`. The name is internal:
 * package.json imports it for this repository alone, and the package is packed without this file.
 */

export * from "./view/files/words.js";
export {
  type AreaOf,
  type AttentionMatrix,
  attentionMatrices,
  attentionPalette,
  attentionSources,
  type CellOf,
  explainAttention,
  takenOff,
} from "./view/parts/attention.js";
export * from "./view/parts/explanation.js";
export * from "./view/parts/figures.js";
export { explainer, product, type SoFar, termsOf } from "./view/parts/formulas.js";
export * from "./view/parts/frames.js";
export { type GridHead, type GridRow, HeadGrid } from "./view/parts/headGrid.js";
export { html } from "./view/parts/html.js";
export { showHiddenMark, showScale } from "./view/parts/legend.js";
export { linesHeight } from "./view/parts/lines.js";
export * from "./view/parts/matrixCanvas.js";
export {
  type MeasureWords,
  type PatternName,
  patternNames,
  patterns,
  patternsOf,
} from "./view/parts/measures.js";
export * from "./view/parts/moments.js";
export * from "./view/parts/pieces.js";
export * from "./view/parts/play.js";
export { hidingPooled, type SmallWeights } from "./view/parts/pool.js";
export * from "./view/parts/saveDrawing.js";
export {
  type Contents,
  contentsOf,
  drawnContents,
  npyBlob,
  numbersOf,
  type Saved,
  SaveMenu,
} from "./view/parts/saveMenu.js";
export * from "./view/parts/story.js";
export * from "./view/parts/terms.js";
export type { StageMoment, Target, Timeline } from "./view/parts/timeline.js";
export { moved, shadesOf, TokenStrip } from "./view/parts/tokenShades.js";
export {
  type ColourCurve,
  type ColourRange,
  colourCurves,
  colourRanges,
  type Palette,
  signedPalette,
  type Theme,
  weightLegends,
  weightPalette,
  weightShare,
} from "./view/picture/colour.js";
export { columnsCsv, csvBlob, rowsCsv } from "./view/picture/csv.js";
export { decimalsOf, mostDecimals, notesOf } from "./view/picture/decimals.js";
export { download, npyOf, npyOfAll } from "./view/picture/export.js";
export * from "./view/picture/film.js";
export { format, formatShort, formatWeight, shorten } from "./view/picture/format.js";
export * from "./view/picture/gridSvg.js";
export { inkIn, inkOf } from "./view/picture/ink.js";
export { finished } from "./view/picture/job.js";
export {
  type Area,
  type Cell,
  type CellSize,
  cellsFor,
  geometryOf,
  isSame,
  type Labels,
  leftOf,
  px,
  textWidth,
  tokenAxes,
  widest,
} from "./view/picture/layout.js";
export { sweeping } from "./view/picture/moving.js";
export type { Picture } from "./view/picture/paint.js";
export {
  at,
  entries,
  type MatrixView,
  packedNumbers,
  rangeOf,
  transposed,
  viewOn,
} from "./view/picture/view.js";
