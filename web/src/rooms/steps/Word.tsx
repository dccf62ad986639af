/** A coloured word that highlights its part of the picture. View.tsx handles every element with `data-highlights`. */

import type { Role } from "heed/view/parts";
import type { ComponentChildren } from "preact";
import type { MatrixName } from "./matrices";

export function Word({
  of,
  highlights,
  children,
}: {
  /** Its role, which determines the colour. */
  of?: Role;
  highlights: MatrixName;
  children: ComponentChildren;
}) {
  // A button, so that it can be reached by keyboard and by touch.
  return (
    <button type="button" class={of ? `word role-${of}` : "word"} data-highlights={highlights}>
      {children}
    </button>
  );
}
