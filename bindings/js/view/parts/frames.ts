import { nextFrame, type PageWindow } from "../picture/page.js";

/** A frame counts for at most this many milliseconds, so that a tab that was hidden goes on where it was. */
const longestFrame = 250;

/**
 * Calls `show` in every frame with the milliseconds that have been played so far, until it returns false.
 *
 * @param page the window that shows it
 * @returns ends it
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
