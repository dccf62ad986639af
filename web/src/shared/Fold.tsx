/** A part of a room that is folded until a person opens it or `isWanted` becomes true. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useShell } from "./shell";

interface FoldProps {
  title: string;
  /** Opens the part, for example because it is shown alone or its content was changed. A person can close it again. */
  isWanted?: boolean;
  /** Whether paper shows it even if it is folded. */
  isPrinted?: boolean;
  children: ComponentChildren;
}

export function Fold({ title, isWanted = false, isPrinted = false, children }: FoldProps) {
  const [isOpen, setOpen] = useState(isWanted);
  const isOnPaper = useShell().isPrinting && isPrinted;
  useEffect(() => {
    if (isWanted) setOpen(true);
  }, [isWanted]);
  return (
    <details
      class="fold"
      open={isOpen || isOnPaper}
      onToggle={({ currentTarget }) => isOnPaper || setOpen(currentTarget.open)}
    >
      <summary>
        <h2>{title}</h2>
      </summary>
      {children}
    </details>
  );
}
