/** Text for screen readers only, announced whenever it changes. */
import type { ComponentChildren } from "preact";

export function Announced({ children }: { children: ComponentChildren }) {
  return (
    <div class="only-heard" aria-live="polite">
      {children}
    </div>
  );
}
