/** Draws the labels of a picture's rows and columns, and the titles of its axes. */
import type { Ink } from "./ink.js";
import {
  type Area,
  axisTitle,
  chipPadding,
  type Geometry,
  heightOf,
  type Labels,
  labelStep,
  labelsStand,
  titledCols,
  titledRows,
  widthOf,
} from "./layout.js";

interface Labelled {
  readonly geometry: Geometry;
  readonly labels: Labels;
}

const labelSize = 12;
const smallestLabel = 7;
/** The space for the title of an axis; 0 without a title. */
const axisOf = (title: string | undefined) => (title ? 15 : 0);

function fontOf(ink: Ink, size: number, isStrong = false): string {
  return `${isStrong ? "600 " : ""}${size}px ${ink.family}`;
}

/** The font size of the labels of rows or columns of this size. */
function sizeIn(cellSize: number): number {
  return Math.max(smallestLabel, Math.min(labelSize, cellSize));
}

/** The largest height of a chip. A label in a lower place has no chip. */
const chipHeight = 20;

/** Draws the frame of a label, around a point of the label. */
function drawChip(
  context: CanvasRenderingContext2D,
  { x, y, width }: { x: number; y: number; width: number },
  ink: Ink,
  isStrong: boolean,
): void {
  const words = context.fillStyle;
  context.beginPath();
  context.roundRect(x + 0.5, y - chipHeight / 2 + 0.5, width - 1, chipHeight - 1, 4);
  context.fillStyle = ink.page;
  context.fill();
  context.strokeStyle = isStrong ? ink.ink : ink.frame;
  context.lineWidth = 1;
  context.stroke();
  context.fillStyle = words;
}

function drawRowLabel(
  context: CanvasRenderingContext2D,
  { geometry: g, labels }: Labelled,
  row: number,
  ink: Ink,
  isStrong = false,
): void {
  const label = labels.rows?.[row] ?? "";
  const y = g.top + (row + 0.5) * g.cellHeight;
  let right = g.left - 6;
  if (labels.chips && g.cellHeight >= chipHeight) {
    const width = context.measureText(label).width + 2 * chipPadding;
    drawChip(context, { x: right + 1 - width, y, width }, ink, isStrong);
    right -= chipPadding - 1;
  }
  context.textBaseline = "middle";
  context.textAlign = "right";
  context.fillText(label, right, y + 0.5);
}

function drawColLabel(
  context: CanvasRenderingContext2D,
  { geometry: g, labels }: Labelled,
  col: number,
  stand: boolean,
  ink: Ink,
  isStrong = false,
): void {
  const label = labels.cols?.[col] ?? "";
  context.save();
  context.textBaseline = "middle";
  context.translate(g.left + (col + 0.5) * g.cellWidth, g.top - (stand ? 5 : 11));
  if (stand) context.rotate(-Math.PI / 2);
  else if (labels.chips) {
    const width = Math.min(g.cellWidth - 2, context.measureText(label).width + 2 * chipPadding);
    drawChip(context, { x: -width / 2, y: 0, width }, ink, isStrong);
  }
  context.textAlign = stand ? "left" : "center";
  context.fillText(label, 0, stand ? 0.5 : 0);
  context.restore();
}

export function drawLabels(context: CanvasRenderingContext2D, picture: Labelled, ink: Ink): void {
  const { geometry: g, labels } = picture;
  const { rows = [], cols = [] } = labels;
  context.fillStyle = ink.faint;
  context.font = fontOf(ink, sizeIn(g.cellHeight));
  for (let i = 0; i < rows.length; i += labelStep(g.cellHeight, smallestLabel))
    drawRowLabel(context, picture, i, ink);
  const stand = labelsStand(labels, g.cellWidth);
  context.font = fontOf(ink, sizeIn(g.cellWidth));
  for (let j = 0; j < cols.length; j += labelStep(g.cellWidth, smallestLabel))
    drawColLabel(context, picture, j, stand, ink);

  if (labels.rowAxis || labels.colAxis) context.font = fontOf(ink, 11);
  const width = (text: string) => context.measureText(text).width;
  if (labels.colAxis) {
    const room = [axisOf(labels.rowAxis), g.left, widthOf(g)] as const;
    const { words, place } = axisTitle(labels.colAxis, titledCols, room, width);
    context.textAlign = "left";
    context.fillText(words, place, 7);
  }
  if (labels.rowAxis) {
    const room = [0, g.top, heightOf(g)] as const;
    const { words, place } = axisTitle(labels.rowAxis, titledRows, room, width);
    context.save();
    context.translate(7, place);
    context.rotate(-Math.PI / 2);
    context.textAlign = "right";
    context.fillText(words, 0, 0);
    context.restore();
  }
}

/** Draws the labels of the rows and columns of `areas` in bold, over the normal ones. */
export function drawStrongLabels(
  context: CanvasRenderingContext2D,
  picture: Labelled,
  areas: readonly Area[],
  ink: Ink,
): void {
  const { geometry: g, labels } = picture;
  if (!labels.rows && !labels.cols) return;
  const indices = (axis: "row" | "col", count: number) =>
    new Set(areas.map((area) => area[axis] ?? count).filter((index) => index < count));
  // The titles of the axes are outside the labels.
  const [left, top] = [axisOf(labels.rowAxis), axisOf(labels.colAxis)];
  context.fillStyle = ink.ink;

  const rowSize = sizeIn(g.cellHeight);
  context.font = fontOf(ink, rowSize, true);
  for (const row of indices("row", labels.rows?.length ?? 0)) {
    const height = rowSize + 2;
    const y = g.top + (row + 0.5) * g.cellHeight - height / 2;
    context.clearRect(left, y, g.left - left - 2, height);
    drawRowLabel(context, picture, row, ink, true);
  }

  const stand = labelsStand(labels, g.cellWidth);
  const colSize = sizeIn(g.cellWidth);
  context.font = fontOf(ink, colSize, true);
  for (const col of indices("col", labels.cols?.length ?? 0)) {
    const width = stand ? colSize + 2 : g.cellWidth;
    const x = g.left + (col + 0.5) * g.cellWidth - width / 2;
    context.clearRect(x, top, width, g.top - top - 2);
    drawColLabel(context, picture, col, stand, ink, true);
  }
}
