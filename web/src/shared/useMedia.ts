/** Answers of the browser to media queries, kept up to date. */
import { useEffect, useState } from "preact/hooks";

export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const follow = () => setMatches(list.matches);
    follow();
    list.addEventListener("change", follow);
    return () => list.removeEventListener("change", follow);
  }, [query]);
  return matches;
}

/** Whether the person prefers reduced motion. */
export function useReducedMotion(): boolean {
  return useMedia("(prefers-reduced-motion: reduce)");
}

/** Words for the person's actions: with a mouse, or with a finger, which cannot point without a tap. */
export function usePointerWords() {
  const isTouch = useMedia("(pointer: coarse)");
  return isTouch
    ? { isTouch, Click: "Tap", PointAt: "Tap" }
    : { isTouch, Click: "Click", PointAt: "Point at" };
}
