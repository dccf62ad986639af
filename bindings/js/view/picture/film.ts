/** An animation of a matrix: its earlier states, the oldest first, and its present state last. */
import { colourOf, css, largestIn } from "./colour.js";
import { type Corner, type Film, rectOf, textSvg } from "./export.js";
import { pacing, styleOf } from "./moving.js";
import type { Still } from "./paint.js";
import { at, type MatrixView } from "./view.js";

/** The most states of an animation: more would make the file larger, not clearer. */
const mostMoments = 32;

/** The state of a matrix at one time, such as after a training step. */
interface Moment {
  readonly name: string;
  readonly view: MatrixView;
}

/** The first state, the last one and evenly spaced ones between them. */
function fewOf(moments: readonly Moment[]): readonly Moment[] {
  const { length } = moments;
  if (length <= mostMoments) return moments;
  const place = (i: number) => Math.round((i * (length - 1)) / (mostMoments - 1));
  return Array.from({ length: mostMoments }, (_, i) => moments[place(i)] as Moment);
}

/**
 * The style of a picture whose cells change their colours from state to state. `fills` has the
 * colours of each state. A cell has the id c followed by its number; the name of a state has the id
 * m followed by its number.
 */
function changing(fills: readonly (readonly string[])[]): string {
  const { seconds, start } = pacing(fills.length, 0);
  const cells = fills[0]?.length ?? 0;
  const rules = [
    `[id^=c],[id^=m]{animation-duration:${seconds}s;animation-timing-function:steps(1,end);animation-iteration-count:infinite}`,
  ];
  for (let cell = 0; cell < cells; ++cell) {
    const frames = fills.flatMap((colours, turn) =>
      colours[cell] === fills[turn - 1]?.[cell] ? [] : `${start(turn)}{fill:${colours[cell]}}`,
    );
    if (frames.length < 2) continue;
    const last = fills.at(-1)?.[cell];
    rules.push(
      `@keyframes c${cell}{${frames.join("")}to{fill:${last}}}#c${cell}{animation-name:c${cell}}`,
    );
  }
  for (const turn of fills.keys()) {
    const end =
      turn === fills.length - 1 ? "to{opacity:1}" : `${start(turn + 1)}{opacity:0}to{opacity:0}`;
    const before = turn === 0 ? "" : "0%{opacity:0}";
    rules.push(
      `@keyframes m${turn}{${before}${start(turn)}{opacity:1}${end}}#m${turn}{animation-name:m${turn}}`,
    );
  }
  return styleOf(rules);
}

/** The colour of each cell, row by row; none for a number that is not finite. */
function fillsOf({ palette }: Still, view: MatrixView): string[] {
  const largestOfRow = largestIn(palette.within, view);
  return Array.from({ length: view.rows * view.cols }, (_, cell) => {
    const row = Math.floor(cell / view.cols);
    const value = at(view, row, cell % view.cols);
    return Number.isNaN(value) ? "none" : css(colourOf(palette, value, largestOfRow(row)));
  });
}

/** The animation of at least two states; null if there are fewer. */
export function filmOf(all: readonly Moment[]): Film | null {
  const moments = fewOf(all);
  if (moments.length < 2) return null;
  return {
    cells(still: Still, corner: Corner) {
      const { cols } = still.geometry;
      const rect = rectOf(still, corner);
      const fills = moments.map(({ view }) => fillsOf(still, view));
      const groups = (fills.at(-1) ?? []).map((fill, cell) =>
        rect(Math.floor(cell / cols), cell % cols, fill, `id="c${cell}" `),
      );
      return { style: changing(fills), groups };
    },
    names: (right, y, fill) =>
      moments.map(({ name }, turn) => {
        const isLast = turn === moments.length - 1;
        const more = `id="m${turn}" text-anchor="end"${isLast ? "" : ' opacity="0"'}`;
        return textSvg(right, y, name, fill, more);
      }),
  };
}
