/** Animated pictures: stand-alone SVGs that change over time without a script. */

/**
 * In seconds: the longest time between two parts and the longest time of all parts; then the time
 * for which the complete picture is shown.
 */
const slowest = 0.6;
const longest = 8;
const shown = 2;

/**
 * The times of an animation with `turns` turns: the total duration, and the beginning of each turn
 * as a share of the duration.
 */
export function pacing(turns: number, lead: number) {
  const pace = Math.min(slowest, longest / Math.max(1, turns));
  const total = pace * (turns + lead) + shown;
  return {
    seconds: total.toFixed(2),
    start: (turn: number) => `${((100 * pace * (turn + lead)) / total).toFixed(2)}%`,
  };
}

/** Programs that cannot animate show the complete picture. So do the browsers of people who prefer reduced motion. */
export const styleOf = (rules: readonly string[]) =>
  `@media not (prefers-reduced-motion:reduce){${rules.join("\n")}}`;

/**
 * The style of a picture whose parts appear one after the other, in the given number of turns:
 * `data-plays` is the turn of a part.
 */
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

/** The style of a picture whose lines or bars grow from left to right, in the time of the given number of turns. */
export function sweeping(turns: number): string {
  const { seconds, start } = pacing(turns, 0);
  // Lines and dots are wider than their bounding box, which does not include the stroke.
  const beyond = "-9px";
  return styleOf([
    `@keyframes grow{0%{clip-path:inset(${beyond} calc(100% + 9px) ${beyond} ${beyond})}` +
      `${start(turns)}{clip-path:inset(${beyond})}to{clip-path:inset(${beyond})}}`,
    `[data-plays="grow"]{animation:grow ${seconds}s linear infinite}`,
  ]);
}
