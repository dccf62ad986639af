/**
 * Pictures of an earlier input. They turn grey immediately if the new input cannot be read, otherwise only if its
 * computation takes a while.
 */
import type { ComponentChildren } from "preact";

interface StaleProps {
  isStale: boolean;
  /** Whether the new input cannot be read. Then nothing here can be used. */
  isUnread: boolean;
  class?: string;
  children: ComponentChildren;
}

export function Stale({ isStale, isUnread, children, ...more }: StaleProps) {
  const words = [more.class, isUnread ? "stale unread-below" : isStale && "stale"];
  return (
    <div class={words.filter(Boolean).join(" ")} inert={isUnread} aria-busy={isStale}>
      {children}
    </div>
  );
}
