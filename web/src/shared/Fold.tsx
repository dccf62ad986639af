/** A part of a room that is folded until a person opens it or `isWanted` becomes true. */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
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
  const element = useRef<HTMLDetailsElement>(null);
  // A person may have closed it just before printing, and its event is still to come.
  useLayoutEffect(() => {
    if (!isOnPaper || !element.current || element.current.open) return;
    setOpen(false);
    element.current.open = true;
  }, [isOnPaper]);
  useEffect(() => {
    if (isWanted) setOpen(true);
  }, [isWanted]);
  return (
    <details
      ref={element}
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
