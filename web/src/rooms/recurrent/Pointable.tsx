/** Stores the characters that the person points at, so that only the parts that show them are redrawn. */

import type { ComponentChildren } from "preact";
import { useCallback, useMemo, useState } from "preact/hooks";
import { explanationText } from "#parts";
import { Announced } from "../../shared/Announced";
import { explainAlignment } from "./maps";
import {
  type PointedCharacters,
  type Pointing,
  PointingContext,
  useRecurrentWorkspace,
} from "./workspace";

const isSame = (a: PointedCharacters | null, b: PointedCharacters | null) =>
  a?.row === b?.row && a?.col === b?.col && a?.model === b?.model;

export function Pointable({ children }: { children: ComponentChildren }) {
  const workspace = useRecurrentWorkspace();
  const [pointed, setPointed] = useState<PointedCharacters | null>(null);
  const [byKeyboard, setByKeyboard] = useState(false);
  const point = useCallback<Pointing["point"]>((next, by) => {
    setByKeyboard(by === "keyboard");
    setPointed((now) => (isSame(now, next) ? now : next));
  }, []);
  const pointing = useMemo(() => ({ pointed, point }), [pointed, point]);
  const explanation = byKeyboard && pointed && explainAlignment(workspace, pointed);
  return (
    <PointingContext.Provider value={pointing}>
      {children}
      <Announced>{explanation ? explanationText(explanation) : ""}</Announced>
    </PointingContext.Provider>
  );
}
