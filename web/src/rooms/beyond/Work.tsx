/** The area next to the settings: a heading for screen readers, text, pictures and tables. */
import type { ComponentChildren } from "preact";

export function Work({
  title,
  isStale = false,
  children,
}: {
  title: string;
  /** Whether the results belong to an earlier input. */
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
