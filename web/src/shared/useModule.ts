/** A module that is loaded when a component first needs it. */
import { useEffect, useState } from "preact/hooks";

interface Loaded<T> {
  /** Null until it is loaded. */
  readonly module: T | null;
  readonly hasFailed: boolean;
}

export function useModule<T>(load: () => Promise<T>): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ module: null, hasFailed: false });
  useEffect(() => {
    load().then(
      (module) => setLoaded({ module, hasFailed: false }),
      () => setLoaded({ module: null, hasFailed: true }),
    );
  }, []);
  return loaded;
}
