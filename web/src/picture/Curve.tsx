/** One to three lines over a common axis, such as losses over training steps. */
import { useId, useMemo, useRef, useState } from "preact/hooks";
import { columnsCsv, formatShort, px, sweeping, widest } from "#parts";
import { dragging } from "../shared/dragging";
import { useWidth } from "../shared/useWidth";
import { placeIn } from "../shared/zoom";
import { Axes } from "./Axes";
import { SaveDrawing } from "./SaveDrawing";
import {
  type Interval,
  lineThrough,
  logPlaceOf,
  logTicks,
  nearest,
  placedTicks,
  rangeOfAll,
  scaleOf,
} from "./scale";

export interface CurveSeries {
  readonly name: string;
  /** One number for each x; a gap where a number is not finite. */
  readonly y: ArrayLike<number>;
}

interface CurveProps {
  title: string;
  xName: string;
  /** The words for the shown index; by default "at", the name of x and its value. */
  placeOf?(index: number): string;
  yName: string;
  /** In ascending order. */
  x: ArrayLike<number>;
  /** The text of each x, if it is not its number, such as "8" for the third power of 2. */
  xTexts?: readonly string[];
  series: readonly CurveSeries[];
  /** The range of y, such as 0 to 1; by default the range of the numbers. */
  range?: Interval;
  /** Whether y is logarithmic; the low end of `range` must be above 0. */
  isLog?: boolean;
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

function frameOf(
  { x, xTexts, series, range, isLog = false, domain, height = 180 }: CurveProps,
  width: number,
) {
  const xRange = domain ?? rangeOfAll(Array.from(x));
  const yRange = range ?? rangeOfAll(series.flatMap(({ y }) => Array.from(y)));
  const [top, bottom] = [8, height - 20];
  const placeY = isLog ? logPlaceOf(yRange, bottom, top) : scaleOf(yRange, bottom, top).place;
  const yTicks = isLog ? logTicks(yRange, placeY) : placedTicks(yRange, 4, placeY);
  const left = width > 0 ? Math.max(leastLeft, widest(yTicks.map(({ text }) => text))) + 8 : 0;
  const box = { left, right: Math.max(left + 1, width - 8), top, bottom };
  const { place: placeX, value: xAt } = scaleOf(xRange, box.left, box.right);
  const most = Math.max(2, Math.floor((box.right - left) / (xTexts ? 40 : 90)));
  const xTicks = xTexts
    ? sample(xTexts.length, most).map((i) => ({
        at: placeX(x[i] as number),
        text: xTexts[i] as string,
      }))
    : placedTicks(xRange, most, placeX);
  /** Differs if and only if the lines are at other positions. */
  const key = JSON.stringify([width, height, xRange, yRange]);
  return { width, height, box, xRange, xTicks, yTicks, key, placeX, placeY, xAt };
}

interface Shown extends CurveProps {
  frame: ReturnType<typeof frameOf>;
  /** The index whose numbers are read; null without numbers. */
  read: number | null;
  hovered: number | null;
  setHovered(index: number | null): void;
  moves: boolean;
  textOfX(index: number): string;
}

export function Curve(given: CurveProps) {
  const { title, xName, yName, x, xTexts, plays = false, cursor, onCursor } = given;
  const series = given.series.slice(0, mostSeries);
  const [ref, width] = useWidth<HTMLDivElement>();
  const [hovered, setHovered] = useState<number | null>(null);
  const part = useRef<HTMLDivElement>(null);
  const frame = frameOf({ ...given, series }, width);
  const last = x.length - 1;
  const read = last < 0 ? null : Math.min(hovered ?? cursor ?? last, last);
  const moves = plays && last > 0;
  const textOfX = (index: number) => xTexts?.[index] ?? formatX(x[index] as number);
  const shown: Shown = { ...given, series, frame, read, hovered, setHovered, moves, textOfX };
  return (
    <div ref={part} class="curve">
      <CurveLegend {...shown} />
      <div ref={ref} style={{ height: px(frame.height) }}>
        {width > 0 && <Drawing {...shown} />}
      </div>
      <SaveDrawing
        part={part}
        title={title}
        file={title.toLowerCase().replace(/\W+/g, "-")}
        plays={moves ? () => sweeping(x.length) : undefined}
        csv={() =>
          columnsCsv(
            [xName, ...series.map(({ name }) => `${name}, ${yName}`)],
            [xTexts?.map(Number) ?? x, ...series.map(({ y }) => y)],
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
      <HeardTable {...shown} />
    </div>
  );
}

/** The lines' names, with their numbers at the shown index. */
function CurveLegend({ series, x, xName, xTexts, frame, read, textOfX, placeOf }: Shown) {
  // Reserves the width of the longest legend: it must not wrap and move the picture when a number gets another digit.
  const places = placeOf && Array.from(x, (_, i) => placeOf(i));
  const texts = places ?? xTexts ?? [formatX(frame.xRange.high)];
  const before = places ? "" : `at ${xName} `;
  const longest = before.length + Math.max(...texts.map(({ length }) => length));
  return (
    <p class="curve-legend line small number">
      {series.map(({ name, y }, i) => (
        <span key={name} class={`series-${i + 1}`}>
          <svg width="24" height="8" aria-hidden="true">
            <path d="M0 4H24" />
          </svg>{" "}
          {name} {read !== null && <b>{formatY(y[read] as number)}</b>}
        </span>
      ))}
      <span class="faint" style={{ minWidth: `${longest}ch` }}>
        {read !== null && (places?.[read] ?? `${before}${textOfX(read)}`)}
      </span>
    </p>
  );
}

function summaryOf({ title, x, series }: CurveProps): string {
  const ends = series.map(
    ({ name, y }) =>
      `${name} from ${formatY(y[0] as number)} to ${formatY(y[x.length - 1] as number)}`,
  );
  return `${title}: ${x.length === 0 ? "no numbers yet" : ends.join("; ")}.`;
}

function Drawing(props: Shown) {
  const { x, series, cursor, onCursor, frame, read, hovered, setHovered } = props;
  const { box, placeX, placeY } = frame;
  const lines = useMemo(() => {
    const drawn = sample(x.length, mostDrawnPoints);
    const numbers = (of: ArrayLike<number>) => drawn.map((i) => of[i] as number);
    return series.map(({ y }) => lineThrough(numbers(x), numbers(y), placeX, placeY));
  }, [frame.key, x, ...series.map(({ y }) => y)]);
  /** Calls `act` with the index of the x nearest to the pointer. */
  const atPointer = (act: (index: number) => void) => (event: MouseEvent) => {
    if (x.length > 0) act(nearest(x, frame.xAt(placeIn(event).x)));
  };
  const drag = onCursor && dragging(atPointer(onCursor));
  const marked = [hovered, cursor].filter(
    (index): index is number => index != null && index >= 0 && index < x.length,
  );
  return (
    <svg
      viewBox={`0 0 ${frame.width} ${frame.height}`}
      width={frame.width}
      height={frame.height}
      role="img"
      aria-label={summaryOf(props)}
      class={onCursor ? "draggable" : undefined}
      onPointerDown={drag?.onPointerDown}
      onPointerMove={(event) => {
        atPointer(setHovered)(event);
        drag?.onPointerMove(event);
      }}
      onPointerLeave={() => setHovered(null)}
    >
      <Axes box={box} xTicks={frame.xTicks} yTicks={frame.yTicks} isInside />
      <g {...(props.moves && { "data-plays": "grow" })}>
        {marked.map((index) => {
          const name = index === cursor ? "curve-cursor" : "curve-hovered";
          const at = placeX(x[index] as number);
          return <path key={name} class={name} d={`M${at} ${box.top}V${box.bottom}`} />;
        })}
        {lines.map((path, i) => (
          <path key={series[i]?.name} class={`series-${i + 1}`} d={path} />
        ))}
        {read !== null &&
          series.map(({ name, y }, i) => {
            const place = { cx: placeX(x[read] as number), cy: placeY(y[read] as number) };
            return (
              Number.isFinite(y[read]) && (
                <circle key={name} class={`series-${i + 1}`} {...place} r={3} />
              )
            );
          })}
      </g>
    </svg>
  );
}

function HeardTable({ title, xName, x, series, textOfX }: Shown) {
  const id = useId();
  return (
    // The wrapper is hidden instead of the table, because a table ignores its width.
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
  );
}
