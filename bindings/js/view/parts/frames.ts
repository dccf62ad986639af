import { nextFrame, type PageWindow } from "../picture/page.js";

/** A frame counts for at most this many milliseconds, so that a tab that was hidden continues where it stopped. */
const longestFrame = 250;

/**
 * Calls `show` in every frame with the milliseconds played so far, until `show` returns false.
 *
 * @param page the window of the picture
 * @returns a function that stops playing
 */
export function playFrames(
  show: (elapsed: number) => boolean,
  page: PageWindow = window,
): () => void {
  let [elapsed, before] = [0, Number.NaN];
  const draw = (now: number) => {
    elapsed += Number.isNaN(before) ? 0 : Math.min(longestFrame, now - before);
    before = now;
    if (show(elapsed)) cancel = nextFrame(page, draw);
  };
  let cancel = nextFrame(page, draw);
  return () => cancel();
}
