/** A frame counts for at most this many milliseconds, so that a tab that was hidden goes on where it was. */
const longestFrame = 250;

/**
 * Calls `show` in every frame with the milliseconds that have been played so far, until it returns false.
 *
 * @returns ends it
 */
export function playFrames(show: (elapsed: number) => boolean): () => void {
  let [elapsed, before] = [0, Number.NaN];
  let frame = requestAnimationFrame(function draw(now) {
    elapsed += Number.isNaN(before) ? 0 : Math.min(longestFrame, now - before);
    before = now;
    if (show(elapsed)) frame = requestAnimationFrame(draw);
  });
  return () => cancelAnimationFrame(frame);
}
