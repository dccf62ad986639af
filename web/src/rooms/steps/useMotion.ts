/**
 * Motion that links the pictures. A matrix of two stages moves from its place in one stage to its place in the other,
 * and the cells that a number is computed from move to that number. The pictures themselves do not depend on the
 * motion.
 */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useReducedMotion } from "../../shared/useMedia";
import { pageZoom } from "../../shared/zoom";
import type { MatrixArea } from "./explain";
import { type MatrixName, sizeOf } from "./matrices";
import { sizesOf } from "./state";
import { useStepsWorkspace } from "./workspace";

type Box = Pick<DOMRectReadOnly, "x" | "y" | "width" | "height">;

const moveTime = 600;
/** Only moments that last at least this long, in milliseconds, have a motion. */
const shortest = 180;
/** With more cells than this along a side, they are too small to follow. */
const mostCells = 40;

/** The place of an element within the figure, in CSS pixels of the page, independent of scrolling. */
function boxIn(figure: Element, element: Element): Box {
  const [outer, own] = [figure.getBoundingClientRect(), element.getBoundingClientRect()];
  const zoom = pageZoom();
  return {
    x: (own.x - outer.x) / zoom + figure.scrollLeft,
    y: (own.y - outer.y) / zoom + figure.scrollTop,
    width: own.width / zoom,
    height: own.height / zoom,
  };
}

const canvasesIn = (figure: Element) =>
  [...figure.querySelectorAll<HTMLElement>("[data-matrix]")].flatMap((place) => {
    const canvas = place.querySelector("canvas");
    return canvas ? [[place.dataset.matrix as MatrixName, canvas] as const] : [];
  });

/** The place of an area of a matrix on its canvas, in CSS pixels. */
function boxOn(
  canvas: HTMLCanvasElement,
  { row, col }: MatrixArea,
  size: { rows: number; cols: number },
): Box | null {
  const isFlipped = canvas.closest("[data-flipped]") !== null;
  const [i, j] = isFlipped ? [col, row] : [row, col];
  const [rows, cols] = isFlipped ? [size.cols, size.rows] : [size.rows, size.cols];
  if (Math.max(rows, cols) > mostCells) return null;
  const [left, top] = [Number(canvas.dataset.left), Number(canvas.dataset.top)];
  const width = (canvas.clientWidth - left) / cols;
  const height = (canvas.clientHeight - top) / rows;
  return {
    x: left + (j ?? 0) * width,
    y: top + (i ?? 0) * height,
    width: j === undefined ? cols * width : width,
    height: i === undefined ? rows * height : height,
  };
}

/** A copy of a part of a canvas, placed over that part. */
function copyOf(figure: Element, canvas: HTMLCanvasElement, part: Box, place: Box) {
  const ratio = canvas.width / canvas.clientWidth;
  const ghost = document.createElement("canvas");
  ghost.className = "traveller";
  ghost.setAttribute("aria-hidden", "true");
  [ghost.width, ghost.height] = [Math.ceil(part.width * ratio), Math.ceil(part.height * ratio)];
  const { style } = ghost;
  [style.left, style.top] = [`${place.x + part.x}px`, `${place.y + part.y}px`];
  [style.width, style.height] = [`${part.width}px`, `${part.height}px`];
  ghost.getContext("2d")?.drawImage(canvas, -part.x * ratio, -part.y * ratio);
  figure.append(ghost);
  return ghost;
}

type Journey = readonly [sources: readonly MatrixArea[], target: MatrixArea];

/** The sources of the moment's number or row, and the target of their motion. */
function journeyOf(active: MatrixArea | null, highlights: readonly MatrixArea[]): Journey | null {
  const isCell = ({ row, col }: MatrixArea) => row !== undefined && col !== undefined;
  if (!active) {
    // For a whole row the sources come first in the list, and the row is last.
    const target = highlights.at(-1);
    return target ? [highlights.slice(0, -1), target] : null;
  }
  // For a sum only the factors of the last term move.
  const cells = highlights.filter(isCell);
  return [cells.length > 0 ? cells : highlights, active];
}

/** Moves the matrices that the last stage had too, from their places in that stage. */
function moveMatrices(
  canvases: ReturnType<typeof canvasesIn>,
  before: ReadonlyMap<MatrixName, Box>,
  now: ReadonlyMap<MatrixName, Box>,
): void {
  for (const [name, canvas] of canvases) {
    const [from, to] = [before.get(name), now.get(name) as Box];
    if (!from || to.width === 0) continue;
    const start = `translate(${from.x - to.x}px, ${from.y - to.y}px) scale(${from.width / to.width}, ${from.height / to.height})`;
    canvas
      .closest(".named-matrix")
      ?.animate([{ transform: start, transformOrigin: "0 0" }, { transform: "none" }], {
        duration: moveTime,
        easing: "ease-in-out",
      });
  }
}

/** Moves copies of the sources to the target, and returns the copies. */
function moveSources(
  figure: Element,
  [sources, target]: Journey,
  sizes: ReturnType<typeof sizesOf>,
  duration: number,
): readonly HTMLElement[] {
  const canvases = new Map(canvasesIn(figure));
  const on = (area: MatrixArea) => {
    const canvas = canvases.get(area.matrix);
    const part = canvas && boxOn(canvas, area, sizeOf(area.matrix, sizes));
    return canvas && part ? { canvas, part, place: boxIn(figure, canvas) } : null;
  };
  const end = on(target);
  if (!end) return [];
  return sources.flatMap((source) => {
    const start = on(source);
    if (!start) return [];
    const ghost = copyOf(figure, start.canvas, start.part, start.place);
    const x = end.place.x + end.part.x - start.place.x - start.part.x;
    const y = end.place.y + end.part.y - start.place.y - start.part.y;
    const size = `scale(${end.part.width / start.part.width}, ${end.part.height / start.part.height})`;
    const transform = `translate(${x}px, ${y}px) ${size}`;
    const travel = ghost.animate(
      [
        { transform: "none", opacity: 1 },
        { transform, opacity: 0.6, offset: 0.9 },
        { transform, opacity: 0 },
      ],
      { duration, easing: "ease-in-out" },
    );
    travel.onfinish = () => ghost.remove();
    return [ghost];
  });
}

/**
 * @param width the width of the figure
 * @param pace how long playing shows the moment, in milliseconds
 */
export function useMotion(ref: RefObject<HTMLElement | null>, width: number, pace: number): void {
  const { state, attention, unfolding, highlights } = useStepsWorkspace();
  const reduced = useReducedMotion();
  const before = useRef({ stage: state.stage, boxes: new Map<MatrixName, Box>() });

  useLayoutEffect(() => {
    const figure = ref.current;
    if (!figure) return;
    const canvases = canvasesIn(figure);
    const boxes = new Map(canvases.map(([name, canvas]) => [name, boxIn(figure, canvas)]));
    const { stage, boxes: old } = before.current;
    if (stage !== state.stage && !reduced) moveMatrices(canvases, old, boxes);
    before.current = { stage: state.stage, boxes };
  }, [state.stage, attention, width]);

  const last = useRef({ stage: state.stage, time: state.time });
  useLayoutEffect(() => {
    const { stage, time } = last.current;
    last.current = { stage: state.stage, time: state.time };
    // Moves only forward, by one moment.
    const isNext = stage === state.stage ? state.time === (time ?? -2) + 1 : state.time === 0;
    const figure = ref.current;
    if (!figure || !unfolding || !isNext || pace < shortest || reduced) return;
    const journey = journeyOf(unfolding.cell, highlights);
    if (!journey) return;
    const duration = Math.min(moveTime, 0.8 * pace);
    const ghosts = moveSources(figure, journey, sizesOf(attention), duration);
    return () => {
      for (const ghost of ghosts) ghost.remove();
    };
  }, [state.stage, state.time]);
}
