/** The page's name, its rooms, its theme, and what the current room is about. */
import { type RoomId, rooms } from "../rooms";
import type { ThemeChoice } from "../theme";
import { Choice } from "./Fields";

export function Header({
  current,
  linkTo,
  title,
  lead,
  choice,
  choose,
}: {
  current: RoomId;
  /** Null where a teacher's link hides the navigation. */
  linkTo: ((id: RoomId) => string) | null;
  title: string;
  /** Null where a teacher's link hides the words. */
  lead: string | null;
  choice: ThemeChoice;
  choose(choice: ThemeChoice): void;
}) {
  return (
    <header>
      <p class="home">
        Heed <span class="faint">Playground</span>
      </p>
      {linkTo && (
        <nav class="rooms" aria-label="Rooms">
          <ul>
            {rooms.map(({ id, name, ...more }) => (
              <li key={id}>
                <a
                  href={linkTo(id)}
                  aria-current={id === current ? "page" : undefined}
                  data-short={"short" in more ? more.short : undefined}
                >
                  <span class="room-name">{name}</span>
                </a>
              </li>
            ))}
          </ul>
        </nav>
      )}
      <Choice
        label="Theme"
        value={choice}
        choices={[
          ["auto", "auto"],
          ["light", "light"],
          ["dark", "dark"],
        ]}
        onChange={choose}
      />
      <h1>{title}</h1>
      {lead !== null && <p class="lead">{lead}</p>}
    </header>
  );
}
