import { useEffect, useState } from "preact/hooks";

const query = "(prefers-reduced-motion: reduce)";

/** Whether the person prefers reduced motion. */
export function useReducedMotion(): boolean {
  const [reduced, setReduced] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const follow = () => setReduced(list.matches);
    list.addEventListener("change", follow);
    return () => list.removeEventListener("change", follow);
  }, []);
  return reduced;
}
