/** The glossary of a room; the terms are loaded when it is first opened. */
import { useState } from "preact/hooks";
import type { RoomId } from "./rooms";

export function Glossary({ room }: { room: RoomId }) {
  const [words, setWords] = useState<typeof import("./glossaryTerms") | null>(null);
  return (
    <section aria-label="Words used in this room">
      <details
        class="glossary"
        onToggle={({ currentTarget }) => {
          if (currentTarget.open) import("./glossaryTerms").then(setWords, () => {});
        }}
      >
        <summary>Words used in this room</summary>
        {words && (
          <dl>
            {words.termsOf[room].map((term) => (
              <div key={term}>
                <dt>{term}</dt>
                <dd>{words.glossary[term]}</dd>
              </div>
            ))}
          </dl>
        )}
      </details>
    </section>
  );
}
