/** What is worth a look in a room, as links: the link is the state. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { Panel } from "./Panel";
import type { Suggestion } from "./room";
import { useShell } from "./shell";

/** The panel "try" of every room. A suggestion leads out of what a teacher has locked: then there are none. */
export function TryNext({ suggestions }: { suggestions: readonly Suggestion[] }) {
  const { restrictions, setTried } = useShell();
  if (restrictions.lock) return null;
  return (
    <Panel name="try">
      <section class="try-next" aria-labelledby="try-title">
        <h2 id="try-title">What to look for</h2>
        <ul>
          {suggestions.map((suggestion) => {
            const [href, title, words] = suggestion;
            return (
              <li key={href}>
                <a href={href} onClick={() => setTried([...suggestion])}>
                  {title}
                </a>
                <p>{words}</p>
              </li>
            );
          })}
        </ul>
      </section>
    </Panel>
  );
}

/** What the person is trying, where it is to be seen: above the room, which comes into view. */
export function Tried({ suggestion, onEnd }: { suggestion: Suggestion; onEnd(): void }) {
  const [, title, words] = suggestion;
  const line = useRef<HTMLParagraphElement>(null);
  // Once for each click: whoever scrolls away and goes on must not be brought back.
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
