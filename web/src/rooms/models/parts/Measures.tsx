/** All measures of a head as a list. */
import { format } from "heed/view/parts";

export function Measures<Name extends string>({
  names,
  words,
  values,
}: {
  names: readonly Name[];
  words: Readonly<Record<Name, { readonly name: string }>>;
  values: Readonly<Record<Name, number | null>> | undefined;
}) {
  return (
    <dl class="measures number">
      {names.map((name) => {
        const value = values?.[name] ?? null;
        return (
          <div key={name}>
            <dt>{words[name].name}</dt>
            <dd data-measure={name}>{value === null ? "–" : format(value)}</dd>
          </div>
        );
      })}
    </dl>
  );
}
