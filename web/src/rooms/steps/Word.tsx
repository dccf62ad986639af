/** A coloured word that highlights its part of the picture; View.tsx hears whatever names matrices in `data-highlights`. */
import type { ComponentChildren } from "preact";
import type { Role } from "../../shared/explanation";
import type { MatrixName } from "./matrices";

export function Word({
  of,
  highlights,
  children,
}: {
  /** The role that colours it; without one it is ink. */
  of?: Role;
  highlights: MatrixName;
  children: ComponentChildren;
}) {
  // A button, so that it is reached by keyboard and by touch.
  return (
    <button type="button" class={of ? `word role-${of}` : "word"} data-highlights={highlights}>
      {children}
    </button>
  );
}
