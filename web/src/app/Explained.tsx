/** A text whose technical terms show their definitions. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { TermName } from "../shared/glossary";
import { Term } from "../shared/Term";
import type { RoomId } from "./rooms";

/** The first occurrence of each term in a text, in order. Plural forms count too. */
function placesOf(text: string, terms: readonly TermName[]) {
  const places = terms.flatMap((term) => {
    const forms = term.endsWith("y") ? `${term}|${term.slice(0, -1)}ies` : `${term}s?`;
    const found = new RegExp(`(?<![\\w-])(?:${forms})(?![\\w-])`, "i").exec(text);
    return found ? [{ term, start: found.index, end: found.index + found[0].length }] : [];
  });
  return places.sort((a, b) => a.start - b.start || b.end - a.end);
}

export function Explained({ room, children }: { room: RoomId; children: string }) {
  const [terms, setTerms] = useState<readonly TermName[]>([]);
  useEffect(() => {
    // Loads the terms after the room, which matters more. Until then the text has no definitions.
    const load = () => import("./glossaryTerms").then(({ termsOf }) => setTerms(termsOf[room]));
    const timer = setTimeout(() => load().catch(() => {}), 1000);
    return () => clearTimeout(timer);
  }, [room]);
  const parts: ComponentChildren[] = [];
  let from = 0;
  for (const { term, start, end } of placesOf(children, terms)) {
    if (start < from) continue;
    parts.push(children.slice(from, start), <Term name={term}>{children.slice(start, end)}</Term>);
    from = end;
  }
  // One list that always begins with text, so that Preact keeps the elements that exist already.
  parts.push(children.slice(from));
  return <>{parts}</>;
}
