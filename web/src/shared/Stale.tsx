/** Pictures of an input that is not the present one: greyed at once if that one cannot be read, else if it takes a while. */
import type { ComponentChildren } from "preact";

export function Stale({
  isStale,
  isUnread,
  children,
  ...more
}: {
  isStale: boolean;
  /** Whether the present input cannot be read: then nothing here can be used. */
  isUnread: boolean;
  class?: string;
  children: ComponentChildren;
}) {
  const words = [more.class, isUnread ? "stale unread-below" : isStale && "stale"];
  return (
    <div class={words.filter(Boolean).join(" ")} inert={isUnread} aria-busy={isStale}>
      {children}
    </div>
  );
}
