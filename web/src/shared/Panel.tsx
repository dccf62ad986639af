/** Parts of a room that a teacher's link can hide, show alone, or lock. */
import type { ComponentChildren } from "preact";
import { hides, shows } from "./restrictions";
import { useShell } from "./shell";

/**
 * A part of a room, under a name of the room's list of panels. Panels must not be nested: an inner panel that is shown
 * alone would be hidden together with the outer one. In every room the name "text" means explanations, which are not a
 * panel.
 */
export function Panel({ name, children }: { name: string; children: ComponentChildren }) {
  const { restrictions } = useShell();
  return shows(restrictions, name) ? children : null;
}

/** A paragraph of explanation, which a teacher's link can hide together with all others. */
export function Prose({ children, ...props }: { class?: string; children: ComponentChildren }) {
  const { restrictions } = useShell();
  return hides(restrictions, "text") ? null : <p {...props}>{children}</p>;
}

/** Controls that change the computation. A teacher's lock disables them. */
export function Lockable({ children }: { children: ComponentChildren }) {
  const { restrictions } = useShell();
  return (
    <fieldset class="lockable" disabled={restrictions.lock}>
      {children}
    </fieldset>
  );
}
