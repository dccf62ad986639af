/** A term of art that shows its definition beside it when it is clicked, tapped, or chosen by keyboard. */
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
      {/* The browser's own popover: it opens and closes, moves the focus, and tells screen readers. */}
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
