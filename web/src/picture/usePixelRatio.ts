/** The number of screen pixels in a CSS pixel; it changes with the zoom and the screen. */
import { useEffect, useState } from "preact/hooks";

export function usePixelRatio(): number {
  const [ratio, setRatio] = useState(devicePixelRatio);
  useEffect(() => {
    const query = matchMedia(`(resolution: ${ratio}dppx)`);
    const follow = () => setRatio(devicePixelRatio);
    query.addEventListener("change", follow);
    return () => query.removeEventListener("change", follow);
  }, [ratio]);
  return ratio;
}
