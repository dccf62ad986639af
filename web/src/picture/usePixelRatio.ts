/** The number of screen pixels per CSS pixel of the page. It changes with the zoom, the window and the screen. */
import { useEffect, useState } from "preact/hooks";
import { pageZoom } from "../shared/zoom";

const ratioNow = () => devicePixelRatio * pageZoom();

export function usePixelRatio(): number {
  const [ratio, setRatio] = useState(ratioNow);
  useEffect(() => {
    const query = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    const follow = () => setRatio(ratioNow());
    query.addEventListener("change", follow);
    addEventListener("resize", follow);
    return () => {
      query.removeEventListener("change", follow);
      removeEventListener("resize", follow);
    };
  }, [ratio]);
  return ratio;
}
