/** What a room of the Playground is. The shell (app/app.tsx) gives it the link, the engine and the look. */
import type { ComponentChildren } from "preact";

/** Changes some settings; a function is given the very latest ones. */
export type Setter<State> = (change: Partial<State> | ((now: State) => Partial<State>)) => void;

export interface Reading<State> {
  readonly state: State;
  /** What of the link could not be used, in words. */
  readonly notices: readonly string[];
}

export interface RoomProps<State> extends Reading<State> {
  readonly set: Setter<State>;
}

/** A part of a room that a teacher's link can hide or show alone: what stands in `<Panel name=…>`. */
export type Panels = Readonly<Record<string, string>>;

/** Methods, not properties, so that rooms of every state fit one list. */
export interface Room<State> {
  readonly title: string;
  readonly lead: string;
  /** The panels by name, each with the words that a teacher chooses it by. */
  readonly panels: Panels;
  /** What may still be changed under a teacher's lock: where one looks, not what is computed. */
  readonly look: readonly (keyof State)[];
  /** The state that a link describes; the shell has taken its own keys out. Bad values are left out and named. */
  read(params: URLSearchParams): Reading<State>;
  /** The other way: only what differs from the room's first view. */
  write(state: State): URLSearchParams;
  View(props: RoomProps<State>): ComponentChildren;
}

/** Where it leads, what it is called, and what is to be seen there. */
export type Suggestion = readonly [href: string, title: string, words: string];
