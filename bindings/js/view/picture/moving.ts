/** Pictures that play by themselves: stand-alone SVGs that change over time without a script. */

/** In seconds: how long a part is the last one, and at most for all of them; then how long the whole is shown. */
const slowest = 0.6;
const longest = 8;
const shown = 2;

/** The times of so many turns: how long all take, and when each begins, as a share of that. */
export function pacing(turns: number, lead: number) {
  const pace = Math.min(slowest, longest / Math.max(1, turns));
  const total = pace * (turns + lead) + shown;
  return {
    seconds: total.toFixed(2),
    start: (turn: number) => `${((100 * pace * (turn + lead)) / total).toFixed(2)}%`,
  };
}

/** Programs that cannot animate show the whole picture, and so do browsers of people who want no motion. */
export const styleOf = (rules: readonly string[]) =>
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
