/** The area beside the settings: a heading for screen readers, text, pictures and tables. */
import type { ComponentChildren } from "preact";

export function Work({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="work">
      <h2 class="only-heard">{title}</h2>
      {children}
    </div>
  );
}
