/**
 * Points and a query that can be dragged, the estimated curve, and the query's weights below. Attributes in SVG are
 * case-sensitive: `tabindex` works, `tabIndex` does not.
 */

import { format, formatWeight, px } from "heed/view/parts";
import { useId, useRef } from "preact/hooks";
import { useWidth } from "../../../shared/useWidth";
import { placeIn } from "../../../shared/zoom";
import { Axes } from "../Axes";
import { lineThrough, scaleOf, ticksIn } from "../axes";
import { fewestPoints, type PlanePoint, plane, type State } from "../state";
import type { Regression } from "./solve";

const height = 340;
const rowHeight = 96;
const gap = 28;
/** The kernel is drawn up to this multiple of the highest weight, so that the weights stay visible. */
const mostOverBars = 4;

/** Coordinates have two decimals, so that a link stays short. */
const rounded = (value: number, { min, max }: { min: number; max: number }) =>
  Math.round(100 * Math.max(min, Math.min(max, value))) / 100;

const steps: Record<string, readonly [number, number]> = {
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
};
const stepLength = { x: 0.1, y: 0.05 };

export interface PlaneProps {
  state: State;
  answer: Regression | null;
  isLocked: boolean;
  onPoints(points: readonly PlanePoint[]): void;
  onQuery(query: number): void;
  /** The point whose weight is explained. */
  onPoint(index: number | null, by: "pointer" | "keyboard"): void;
}

export function Plane({ state, answer, isLocked, onPoints, onQuery, onPoint }: PlaneProps) {
  const [ref, width] = useWidth<HTMLFieldSetElement>();
  const svg = useRef<SVGSVGElement>(null);
  const { points, query, similar } = state;
  const box = { left: 36, right: Math.max(80, width - 12), top: 10, bottom: height - 10 };
  const { place: placeX, value: xAt } = scaleOf(plane.x, box.left, box.right);
  const { place: placeY, value: yAt } = scaleOf(plane.y, box.bottom, box.top);
  const rowBottom = height + gap + rowHeight;
  const largest = answer ? Math.max(...answer.weights, 1e-9) : 1;
  // The kernel at the query is e^0 ÷ the sum. Far from all points it is much larger than every weight, and leaves the
  // plot.
  const peak = answer ? Math.exp(-answer.logSum) : 1;
  const rowTop = Math.min(peak, mostOverBars * largest);
  const isBeyond = peak > rowTop;
  const placeW = (weight: number) =>
    rowBottom - (Math.min(weight, 50 * rowTop) / rowTop) * (rowHeight - 16);
  const clip = useId();
  const handle = placeX(query);

  const at = (event: PointerEvent): PlanePoint => {
    const place = placeIn(event, svg.current);
    return { x: rounded(xAt(place.x), plane.x), y: rounded(yAt(place.y), plane.y) };
  };
  const put = (index: number, point: PlanePoint) =>
    onPoints(points.map((other, i) => (i === index ? point : other)));
  /** The handlers that call `move` while the pointer drags an element. */
  const drag = (move: (event: PointerEvent) => void) => ({
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return;
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
      move(event);
    },
    onPointerMove: (event: PointerEvent) => {
      if (event.buttons & 1) move(event);
    },
  });
  /** The handlers of a point: it shows its weight and, if allowed, can be moved. */
  const pointing = (index: number, point: PlanePoint) => ({
    onPointerEnter: () => onPoint(index, "pointer"),
    onPointerLeave: () => onPoint(null, "pointer"),
    onFocus: () => onPoint(index, "keyboard"),
    onBlur: () => onPoint(null, "keyboard"),
    ...(!isLocked && {
      onKeyDown: pointKeys(index, point),
      ...drag((event) => put(index, at(event))),
    }),
  });
  const pointKeys =
    (index: number, { x, y }: PlanePoint) =>
    (event: KeyboardEvent) => {
      const step = steps[event.key];
      const isRemoval = event.key === "Delete" || event.key === "Backspace";
      if (step) {
        put(index, {
          x: rounded(x + step[0] * stepLength.x, plane.x),
          y: rounded(y + step[1] * stepLength.y, plane.y),
        });
      } else if (isRemoval && points.length > fewestPoints) {
        onPoints(points.filter((_, i) => i !== index));
      } else return;
      event.preventDefault();
    };
  const queryKeys = (event: KeyboardEvent) => {
    const step = steps[event.key];
    if (!step) return;
    onQuery(rounded(query + (step[0] || step[1]) * stepLength.x, plane.x));
    event.preventDefault();
  };

  return (
    <fieldset
      ref={ref}
      class="plot"
      style={{ height: px(rowBottom + 36) }}
      aria-label="Points on a plane, and the query on its axis"
    >
      {width > 0 && (
        <>
          <svg width={width} height={rowBottom + 36} aria-hidden="true">
            <Axes
              box={{ ...box, bottom: rowBottom + 12 }}
              xTicks={ticksIn(plane.x, width, 80)}
              yTicks={ticksIn(plane.y, height, 80)}
              placeX={placeX}
              placeY={placeY}
            />
            {answer && (
              <>
                <path class="average" d={`M${box.left} ${placeY(answer.average)}H${box.right}`} />
                <path class="estimate" d={lineThrough(answer.x, answer.estimate, placeX, placeY)} />
                <clipPath id={clip}>
                  <rect
                    x={box.left}
                    y={height + gap}
                    width={box.right - box.left}
                    height={rowHeight + 1}
                  />
                </clipPath>
                <g clip-path={`url(#${clip})`}>
                  <path
                    class="kernel"
                    d={`${lineThrough(answer.x, answer.kernel, placeX, placeW)}L${box.right} ${rowBottom}L${box.left} ${rowBottom}Z`}
                  />
                </g>
                <circle class="answer" cx={handle} cy={placeY(answer.value)} r={6} />
              </>
            )}
            {similar && answer?.weights.length === points.length && (
              <g class="similar">
                {points.map(({ x, y }, i) => {
                  const toX = placeX(answer.similar[2 * i] as number);
                  const toY = placeY(answer.similar[2 * i + 1] as number);
                  return (
                    <g key={i}>
                      <path d={`M${placeX(x)} ${placeY(y)}L${toX} ${toY}`} />
                      <circle cx={toX} cy={toY} r={4} />
                    </g>
                  );
                })}
              </g>
            )}
            <path class="query-line" d={`M${handle} ${box.top}V${rowBottom}`} />
            {points.map(({ x }, i) => (
              <path
                key={i}
                class="stem"
                d={`M${placeX(x)} ${rowBottom}V${placeW(answer?.weights[i] ?? 0)}`}
              />
            ))}
            <text class="plot-word" x={box.left} y={height + gap - 8}>
              weights, the highest {formatWeight(largest)}; the kernel{" "}
              {isBeyond ? "goes on up" : "rises"} to {formatWeight(peak)}
            </text>
          </svg>
          {/* biome-ignore lint/a11y/noSvgWithoutTitle: its contents are labelled */}
          <svg ref={svg} width={width} height={rowBottom + 36}>
            <rect
              class="plot-field"
              x={box.left}
              y={0}
              width={box.right - box.left}
              height={rowBottom}
              {...drag((event) => onQuery(at(event).x))}
            />
            {points.map((point, i) => {
              const weight = answer?.weights[i] ?? 0;
              const place = { cx: placeX(point.x), cy: placeY(point.y) };
              return (
                <g
                  key={i}
                  class={isLocked ? "point" : "point movable"}
                  role={isLocked ? "img" : "button"}
                  tabindex={isLocked ? undefined : 0}
                  aria-label={`Point ${i + 1}: x ${format(point.x, 2)}, y ${format(point.y, 2)}, weight ${formatWeight(weight)}.${isLocked ? "" : " Arrow keys move it, Delete removes it."}`}
                  {...pointing(i, point)}
                >
                  <circle class="grip" {...place} r={16} />
                  <circle class="dot" {...place} r={4 + 6 * Math.sqrt(weight / largest)} />
                </g>
              );
            })}
            <g
              class="query-handle"
              role="slider"
              tabindex={0}
              aria-label="Query x"
              aria-valuemin={plane.x.min}
              aria-valuemax={plane.x.max}
              aria-valuenow={query}
              aria-valuetext={`x ${format(query, 2)}, estimate ${answer ? format(answer.value) : ""}`}
              onKeyDown={queryKeys}
              {...drag((event) => onQuery(at(event).x))}
            >
              <circle class="grip" cx={handle} cy={rowBottom + 8} r={16} />
              <path d={`M${handle} ${rowBottom}l8 12h-16Z`} />
            </g>
          </svg>
        </>
      )}
    </fieldset>
  );
}
