/** The number of screen pixels per CSS pixel of the page. It changes with the zoom, the window and the screen. */
import { useEffect, useState } from "preact/hooks";
import { pageZoom } from "../shared/zoom";

const ratioNow = () => devicePixelRatio * pageZoom();

export function usePixelRatio(): number {
  const [ratio, setRatio] = useState(ratioNow);
  useEffect(() => {
    const query = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    const follow = () => setRatio(ratioNow());
    const ending = new AbortController();
    query.addEventListener("change", follow, { signal: ending.signal });
    addEventListener("resize", follow, { signal: ending.signal });
    follow(); // The window may have changed since the first drawing.
    return () => ending.abort();
  }, [ratio]);
  return ratio;
}
