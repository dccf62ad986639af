/** What stands beside the settings: a heading for those who hear the page, words, pictures and tables. */
import type { ComponentChildren } from "preact";

export function Work({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="work">
      <h2 class="only-heard">{title}</h2>
      {children}
    </div>
  );
}
