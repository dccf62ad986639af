/** Saves vectors of one head as numbers: a row for each token. */
import { type MatrixView, numbersOf } from "#parts";
import { SaveMenu } from "../picture/SaveMenu";
import { keysOf, queriesOf } from "./attended";
import type { OneHead } from "./RowDetails";

const roles = { queries: "q", keys: "k", values: "v" } as const;

interface Vectors {
  readonly of: keyof typeof roles;
  readonly view: MatrixView;
  readonly tokens: readonly string[];
}

export function queriesAndKeys({ attention, shares, head }: OneHead): readonly Vectors[] {
  return [
    { of: "queries", view: queriesOf(attention, shares, head), tokens: attention.rows },
    { of: "keys", view: keysOf(attention, shares, head), tokens: attention.columns },
  ];
}

interface SaveVectorsProps {
  /** The name of the head. */
  name: string;
  file: string;
  vectors: readonly Vectors[];
}

export function SaveVectors({ name, file, vectors }: SaveVectorsProps) {
  return (
    <div class="save-vectors line small">
      {vectors.map(({ of, view, tokens }) => (
        <span key={of}>
          <b class={`role-${roles[of]}`}>{roles[of].toUpperCase()}</b>
          <SaveMenu
            title={`the ${of} of ${name}`}
            file={`${of}-${file}`}
            contents={numbersOf(view, tokens, undefined)}
          />
        </span>
      ))}
    </div>
  );
}
