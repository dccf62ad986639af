/** What the shell shares with every part of every room. */
import { createContext } from "preact";
import { useContext, useEffect } from "preact/hooks";
import type { Wishes } from "../app/link";
import type { Theme } from "../picture/colour";
import type { Engine } from "../worker/engineClient";
import type { Suggestion } from "./TryNext";

export interface Shell {
  readonly theme: Theme;
  /** The engine of all rooms; a room that trains makes one more of its own (see worker/engineClient.ts). */
  readonly engine: Engine;
  readonly wishes: Wishes;
  /** Shows above the room what is to be seen there; see TryNext. */
  setTried(suggestion: Suggestion): void;
  /** Puts a few words into the footer, after the engine's. */
  setFootnote(words: string | null): void;
}

export const ShellContext = createContext<Shell | null>(null);

export function useShell(): Shell {
  const shell = useContext(ShellContext);
  if (!shell) throw new Error("useShell needs a ShellContext around it");
  return shell;
}

/** Whether a teacher's link hides a part. Words inside of a panel ask for "text" with this. */
export function hides({ hide }: Wishes, part: string): boolean {
  return hide.includes(part);
}

/** Whether a panel is to be seen: it may be hidden, or another one be shown alone. */
export function shows(wishes: Wishes, panel: string): boolean {
  return !hides(wishes, panel) && (wishes.embed === null || wishes.embed === panel);
}

/** Says in the footer what was computed and how fast, for as long as the room is open. */
export function useFootnote(words: string | null): void {
  const { setFootnote } = useShell();
  useEffect(() => setFootnote(words), [words, setFootnote]);
  useEffect(() => () => setFootnote(null), [setFootnote]);
}
