/** One to three lines over a common axis, such as losses over training steps. */

import { columnsCsv, formatShort, px, sweeping, widest } from "heed/view/parts";
import { useId, useMemo, useRef, useState } from "preact/hooks";
import { useWidth } from "../shared/useWidth";
import { placeIn } from "../shared/zoom";
import { SaveDrawing } from "./SaveDrawing";
import { type Interval, nearest, rangeOfAll, textsOf, ticksOf } from "./scale";

export interface CurveSeries {
  readonly name: string;
  /** One number for each x; a gap where a number is not finite. */
  readonly y: ArrayLike<number>;
}

export interface CurveProps {
  /** A short description of the picture. */
  title: string;
  xName: string;
  yName: string;
  /** In ascending order. */
  x: ArrayLike<number>;
  /** The text of each x, if it is not its number, such as "8" for the third power of 2. */
  xTexts?: readonly string[];
  series: readonly CurveSeries[];
  /** The range of y, such as 0 to 1; by default the range of the numbers. */
  range?: Interval;
  /** The range of x, if more points will follow; by default from the first x to the last. */
  domain?: Interval;
  height?: number;
  /** Whether the points are a sequence in time, so that a saved picture can be animated. */
  plays?: boolean;
  /** The marked index into `x`; with `onCursor` it can be dragged. */
  cursor?: number;
  onCursor?(index: number): void;
}

/** Lines differ in dashes and in colours; see app/styles/parts.css. */
const mostSeries = 3;
/** More points than pixels would not be visible. */
const mostDrawnPoints = 600;
/** The minimum width of the numbers along y, so that charts below one another are aligned. */
const leastLeft = 26;
/** The maximum number of rows of the table for screen readers. */
const rowsHeard = 20;

function formatY(value: number): string {
  return Number.isNaN(value) ? "–" : formatShort(value);
}

/** Integers, such as steps, have no decimals. */
function formatX(value: number): string {
  return Number.isInteger(value) ? String(value) : formatShort(value);
}

/** At most `most` evenly spaced indices into `count` numbers, including the first and the last. */
function sample(count: number, most: number): number[] {
  if (count <= most) return Array.from({ length: count }, (_, i) => i);
  return Array.from({ length: most }, (_, i) => Math.round((i * (count - 1)) / (most - 1)));
}

function linePath(
  x: ArrayLike<number>,
  y: ArrayLike<number>,
  place: (x: number, y: number) => string,
): string {
  let path = "";
  let isDrawing = false;
  for (const i of sample(x.length, mostDrawnPoints)) {
    const value = y[i] as number;
    if (Number.isFinite(value)) path += `${isDrawing ? "L" : "M"}${place(x[i] as number, value)}`;
    isDrawing = Number.isFinite(value);
  }
  return path;
}

export function Curve({
  title,
  xName,
  yName,
  x,
  xTexts: names,
  series: all,
  range,
  domain,
  height = 180,
  plays = false,
  cursor,
  onCursor,
}: CurveProps) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const [hovered, setHovered] = useState<number | null>(null);
  const id = useId();
  const part = useRef<HTMLDivElement>(null);
  const series = all.slice(0, mostSeries);
  const xRange =
    domain ??
    (x.length > 1
      ? { low: x[0] as number, high: x[x.length - 1] as number }
      : rangeOfAll(Array.from(x)));
  const yRange = range ?? rangeOfAll(series.flatMap(({ y }) => Array.from(y)));
  const yTicks = ticksOf(yRange, 4);
  const yTexts = textsOf(yTicks);
  const left = width > 0 ? Math.max(leastLeft, widest(yTexts)) + 8 : 0;
  const box = { left, right: Math.max(left + 1, width - 8), top: 8, bottom: height - 20 };
  const ticks = Math.max(2, Math.floor((box.right - left) / (names ? 40 : 90)));
  const xTicks = names
    ? sample(names.length, ticks).map((i) => x[i] as number)
    : ticksOf(xRange, ticks);
  const xTexts = names ? sample(names.length, ticks).map((i) => names[i]) : textsOf(xTicks);
  const textOfX = (index: number) => names?.[index] ?? formatX(x[index] as number);
  const placeX = (value: number) =>
    left + ((value - xRange.low) / (xRange.high - xRange.low || 1)) * (box.right - left);
  const placeY = (value: number) =>
    box.bottom - ((value - yRange.low) / (yRange.high - yRange.low)) * (box.bottom - box.top);

  const key = JSON.stringify([width, height, xRange, yRange]);
  const lines = useMemo(
    () =>
      series.map(({ y }) =>
        linePath(x, y, (a, b) => `${placeX(a).toFixed(1)} ${placeY(b).toFixed(1)}`),
      ),
    [key, x, ...series.map(({ y }) => y)],
  );

  /** The index of the x nearest to the pointer. */
  const indexUnder = (event: MouseEvent) =>
    nearest(
      x,
      xRange.low + ((placeIn(event).x - left) / (box.right - left)) * (xRange.high - xRange.low),
    );
  const onPointerMove = (event: PointerEvent) => {
    if (x.length === 0) return;
    const index = indexUnder(event);
    setHovered(index);
    if (event.buttons & 1) onCursor?.(index);
  };
  const onPointerDown = (event: PointerEvent) => {
    if (!onCursor || x.length === 0 || event.button !== 0) return;
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    onCursor(indexUnder(event));
  };
  // Reserves the width of the longest legend: it must not wrap and move the picture when a number gets another digit.
  const longest = names
    ? Math.max(...names.map(({ length }) => length))
    : formatX(xRange.high).length;
  const placeWidth = `at ${xName} `.length + longest;
  const shown = hovered ?? cursor ?? x.length - 1;
  const read = x.length === 0 ? null : Math.min(shown, x.length - 1);
  const marked = [hovered, cursor].filter(
    (index): index is number => index != null && index >= 0 && index < x.length,
  );
  const last = x.length - 1;
  const moves = plays && last > 0;
  const summary = `${title}: ${
    last < 0
      ? "no numbers yet"
      : series
          .map(
            ({ name, y }) =>
              `${name} from ${formatY(y[0] as number)} to ${formatY(y[last] as number)}`,
          )
          .join("; ")
  }.`;

  return (
    <div ref={part} class="curve">
      <p class="curve-legend number">
        {series.map(({ name, y }, i) => (
          <span key={name} class={`series-${i + 1}`}>
            <svg width="24" height="8" aria-hidden="true">
              <path d="M0 4H24" />
            </svg>{" "}
            {name} {read !== null && <b>{formatY(y[read] as number)}</b>}
          </span>
        ))}
        <span class="faint" style={{ minWidth: `${placeWidth}ch` }}>
          {read !== null && `at ${xName} ${textOfX(read)}`}
        </span>
      </p>
      <div ref={ref} style={{ height: px(height) }}>
        {width > 0 && (
          <svg
            width={width}
            height={height}
            role="img"
            aria-label={summary}
            class={onCursor ? "draggable" : undefined}
            onPointerMove={onPointerMove}
            onPointerDown={onPointerDown}
            onPointerLeave={() => setHovered(null)}
          >
            <g class="curve-grid">
              {yTicks.map((tick) => (
                <path key={tick} d={`M${left} ${placeY(tick)}H${box.right}`} />
              ))}
            </g>
            <g class="curve-ticks number">
              {yTicks.map((tick, i) => (
                <text key={tick} x={left - 6} y={placeY(tick)} text-anchor="end" dy="0.35em">
                  {yTexts[i]}
                </text>
              ))}
              {xTicks.map((tick, i) => (
                <text
                  key={tick}
                  x={placeX(tick)}
                  y={height - 4}
                  text-anchor={
                    tick === xRange.low ? "start" : placeX(tick) > box.right - 16 ? "end" : "middle"
                  }
                >
                  {xTexts[i]}
                </text>
              ))}
            </g>
            <g {...(moves && { "data-plays": "grow" })}>
              {marked.map((index) => (
                <path
                  key={index === cursor ? "cursor" : "hovered"}
                  class={index === cursor ? "curve-cursor" : "curve-hovered"}
                  d={`M${placeX(x[index] as number)} ${box.top}V${box.bottom}`}
                />
              ))}
              {lines.map((path, i) => (
                <path key={series[i]?.name} class={`series-${i + 1}`} d={path} />
              ))}
              {read !== null &&
                series.map(
                  ({ name, y }, i) =>
                    Number.isFinite(y[read]) && (
                      <circle
                        key={name}
                        class={`series-${i + 1}`}
                        cx={placeX(x[read] as number)}
                        cy={placeY(y[read] as number)}
                        r={3}
                      />
                    ),
                )}
            </g>
          </svg>
        )}
      </div>
      <SaveDrawing
        part={part}
        title={title}
        file={title.toLowerCase().replace(/\W+/g, "-")}
        plays={moves ? () => sweeping(x.length) : undefined}
        csv={() =>
          columnsCsv(
            [xName, ...series.map(({ name }) => name)],
            [names?.map(Number) ?? x, ...series.map(({ y }) => y)],
          )
        }
      />
      <p class="curve-axes faint">
        {yName} over {xName}
      </p>
      {onCursor && cursor !== undefined && (
        <input
          type="range"
          class="only-heard"
          aria-label={`${xName} shown`}
          aria-valuetext={`${xName} ${cursor < x.length ? textOfX(cursor) : ""}`}
          min={0}
          max={Math.max(0, last)}
          value={cursor}
          onInput={({ currentTarget }) => onCursor(Number(currentTarget.value))}
        />
      )}
      {/* The wrapper is hidden instead of the table, because a table ignores its width. */}
      <div class="only-heard">
        <table aria-labelledby={id}>
          <caption id={id}>{title}</caption>
          <thead>
            <tr>
              <th scope="col">{xName}</th>
              {series.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sample(x.length, rowsHeard).map((i) => (
              <tr key={i}>
                <th scope="row">{textOfX(i)}</th>
                {series.map(({ name, y }) => (
                  <td key={name}>{formatY(y[i] as number)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
