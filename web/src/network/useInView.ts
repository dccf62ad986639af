/** Whether an element is in view, or close to it. */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** A panel is computed shortly before it comes into view. */
const margin = "200px";

export function useInView<T extends HTMLElement>(): [RefObject<T | null>, boolean] {
  const ref = useRef<T>(null);
  const [isIn, setIsIn] = useState(false);
  useEffect(() => {
    if (!ref.current) return;
    const look = (entries: IntersectionObserverEntry[]) =>
      setIsIn(entries.at(-1)?.isIntersecting ?? false);
    const observer = new IntersectionObserver(look, { rootMargin: margin });
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return [ref, isIn];
}
