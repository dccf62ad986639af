/** Light or dark: the system's choice unless the person made one, which is remembered (see public/theme.js). */
import { useEffect, useState } from "preact/hooks";
import type { Theme } from "../picture/colour";

export type ThemeChoice = "auto" | Theme;

const key = "heed-theme";

function remembered(): ThemeChoice {
  const choice = document.documentElement.dataset.theme;
  return choice === "light" || choice === "dark" ? choice : "auto";
}

export function useTheme(): {
  choice: ThemeChoice;
  theme: Theme;
  choose(choice: ThemeChoice): void;
} {
  const [choice, setChoice] = useState(remembered);
  const [systemIsDark, setSystemIsDark] = useState(
    () => matchMedia("(prefers-color-scheme: dark)").matches,
  );
  useEffect(() => {
    const query = matchMedia("(prefers-color-scheme: dark)");
    const follow = () => setSystemIsDark(query.matches);
    query.addEventListener("change", follow);
    return () => query.removeEventListener("change", follow);
  }, []);
  return {
    choice,
    theme: choice === "auto" ? (systemIsDark ? "dark" : "light") : choice,
    choose(next) {
      if (next === "auto") delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = next;
      try {
        localStorage.setItem(key, next);
      } catch {
        // Storage may be forbidden; the choice then lasts as long as the page.
      }
      setChoice(next);
    },
  };
}
