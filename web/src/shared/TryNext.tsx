/** Suggestions of what to try in a room, as links to states. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { Panel } from "./Panel";
import type { Suggestion } from "./room";
import { useShell } from "./shell";

/**
 * The panel "try" of every room. After the person follows the link of a suggestion, the page explains what to look at. A suggestion
 * changes the settings, so there are none under a teacher's lock.
 */
export function TryNext({ suggestions }: { suggestions: readonly Suggestion[] }) {
  const { restrictions, setTried } = useShell();
  if (restrictions.lock) return null;
  return (
    <Panel name="try">
      <section class="try-next" aria-labelledby="try-title">
        <h2 id="try-title">Try</h2>
        <ul>
          {suggestions.map((suggestion) => {
            const [href, title] = suggestion;
            return (
              <li key={href}>
                <a href={href} onClick={() => setTried([...suggestion])}>
                  {title}
                </a>
              </li>
            );
          })}
        </ul>
      </section>
    </Panel>
  );
}

/** The suggestion that the person is trying, shown above the room. It is scrolled into view. */
export function Tried({ suggestion, onEnd }: { suggestion: Suggestion; onEnd(): void }) {
  const [, title, words] = suggestion;
  const line = useRef<HTMLParagraphElement>(null);
  // Scrolls only once for each click, so that a person who scrolls on is not moved back.
  useLayoutEffect(() => line.current?.scrollIntoView({ block: "start" }), [suggestion]);
  return (
    <p ref={line} class="tried" role="status">
      <b>{title}.</b> {words}{" "}
      <button type="button" class="link" onClick={onEnd}>
        Close
      </button>
    </p>
  );
}
