/** The state lives in the address after the `#`, both ways. */
import { useCallback, useEffect, useState } from "preact/hooks";
import { readLink, writeLink } from "./link";
import type { Setter } from "./page";
import type { State } from "./state";

/** Browsers refuse more than some hundred changes of the address in half a minute; a drag would make more. */
const wait = 200;

export function useLink(): { state: State; set: Setter; notices: readonly string[] } {
  const [{ state, notices }, setReading] = useState(() => readLink(location.hash));

  useEffect(() => {
    const follow = () => setReading(readLink(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);

  useEffect(() => {
    const timer = setTimeout(() => {
      const link = writeLink(state);
      if (link !== location.hash.slice(1)) history.replaceState(null, "", `#${link}`);
    }, wait);
    return () => clearTimeout(timer);
  }, [state]);

  const set = useCallback<Setter>(
    (change) =>
      setReading((reading) => ({
        notices: [],
        state: {
          ...reading.state,
          ...(typeof change === "function" ? change(reading.state) : change),
        },
      })),
    [],
  );
  return { state, set, notices };
}
