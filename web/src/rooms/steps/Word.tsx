/** A coloured word that lights its part of the picture; View.tsx hears whatever names matrices in `data-lights`. */
import type { ComponentChildren } from "preact";
import type { Role } from "../../shared/explanation";
import type { MatrixName } from "./matrices";

export function Word({
  of,
  lights,
  children,
}: {
  /** The role that colours it; without one it is ink. */
  of?: Role;
  lights: MatrixName;
  children: ComponentChildren;
}) {
  // A button, so that it is reached by keyboard and by touch.
  return (
    <button type="button" class={of ? `word role-${of}` : "word"} data-lights={lights}>
      {children}
    </button>
  );
}
