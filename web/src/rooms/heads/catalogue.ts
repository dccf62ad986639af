/** The trained models of this room, and the first input of each. */

export interface Exhibit {
  /** The folder of its files. */
  readonly folder: string;
  /** Its name in the choice of models. */
  readonly name: string;
  /** The label of its text field; null if it has none. */
  readonly field: string | null;
  /** What it does, in a few words. */
  readonly does: string;
  /** The first input: a text, or an example drawn from a seed. */
  readonly first: { readonly text: string } | { readonly seed: number };
}

export const exhibits = {
  pronouns: {
    folder: "pronouns-encoder",
    name: "pronouns",
    field: "Sentence",
    does: "says whom or what each pronoun means",
    first: { text: "Alice wrote a note and gave it to Bob." },
  },
  dates: {
    folder: "dates-transformer",
    name: "dates",
    field: "Date",
    does: "writes a date as year, month and day",
    first: { seed: 3 },
  },
  sort: {
    folder: "sort-transformer",
    name: "sort",
    field: "Letters",
    does: "writes letters in the order of the alphabet",
    first: { text: "attention" },
  },
  reverse: {
    folder: "reverse-transformer",
    name: "reverse",
    field: "Letters",
    does: "writes letters from the last to the first",
    first: { text: "attention" },
  },
  brackets: {
    folder: "brackets-decoder",
    name: "brackets",
    field: "Brackets",
    does: "continues brackets so that each one is closed by its own kind; whether another one opens is random",
    first: { text: "([]{()}" },
  },
  shapes: {
    folder: "shapes-encoder",
    name: "shapes",
    field: null,
    does: "says which shape a picture shows",
    first: { seed: 1 },
  },
} as const satisfies Readonly<Record<string, Exhibit>>;

export type ExhibitId = keyof typeof exhibits;

export const exhibitIds = Object.keys(exhibits) as ExhibitId[];

export function exhibitOf(id: ExhibitId): Exhibit {
  return exhibits[id];
}
