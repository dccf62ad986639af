/** What is worth a look in a room, as links: the link is the state. */
import { useShell } from "../shell";
import { Panel } from "./Panel";

/** Where it leads, what it is called, and what is to be seen there. */
export type Suggestion = readonly [href: string, title: string, words: string];

/** The panel "try" of every room. A suggestion leads out of what a teacher has locked: then there are none. */
export function TryNext({ suggestions }: { suggestions: readonly Suggestion[] }) {
  if (useShell().wishes.lock) return null;
  return (
    <Panel name="try">
      <section class="try-next" aria-labelledby="try-title">
        <h2 id="try-title">What to look for</h2>
        <ul>
          {suggestions.map(([href, title, words]) => (
            <li key={href}>
              <a href={href}>{title}</a>
              <p>{words}</p>
            </li>
          ))}
        </ul>
      </section>
    </Panel>
  );
}
