/** The page's name, the navigation, the theme, and the title and lead of the current room. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { CopyButton } from "../shared/CopyButton";
import { Choice } from "../shared/Fields";
import { Explained } from "./Explained";
import { type RoomId, rooms } from "./rooms";
import type { ThemeChoice } from "./theme";

interface HeaderProps {
  current: RoomId;
  /** Null if a teacher's link hides the navigation. */
  linkTo: ((id: RoomId) => string) | null;
  title: string;
  /** Null if a teacher's link hides explanations. */
  lead: string | null;
  address: string;
  choice: ThemeChoice;
  choose(choice: ThemeChoice): void;
}

export function Header({ current, linkTo, title, lead, address, choice, choose }: HeaderProps) {
  const list = useRef<HTMLUListElement>(null);
  // On a narrow page the navigation is one line, which scrolls to the current room without scrolling the page.
  useLayoutEffect(() => {
    const [line, link] = [list.current, list.current?.querySelector("[aria-current]")];
    if (!line || !link) return;
    const [outer, inner] = [line.getBoundingClientRect(), link.getBoundingClientRect()];
    line.scrollLeft += inner.left + inner.width / 2 - (outer.left + outer.width / 2);
  }, [current]);

  return (
    <header>
      <p class="home">
        Heed <span class="faint">Playground</span>
      </p>
      {linkTo && (
        <nav class="rooms" aria-label="Rooms">
          <ul ref={list} class="line">
            {rooms.map(({ id, name, question }) => (
              <li key={id}>
                <a
                  href={linkTo(id)}
                  title={question}
                  aria-current={id === current ? "page" : undefined}
                >
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      )}
      <div class="header-controls">
        <CopyButton text={address} words="Copy link" done="Link copied" />
        <Choice
          label="Theme"
          value={choice}
          choices={(["auto", "light", "dark"] as const).map((name) => [name, name] as const)}
          onChange={choose}
        />
      </div>
      <h1>{title}</h1>
      {lead !== null && (
        <p class="lead faint">
          <Explained room={current}>{lead}</Explained>
        </p>
      )}
    </header>
  );
}
