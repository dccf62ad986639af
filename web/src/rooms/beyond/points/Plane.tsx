/**
 * Points and a query that can be dragged, the estimated curve, and the query's weights below. Attributes in SVG are
 * case-sensitive: `tabindex` works, `tabIndex` does not.
 */
import { useId, useRef } from "preact/hooks";
import { format, formatWeight } from "#parts";
import { Axes } from "../../../picture/Axes";
import { lineThrough, placedTicks, scaleOf } from "../../../picture/scale";
import { arrowStep } from "../../../shared/arrowStep";
import { dragging } from "../../../shared/dragging";
import type { PointedCell } from "../../../shared/Reading";
import { placeIn } from "../../../shared/zoom";
import { fewestPoints, type PanelProps, type PlanePoint, plane } from "../state";
import { type Plot, WeightsPlot } from "../WeightsPlot";
import type { Regression } from "./solve";

const size = { height: 340, rowHeight: 96 };
/** The kernel is drawn up to this multiple of the highest weight, so that the weights stay visible. */
const mostOverBars = 4;

/** Coordinates have two decimals, so that a link stays short. */
const rounded = (value: number, { min, max }: { min: number; max: number }) =>
  Math.round(100 * Math.max(min, Math.min(max, value))) / 100;

const stepLength = { x: 0.1, y: 0.05 };

interface PlaneProps extends PanelProps {
  answer: Regression | null;
  isLocked: boolean;
  /** Explains the weight of a point. */
  point: PointedCell<number>["point"];
}

function frameOf(answer: Regression | null, { width, rowBottom, rowHeight }: Plot) {
  const { height } = size;
  const box = { left: 36, right: Math.max(80, width - 12), top: 10, bottom: height - 10 };
  const xRange = { low: plane.x.min, high: plane.x.max };
  const yRange = { low: plane.y.min, high: plane.y.max };
  const { place: placeX, value: xAt } = scaleOf(xRange, box.left, box.right);
  const { place: placeY, value: yAt } = scaleOf(yRange, box.bottom, box.top);
  const largest = answer ? Math.max(...answer.weights, 1e-9) : 1;
  // The kernel at the query is e^0 ÷ the sum. Far from all points it exceeds every weight, and leaves the plot.
  const peak = answer ? Math.exp(-answer.logSum) : 1;
  const rowTop = Math.min(peak, mostOverBars * largest);
  const placeW = (weight: number) =>
    rowBottom - (Math.min(weight, 50 * rowTop) / rowTop) * (rowHeight - 16);
  return {
    box,
    xTicks: placedTicks(xRange, width / 80, placeX),
    yTicks: placedTicks(yRange, height / 80, placeY),
    largest,
    peak,
    isBeyond: peak > rowTop,
    placeX,
    placeY,
    placeW,
    /** The point of the plane at a position of the plot. */
    pointAt: ({ x, y }: PlanePoint): PlanePoint => ({
      x: rounded(xAt(x), plane.x),
      y: rounded(yAt(y), plane.y),
    }),
  };
}

type Framed = PlaneProps & { plot: Plot; frame: ReturnType<typeof frameOf> };

export function Plane(props: PlaneProps) {
  return (
    <WeightsPlot {...size} label="Points on a plane, and the query on its axis">
      {(plot) => {
        const framed = { ...props, plot, frame: frameOf(props.answer, plot) };
        return [<Drawn key="drawn" {...framed} />, <Handles key="handles" {...framed} />];
      }}
    </WeightsPlot>
  );
}

/** Draws the axes, the estimate, the kernel and the weights. */
function Drawn({ state: { points, query, similar }, answer, plot, frame }: Framed) {
  const { rowBottom } = plot;
  const { box, largest, peak, isBeyond, placeX, placeY, placeW } = frame;
  return (
    <svg width={plot.width} height={plot.height} aria-hidden="true">
      <Axes box={{ ...box, bottom: rowBottom + 12 }} xTicks={frame.xTicks} yTicks={frame.yTicks} />
      {answer && <Estimate answer={answer} query={query} plot={plot} frame={frame} />}
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
      <path class="query-line" d={`M${placeX(query)} ${box.top}V${rowBottom}`} />
      {points.map(({ x }, i) => (
        <path
          key={i}
          class="stem"
          d={`M${placeX(x)} ${rowBottom}V${placeW(answer?.weights[i] ?? 0)}`}
        />
      ))}
      <text class="plot-word" x={box.left} y={plot.rowTop - 8}>
        weights up to {formatWeight(largest)}; kernel {isBeyond ? "goes on" : "rises"} to{" "}
        {formatWeight(peak)}
      </text>
    </svg>
  );
}

function Estimate(props: Pick<Framed, "plot" | "frame"> & { answer: Regression; query: number }) {
  const { answer, query, plot, frame } = props;
  const { rowTop, rowBottom, rowHeight } = plot;
  const { box, placeX, placeY, placeW } = frame;
  const clip = useId();
  return (
    <>
      <path class="average" d={`M${box.left} ${placeY(answer.average)}H${box.right}`} />
      <path class="estimate" d={lineThrough(answer.x, answer.estimate, placeX, placeY)} />
      <clipPath id={clip}>
        <rect x={box.left} y={rowTop} width={box.right - box.left} height={rowHeight + 1} />
      </clipPath>
      <g clip-path={`url(#${clip})`}>
        <path
          class="kernel"
          d={`${lineThrough(answer.x, answer.kernel, placeX, placeW)}L${box.right} ${rowBottom}L${box.left} ${rowBottom}Z`}
        />
      </g>
      <circle class="answer" cx={placeX(query)} cy={placeY(answer.value)} r={6} />
    </>
  );
}

/** Draws the query and the points, which a person can move. */
function Handles(props: Framed) {
  const { answer, set, plot, frame } = props;
  const { points, query } = props.state;
  const { rowBottom } = plot;
  const { box, placeX } = frame;
  const svg = useRef<SVGSVGElement>(null);
  const at = (event: PointerEvent) => frame.pointAt(placeIn(event, svg.current));
  const draggingQuery = dragging((event) => set({ query: at(event).x }));
  const handle = placeX(query);
  return (
    // biome-ignore lint/a11y/noSvgWithoutTitle: its contents are labelled
    <svg ref={svg} width={plot.width} height={plot.height}>
      <rect
        class="plot-field"
        x={box.left}
        y={0}
        width={box.right - box.left}
        height={rowBottom}
        {...draggingQuery}
      />
      {points.map((_, i) => (
        <PointHandle key={i} index={i} at={at} {...props} />
      ))}
      <g
        class="query-handle"
        role="slider"
        tabindex={0}
        aria-label="Query x"
        aria-valuemin={plane.x.min}
        aria-valuemax={plane.x.max}
        aria-valuenow={query}
        aria-valuetext={`x ${format(query, 2)}, estimate ${answer ? format(answer.value) : ""}`}
        onKeyDown={(event) => {
          const step = arrowStep(event);
          if (!step) return;
          set({ query: rounded(query + (step[0] || step[1]) * stepLength.x, plane.x) });
          event.preventDefault();
        }}
        {...draggingQuery}
      >
        <circle class="grip" cx={handle} cy={rowBottom + 8} r={16} />
        <path d={`M${handle} ${rowBottom}l8 12h-16Z`} />
      </g>
    </svg>
  );
}

/** A point: it shows its weight and, if allowed, can be moved and removed. */
function PointHandle(props: Framed & { index: number; at(event: PointerEvent): PlanePoint }) {
  const { index, at, answer, isLocked, set } = props;
  const { placeX, placeY, largest } = props.frame;
  const { points } = props.state;
  const point = points[index] as PlanePoint;
  const weight = answer?.weights[index] ?? 0;
  const put = (moved: PlanePoint) =>
    set({ points: points.map((other, i) => (i === index ? moved : other)) });
  const onKeyDown = (event: KeyboardEvent) => {
    const step = arrowStep(event);
    if (step) {
      put({
        x: rounded(point.x + step[0] * stepLength.x, plane.x),
        y: rounded(point.y + step[1] * stepLength.y, plane.y),
      });
    } else if (/^(Delete|Backspace)$/.test(event.key) && points.length > fewestPoints) {
      set({ points: points.filter((_, i) => i !== index) });
    } else return;
    event.preventDefault();
  };
  const pointing = {
    onPointerEnter: () => props.point(index, "pointer"),
    onPointerLeave: () => props.point(null, "pointer"),
    onFocus: () => props.point(index, "keyboard"),
    onBlur: () => props.point(null, "keyboard"),
  };
  const place = { cx: placeX(point.x), cy: placeY(point.y) };
  return (
    <g
      class={isLocked ? "point" : "point movable"}
      role={isLocked ? "img" : "button"}
      tabindex={isLocked ? undefined : 0}
      aria-label={`Point ${index + 1}: x ${format(point.x, 2)}, y ${format(point.y, 2)}, weight ${formatWeight(weight)}.${isLocked ? "" : " Arrow keys move it, Delete removes it."}`}
      {...pointing}
      {...(!isLocked && { onKeyDown, ...dragging((event) => put(at(event))) })}
    >
      <circle class="grip" {...place} r={16} />
      <circle class="dot" {...place} r={4 + 6 * Math.sqrt(weight / largest)} />
    </g>
  );
}
