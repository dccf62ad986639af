/** The area beside the settings: a heading for screen readers, text, pictures and tables. */
import type { ComponentChildren } from "preact";

export function Work({
  title,
  isStale = false,
  children,
}: {
  title: string;
  /** Whether what is shown belongs to another input than the one that is asked for. */
  isStale?: boolean;
  children: ComponentChildren;
}) {
  return (
    <div class={isStale ? "work stale" : "work"}>
      <h2 class="only-heard">{title}</h2>
      {children}
    </div>
  );
}
