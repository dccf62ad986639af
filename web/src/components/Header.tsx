/** The page's name and its theme. */
import type { ThemeChoice } from "../theme";
import { Choice } from "./Fields";

export function Header({
  choice,
  choose,
}: {
  choice: ThemeChoice;
  choose(choice: ThemeChoice): void;
}) {
  return (
    <header>
      <p class="home">
        Heed <span class="faint">Playground</span>
      </p>
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
      <h1>Attention, step by step</h1>
      <p class="lead">
        Every word looks at every word and takes as much as it heeds. Every number is computed in
        this page.
      </p>
    </header>
  );
}
