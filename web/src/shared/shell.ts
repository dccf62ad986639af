/** The values that the shell provides to every part of every room. */

import { useEffect } from "preact/hooks";
import type { Theme } from "#parts";
import type { Restrictions } from "./restrictions";
import type { Suggestion } from "./room";
import { workspaceIn } from "./workspaceIn";

export interface Shell {
  readonly theme: Theme;
  /** Whether the page is being printed. Everything that should be on paper must be drawn immediately. */
  readonly isPrinting: boolean;
  readonly restrictions: Restrictions;
  /** Shows a suggestion above the room; see TryNext. */
  setTried(suggestion: Suggestion): void;
  /** Keeps the current state in the browser's history before a step, so that Back returns to it. */
  remember(): void;
  /** Adds a few words to the footer. */
  setFootnote(words: string | null): void;
}

export const [ShellContext, useShell] = workspaceIn<Shell>();

/** Shows a summary of the computation and its speed in the footer while the room is open. */
export function useFootnote(words: string | null): void {
  const { setFootnote } = useShell();
  useEffect(() => setFootnote(words), [words, setFootnote]);
  useEffect(() => () => setFootnote(null), [setFootnote]);
}

/** For a click on a link to another room. A change of the hash alone would keep the place on the page. */
export function toTop({ metaKey, ctrlKey, shiftKey }: MouseEvent): void {
  if (!(metaKey || ctrlKey || shiftKey)) scrollTo({ top: 0, behavior: "instant" });
}
