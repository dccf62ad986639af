/** A part of a room that is folded until a person opens it or `isWanted` becomes true. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

interface FoldProps {
  title: string;
  /** Opens the part, for example because it is shown alone or its content was changed. A person can close it again. */
  isWanted?: boolean;
  children: ComponentChildren;
}

export function Fold({ title, isWanted = false, children }: FoldProps) {
  const [isOpen, setOpen] = useState(isWanted);
  useEffect(() => {
    if (isWanted) setOpen(true);
  }, [isWanted]);
  return (
    <details
      class="fold"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <h2>{title}</h2>
      </summary>
      {children}
    </details>
  );
}
