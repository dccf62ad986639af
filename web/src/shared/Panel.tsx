/** Parts of a room that a teacher's link can hide, show alone, or lock. */
import type { ComponentChildren } from "preact";
import { shows } from "./restrictions";
import { useShell } from "./shell";

/**
 * A part under the name that the room lists it by; "text" is for explaining words, in every room. A panel stands in no
 * other panel: one that is shown alone would be hidden with the outer one.
 */
export function Panel({ name, children }: { name: string; children: ComponentChildren }) {
  const { restrictions } = useShell();
  return shows(restrictions, name) ? children : null;
}

/** Fields that change what is computed: a teacher's lock disables them, in the browser's own way. */
export function Lockable({ children }: { children: ComponentChildren }) {
  const { restrictions } = useShell();
  return (
    <fieldset class="lockable" disabled={restrictions.lock}>
      {children}
    </fieldset>
  );
}
