/** What the shell shares with every part of every room. */
import { createContext } from "preact";
import { useContext, useEffect } from "preact/hooks";
import type { Theme } from "../picture/colour";
import type { EngineClient } from "../worker/engineClient";
import type { Restrictions } from "./restrictions";
import type { Suggestion } from "./room";

export interface Shell {
  readonly theme: Theme;
  /** The engine of all rooms; a room that trains makes one more of its own (see worker/engineClient.ts). */
  readonly engine: EngineClient;
  readonly restrictions: Restrictions;
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

/** Says in the footer what was computed and how fast, for as long as the room is open. */
export function useFootnote(words: string | null): void {
  const { setFootnote } = useShell();
  useEffect(() => setFootnote(words), [words, setFootnote]);
  useEffect(() => () => setFootnote(null), [setFootnote]);
}
