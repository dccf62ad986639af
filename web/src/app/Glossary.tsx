/** The terms of a room, or of all rooms, with their definitions. Loaded when it is first opened. */
import { useState } from "preact/hooks";
import { Switch } from "../shared/Fields";
import type { TermName } from "../shared/glossary";
import type { RoomId } from "./rooms";

async function load() {
  const [{ glossary }, { termsOf }] = await Promise.all([
    import("../shared/glossary"),
    import("./glossaryTerms"),
  ]);
  return { glossary, termsOf };
}

const alphabet = new Intl.Collator("en").compare;

export function Glossary({ room }: { room: RoomId }) {
  const [words, setWords] = useState<Awaited<ReturnType<typeof load>> | null>(null);
  const [all, setAll] = useState(false);
  const names: readonly TermName[] = !words
    ? []
    : all
      ? (Object.keys(words.glossary) as TermName[]).sort(alphabet)
      : words.termsOf[room];
  return (
    <section aria-label="Words used in this room">
      <details
        class="glossary"
        onToggle={({ currentTarget }) => {
          if (currentTarget.open) load().then(setWords, () => {});
        }}
      >
        <summary>Words used in this room</summary>
        {words && (
          <>
            <Switch label="Show the words of all rooms" checked={all} onChange={setAll} />
            <dl>
              {names.map((name) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd class="faint">{words.glossary[name]}</dd>
                </div>
              ))}
            </dl>
          </>
        )}
      </details>
    </section>
  );
}
