/** The series with its gap, the values that the model filled in, and the weights of a hidden value. */

import { format, formatWeight, px } from "heed/view/parts";
import { useWidth } from "../../../shared/useWidth";
import { placeIn } from "../../../shared/zoom";
import { Axes } from "../Axes";
import { lineThrough, scaleOf, ticksIn } from "../axes";
import type { FilledSeries } from "./solve";

const height = 300;
const rowHeight = 90;
const gap = 28;

/** A range that includes all values. It is symmetric if they are on both sides of 0. */
function rangeAround(least: number, most: number) {
  if (least < 0 && most > 0) {
    const size = Math.max(-least, most);
    return { min: -size, max: size };
  }
  const room = (most - least || Math.abs(most) || 1) / 10;
  return { min: least - room, max: most + room };
}

export function SeriesPlot({
  answer,
  row,
  weights,
  onRow,
  onPoint,
}: {
  answer: FilledSeries;
  /** The hidden value whose weights are shown. */
  row: number;
  /** One weight for each value. */
  weights: Float32Array;
  onRow(row: number): void;
  /** Receives the position of the value that the person points at. */
  onPoint(position: number | null): void;
}) {
  const [ref, width] = useWidth<HTMLFieldSetElement>();
  const { values, isHidden, filled, alike, hasTruth } = answer;
  const positions = Array.from(values, (_, t) => t);
  const hidden = positions.filter((t) => isHidden[t]);
  const [first, last] = [hidden[0] as number, hidden[hidden.length - 1] as number];
  const alikeTo = new Set(alike[row]);
  const drawn = hasTruth ? [...values, ...filled] : filled;
  const yRange = rangeAround(Math.min(...drawn), Math.max(...drawn));
  const yTicks = ticksIn(yRange, height, 80);
  const longest = Math.max(...yTicks.map((tick) => String(tick).length));
  const box = {
    left: Math.max(36, 12 + 7 * longest),
    right: Math.max(80, width - 12),
    top: 10,
    bottom: height - 20,
  };
  const { place: placeX, value: xAt } = scaleOf(
    { min: 0, max: values.length - 1 },
    box.left + 4,
    box.right - 4,
  );
  const { place: placeY } = scaleOf(yRange, box.bottom, box.top);
  const rowBottom = height + gap + rowHeight;
  const largest = Math.max(...weights, 1e-9);
  const placeW = (weight: number) => rowBottom - (weight / largest) * (rowHeight - 16);
  const span = (from: number, to: number) => positions.slice(from, to + 1);
  const known = (from: number, to: number) =>
    lineThrough(span(from, to), values.subarray(from, to + 1), placeX, placeY);
  const gapSpan = span(first - 1, last + 1);
  const ends = [first - 1, last + 1] as const;
  const atEnds = ends.map((t) => values[t] as number);

  const positionAt = (x: number) => Math.max(0, Math.min(values.length - 1, Math.round(xAt(x))));
  const hiddenAt = (x: number) => Math.max(first, Math.min(last, Math.round(xAt(x))));
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!step) return;
    onRow(Math.max(first, Math.min(last, row + step)));
    event.preventDefault();
  };

  return (
    <fieldset
      ref={ref}
      class="plot"
      style={{ height: px(rowBottom + 36) }}
      aria-label={`A series of ${values.length} values, of which ${hidden.length} are hidden and filled in`}
    >
      {width > 0 && (
        <>
          <svg width={width} height={rowBottom + 36} aria-hidden="true">
            <rect
              class="gap"
              x={placeX(first - 0.5)}
              y={0}
              width={placeX(last + 0.5) - placeX(first - 0.5)}
              height={rowBottom}
            />
            <Axes
              box={{ ...box, bottom: rowBottom + 12 }}
              xTicks={ticksIn({ min: 1, max: values.length }, width, 60)}
              yTicks={yTicks}
              placeX={(tick) => placeX(tick - 1)}
              placeY={placeY}
            />
            <path class="known" d={`${known(0, first - 1)}${known(last + 1, values.length - 1)}`} />
            {hasTruth && <path class="truth" d={known(first - 1, last + 1)} />}
            <path class="straight" d={lineThrough(ends, atEnds, placeX, placeY)} />
            <path
              class="estimate"
              d={lineThrough(gapSpan, filled.subarray(first - 1, last + 2), placeX, placeY)}
            />
            {positions.map((t) => {
              const weight = weights[t] as number;
              const isAlike = alikeTo.has(t);
              const place = { cx: placeX(t), cy: placeY(values[t] as number) };
              return (
                <g key={t} class={isAlike ? "alike" : undefined}>
                  {isAlike && <circle class="ring" {...place} r={9} />}
                  {!isHidden[t] && (
                    <circle class="dot" {...place} r={2.5 + 4 * Math.sqrt(weight / largest)} />
                  )}
                  <path class="stem" d={`M${place.cx} ${rowBottom}V${placeW(weight)}`} />
                </g>
              );
            })}
            {hidden.map((t) => (
              <circle
                key={t}
                class="answer"
                cx={placeX(t)}
                cy={placeY(filled[t] as number)}
                r={t === row ? 6 : 3.5}
              />
            ))}
            <path class="query-line" d={`M${placeX(row)} ${box.top}V${rowBottom}`} />
            <text class="plot-word" x={box.left} y={height + gap - 8}>
              weights, the highest {formatWeight(largest)}
            </text>
          </svg>
          {/* biome-ignore lint/a11y/noSvgWithoutTitle: its contents are labelled */}
          {/* biome-ignore lint/a11y/useKeyWithClickEvents: the handle inside handles the keyboard */}
          <svg
            width={width}
            height={rowBottom + 36}
            onClick={(event) => onRow(hiddenAt(placeIn(event).x))}
            onPointerMove={(event) => onPoint(positionAt(placeIn(event).x))}
            onPointerLeave={() => onPoint(null)}
          >
            <g
              class="query-handle"
              role="slider"
              tabindex={0}
              aria-label="Hidden value that attends"
              aria-valuemin={first + 1}
              aria-valuemax={last + 1}
              aria-valuenow={row + 1}
              aria-valuetext={`position ${row + 1}: filled with ${format(filled[row] as number)}${hasTruth ? `, hidden was ${format(values[row] as number)}` : ""}`}
              onKeyDown={onKeyDown}
            >
              <path d={`M${placeX(row)} ${rowBottom}l7 10h-14Z`} />
            </g>
          </svg>
        </>
      )}
    </fieldset>
  );
}
