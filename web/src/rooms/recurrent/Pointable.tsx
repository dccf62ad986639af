/** Holds what is pointed at, so that only the parts that show it are redrawn. */
import type { ComponentChildren } from "preact";
import { useCallback, useMemo, useState } from "preact/hooks";
import { textOf } from "../../shared/explanation";
import { explain } from "./maps";
import { type Pointed, type Pointing, PointingContext, usePage } from "./page";

const isSame = (a: Pointed | null, b: Pointed | null) =>
  a?.row === b?.row && a?.col === b?.col && a?.model === b?.model;

export function Pointable({ children }: { children: ComponentChildren }) {
  const page = usePage();
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const [byKeyboard, setByKeyboard] = useState(false);
  const point = useCallback<Pointing["point"]>((next, by) => {
    setByKeyboard(by === "keyboard");
    setPointed((now) => (isSame(now, next) ? now : next));
  }, []);
  const pointing = useMemo(() => ({ pointed, point }), [pointed, point]);
  const explanation = byKeyboard && pointed && explain(page, pointed);
  return (
    <PointingContext.Provider value={pointing}>
      {children}
      <div class="only-heard" aria-live="polite">
        {explanation ? textOf(explanation) : ""}
      </div>
    </PointingContext.Provider>
  );
}
