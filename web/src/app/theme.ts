/** Light or dark: the system's choice unless the person made one, which is remembered (see public/theme.js). */
import { useEffect, useState } from "preact/hooks";
import type { Theme } from "#parts";
import { useMedia } from "../shared/useMedia";

export type ThemeChoice = "auto" | Theme;

const key = "heed-theme";

function remembered(): ThemeChoice {
  const choice = document.documentElement.dataset.theme;
  return choice === "light" || choice === "dark" ? choice : "auto";
}

/** Prints in light colours. Sets them immediately, because a picture reads its colours when it is drawn. */
function usePrinting(choice: ThemeChoice): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const paper = matchMedia("print");
    const follow = (printing: boolean) => {
      show(printing ? "light" : choice);
      setPrinting(printing);
    };
    const ending = new AbortController();
    const { signal } = ending;
    paper.addEventListener("change", () => follow(paper.matches), { signal });
    addEventListener("beforeprint", () => follow(true), { signal });
    addEventListener("afterprint", () => follow(false), { signal });
    return () => ending.abort();
  }, [choice]);
  return isPrinting;
}

function show(choice: ThemeChoice): void {
  if (choice === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
}

export function useTheme() {
  const [choice, setChoice] = useState(remembered);
  const systemIsDark = useMedia("(prefers-color-scheme: dark)");
  const chosen = choice === "auto" ? (systemIsDark ? "dark" : "light") : choice;
  const isPrinting = usePrinting(choice);
  const theme: Theme = isPrinting ? "light" : chosen;
  return {
    ...{ choice, theme, isPrinting },
    choose(next: ThemeChoice) {
      show(next);
      try {
        localStorage.setItem(key, next);
      } catch {
        // Storage may be forbidden. Then the choice lasts until the page is closed.
      }
      setChoice(next);
    },
  };
}
