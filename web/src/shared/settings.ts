/**
 * The settings of a room, each declared once: its initial value, and its text in links. The state of a room has exactly
 * one value for each setting.
 */
import type { Cell } from "#parts";
import {
  cellIn,
  cellText,
  indexIn,
  type Limits,
  numberIn,
  oneOf,
  onOff,
  type Readers,
  readParams,
} from "./linkReaders";
import type { LinkReading } from "./room";

export interface Setting<T> {
  readonly initial: T;
  /** Throws a RangeError whose message names the texts that it accepts. */
  read(text: string): T;
  /** The inverse of `read`; null for a value without a text. */
  write(value: T): string | null;
  /** Its name in links; by default its name in the state. */
  readonly link?: string;
  /** Whether it affects only the presentation, and so may change under a teacher's lock. */
  readonly isLook?: boolean;
  /** Of a number, as a link and the page count it. */
  readonly limits?: Limits;
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;

export type StateOf<All> = {
  readonly [Key in keyof All]: All[Key] extends Setting<infer T> ? T : never;
};

type More = Pick<Setting<unknown>, "link" | "isLook">;

/** For a setting that affects only the presentation. */
export const look = { isLook: true } as const;

/** A setting whose value is written as it is, unless `more` says how. */
export function setting<T>(
  initial: T,
  read: (text: string) => T,
  more: Partial<Setting<T>> = {},
): Setting<T> {
  return { initial, read, write: (value) => (value === null ? null : String(value)), ...more };
}

export const choice = <T extends string>(
  initial: NoInfer<T>,
  choices: readonly T[],
  more?: More,
): Setting<T> => setting<T>(initial, oneOf(...choices), more);

export const flag = (initial: boolean, more?: More): Setting<boolean> =>
  setting(initial, onOff, { write: (value) => (value ? "on" : "off"), ...more });

type NumberSetting = Setting<number> & { readonly limits: Limits };

const number =
  (isWhole: boolean) =>
  (initial: number, limits: Limits, more?: More): NumberSetting => ({
    ...setting(initial, numberIn(limits, isWhole), more),
    limits,
  });

export const whole = number(true);
export const decimal = number(false);

/** One of a few numbers. */
export const oneNumber = (initial: number, choices: readonly number[], more?: More) =>
  setting(initial, (text) => Number(oneOf(...choices.map(String))(text)), more);

/** A number that the state counts from 0, and a link from 1. */
export const index = <T extends number | null = number>(
  initial: NoInfer<T>,
  limits: Limits,
  more?: More,
): Setting<T> & { readonly limits: Limits } => ({
  ...setting<T>(initial, indexIn(limits) as (text: string) => T, {
    write: (value) => (value === null ? null : String(value + 1)),
    ...more,
  }),
  limits,
});

/** A row and a column, which a link counts from 1: "7.4". */
export const cell = <T extends Cell | null = Cell>(
  initial: NoInfer<T>,
  limits: Limits,
  more?: More,
): Setting<T> =>
  setting<T>(initial, cellIn(limits) as (text: string) => T, { write: cellText, ...more });

export function initialStateOf<All extends Settings>(settings: All): StateOf<All> {
  const entries = Object.entries(settings).map(([key, { initial }]) => [key, initial]);
  return Object.fromEntries(entries) as StateOf<All>;
}

/** The settings that may change under a teacher's lock. */
export function lookKeysOf<All extends Settings>(settings: All): (keyof All & string)[] {
  return Object.keys(settings).filter((key) => settings[key]?.isLook);
}

/** In the order of the settings. */
export function readersOf<All extends Settings>(settings: All): Readers<StateOf<All>> {
  const readers = Object.entries(settings).map(([key, { link = key, read }]) => [
    link,
    (text: string) => ({ [key]: read(text) }),
  ]);
  return Object.fromEntries(readers) as Readers<StateOf<All>>;
}

/** Writes the settings that differ from the initial ones. */
export function writeSettings<All extends Settings>(
  settings: All,
  state: StateOf<All>,
  initial: StateOf<All>,
  params = new URLSearchParams(),
): URLSearchParams {
  for (const [key, { link = key, write }] of Object.entries(settings)) {
    const text = write(state[key]);
    if (text !== null && text !== write(initial[key])) params.set(link, text);
  }
  return params;
}

/** The initial state of a room whose settings do not depend on one another, and its part of links. */
export function linkOf<All extends Settings>(settings: All) {
  const initialState = initialStateOf(settings);
  const readers = readersOf(settings);
  return {
    initialState,
    lookKeys: lookKeysOf(settings),
    read: (params: URLSearchParams): LinkReading<StateOf<All>> =>
      readParams(params, initialState, readers),
    write: (state: StateOf<All>): URLSearchParams => writeSettings(settings, state, initialState),
  };
}

/** The value and the limits of a setting, and the handler that changes it, for a field. */
export function fieldsOf<All extends Settings>(
  settings: All,
  { state, set }: { state: StateOf<All>; set(change: Partial<StateOf<All>>): void },
) {
  return <Key extends keyof All & string>(key: Key) => ({
    value: state[key],
    checked: state[key] === true,
    limits: (settings[key] as All[Key]).limits as All[Key]["limits"],
    onChange: (value: StateOf<All>[Key]) => set({ [key]: value } as Partial<StateOf<All>>),
  });
}
