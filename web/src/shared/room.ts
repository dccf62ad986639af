/** The interface between a room of the Playground and the shell (app/app.tsx). */
import type { ComponentChildren } from "preact";

/** Changes some settings; a function receives the latest ones. */
export type Setter<State> = (change: Partial<State> | ((now: State) => Partial<State>)) => void;

export interface LinkReading<State> {
  readonly state: State;
  /** Messages about the parameters that could not be used. */
  readonly notices: readonly string[];
}

export interface RoomProps<State> extends LinkReading<State> {
  readonly set: Setter<State>;
}

/** The parts of a room that a teacher's link can hide or show alone, each in a `<Panel name=…>`. */
export type Panels = Readonly<Record<string, string>>;

/** Uses methods, not properties, so that rooms with different states fit in one list. */
export interface Room<State> {
  readonly title: string;
  readonly lead: string;
  /** The panels by name, each with a description for teachers. */
  readonly panels: Panels;
  /** The settings that may change under a teacher's lock, because they affect only the presentation. */
  readonly look: readonly (keyof State)[];
  /**
   * The state that a link describes, without the keys of the shell. Invalid values are ignored and named in a notice.
   */
  read(params: URLSearchParams): LinkReading<State>;
  /** The view of a room with several ones, as a class of its styles. */
  variantOf?(state: State): string;
  /** The inverse of `read`. Writes only the settings that differ from the room's initial state. */
  write(state: State): URLSearchParams;
  View(props: RoomProps<State>): ComponentChildren;
}

/** A link, its title, and a sentence about what to look at. */
export type Suggestion = readonly [href: string, title: string, words: string];
