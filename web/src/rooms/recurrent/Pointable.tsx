/** Stores the characters that the person points at, so that only the parts that show them are redrawn. */
import type { ComponentChildren } from "preact";
import { explanationText } from "#parts";
import { Announced } from "../../shared/Announced";
import { usePointed } from "../../shared/Reading";
import { explainAlignment } from "./maps";
import { type PointedCharacters, PointingContext, useRecurrentWorkspace } from "./workspace";

export function Pointable({ children }: { children: ComponentChildren }) {
  const workspace = useRecurrentWorkspace();
  const pointing = usePointed<PointedCharacters>();
  const { cell, byKeyboard } = pointing;
  const explanation = byKeyboard && cell && explainAlignment(workspace, cell);
  return (
    <PointingContext.Provider value={pointing}>
      {children}
      <Announced>{explanation ? explanationText(explanation) : ""}</Announced>
    </PointingContext.Provider>
  );
}
