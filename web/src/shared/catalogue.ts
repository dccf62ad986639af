/** The trained models of tasks, and the first input of each. */
import { mostTokens } from "./typed";

interface Exhibit {
  /** The folder of the model's files. */
  readonly folder: string;
  /** The model's name among the choices. */
  readonly name: string;
  /** The label of its text field and the texts that it accepts; null if it has none. */
  readonly field: { readonly label: string; readonly limits: string } | null;
  /** A short description of its task. */
  readonly does: string;
  /** The first input: a text, or an example drawn from a seed. */
  readonly first: { readonly text: string } | { readonly seed: number };
}

const letters = { label: "Letters", limits: `a to z, up to ${mostTokens}` };

const exhibits = {
  pronouns: {
    folder: "pronouns-encoder",
    name: "pronouns",
    field: { label: "Sentence", limits: `up to ${mostTokens} known words` },
    does: "says whom or what each pronoun means",
    first: { text: "Alice helped Clara because she was kind." },
  },
  dates: {
    folder: "dates-transformer",
    name: "dates",
    field: { label: "Date", limits: "in English, 1900 to 2099" },
    does: "writes a date as year, month and day",
    first: { seed: 3 },
  },
  sort: {
    folder: "sort-transformer",
    name: "sort",
    field: letters,
    does: "writes letters in the order of the alphabet",
    first: { text: "attention" },
  },
  reverse: {
    folder: "reverse-transformer",
    name: "reverse",
    field: letters,
    does: "writes letters from the last to the first",
    first: { text: "attention" },
  },
  brackets: {
    folder: "brackets-decoder",
    name: "brackets",
    field: { label: "Brackets", limits: `up to ${mostTokens} of ( ) [ ] { }` },
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
