/** Pictures that play by themselves: stand-alone SVGs that change over time without a script. */
import type { MatrixView } from "./view.js";

/** In seconds: how long a part is the last one, and at most for all of them; then how long the whole is shown. */
const slowest = 0.6;
const longest = 8;
const shown = 2;
/** More of a long past would make the file larger, not clearer. */
const mostMoments = 32;

/** What a matrix was at some time, such as after a step of a training. */
export interface Moment {
  readonly name: string;
  readonly view: MatrixView;
}

/** The times of so many turns: how long all take, and when each begins, as a share of that. */
function pacing(turns: number, lead: number) {
  const pace = Math.min(slowest, longest / Math.max(1, turns));
  const total = pace * (turns + lead) + shown;
  return {
    seconds: total.toFixed(2),
    start: (turn: number) => `${((100 * pace * (turn + lead)) / total).toFixed(2)}%`,
  };
}

/** Programs that cannot animate show the whole picture, and so do browsers of people who want no motion. */
const styleOf = (rules: readonly string[]) =>
  `@media not (prefers-reduced-motion:reduce){${rules.join("\n")}}`;

/** The style of a picture whose parts appear one after the other, in so many turns: `data-plays` names the turn. */
export function appearing(turns: number): string {
  const { seconds, start } = pacing(turns, 1);
  const rules = Array.from(
    { length: turns },
    (_, turn) =>
      `@keyframes t${turn}{0%{opacity:0}${start(turn)}{opacity:1}to{opacity:1}}` +
      `[data-plays="${turn}"]{animation:t${turn} ${seconds}s steps(1,end) infinite}`,
  );
  return styleOf(rules);
}

/** The style of a picture whose lines or bars grow from left to right, in the time of so many turns. */
export function sweeping(turns: number): string {
  const { seconds, start } = pacing(turns, 0);
  // Lines and dots are wider than the box around them, which has no width of its own.
  const beyond = "-9px";
  return styleOf([
    `@keyframes grow{0%{clip-path:inset(${beyond} calc(100% + 9px) ${beyond} ${beyond})}` +
      `${start(turns)}{clip-path:inset(${beyond})}to{clip-path:inset(${beyond})}}`,
    `[data-plays="grow"]{animation:grow ${seconds}s linear infinite}`,
  ]);
}

/** The first, the last and evenly spaced ones between them. */
export function fewOf(moments: readonly Moment[]): readonly Moment[] {
  const { length } = moments;
  if (length <= mostMoments) return moments;
  const place = (i: number) => Math.round((i * (length - 1)) / (mostMoments - 1));
  return Array.from({ length: mostMoments }, (_, i) => moments[place(i)] as Moment);
}

/**
 * The style of a picture whose cells change their colours from moment to moment: `fills` has them, moment by moment. A
 * cell has the id c and its number, the name of a moment the id m and its number.
 */
export function changing(fills: readonly (readonly string[])[]): string {
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
