/** A technical term. A click, a tap or the keyboard shows its definition next to it. */
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import type { TermName } from "./glossary";

export function Term({ name, children = name }: { name: TermName; children?: ComponentChildren }) {
  const id = useId();
  const [words, setWords] = useState<string | null>(null);
  const load = () =>
    import("./glossary").then(
      ({ glossary }) => setWords(glossary[name]),
      () => setWords("The definition could not be loaded. Is there a connection?"),
    );
  return (
    <>
      {/* A native popover: the browser opens and closes it, moves the focus, and informs screen readers. */}
      <button type="button" class="term" popovertarget={id} onClick={load}>
        {children}
      </button>
      <span id={id} popover="auto" class="definition" role="status">
        {words !== null && (
          <>
            <b>{name}</b> {words}
          </>
        )}
      </span>
    </>
  );
}
