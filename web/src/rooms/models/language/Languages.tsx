/** The languages that a model translates from and to. */
import { useId, useMemo } from "preact/hooks";
import { missingIn } from "../../../shared/linkReaders";
import type { Setter } from "../../../shared/room";
import type { Card, ReadAnswer } from "./messages";
import type { State } from "./state";

const names = new Intl.DisplayNames("en", { type: "language", fallback: "code" });

/** The name of a language from its token, such as en_XX, eng_Latn or __en__. */
export function languageName(token: string): string {
  const [language = token, script = ""] = token.replaceAll("__", "").split("_");
  const isScript = /^[A-Z][a-z]{3}$/.test(script) && script !== "Latn";
  const code = isScript ? `${language}-${script}` : language;
  return Intl.getCanonicalLocales(code).map((each) => names.of(each) ?? each)[0] ?? code;
}

/** The notices about languages of a link that a model does not have. */
export const missingLanguages = ({ languages }: Card, { from, to }: State): string[] =>
  missingIn(
    { from, to },
    (token) => languages.includes(token),
    "the token of a language of this model",
  );

interface FieldProps {
  readonly label: string;
  /** The tokens of the languages and their names. */
  readonly named: readonly (readonly [token: string, name: string])[];
  /** Undefined if the text has no token of a language. */
  readonly value: string | undefined;
  onChange(language: string): void;
}

function Field({ label, named, value = "", onChange }: FieldProps) {
  const id = useId();
  return (
    <span>
      <label for={id} class="faint">
        {label}
      </label>{" "}
      <select id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {value === "" && <option value="">not said</option>}
        {named.map(([token, name]) => (
          <option key={token} value={token}>
            {name}
          </option>
        ))}
      </select>
    </span>
  );
}

interface LanguagesProps {
  readonly card: Card;
  readonly answer: ReadAnswer | null;
  readonly state: State;
  set: Setter<State>;
}

/** The languages of the text, or the chosen ones while they are read; nothing for a model without languages. */
export function Languages({ card, answer, state, set }: LanguagesProps) {
  const { languages, marksLanguage } = card;
  const named = useMemo(
    () =>
      languages
        .map((token) => [token, languageName(token)] as const)
        .sort(([, a], [, b]) => a.localeCompare(b)),
    [languages],
  );
  if (languages.length === 0) return null;
  const { tokens, sources, given } = answer ?? { tokens: [], sources: 0, given: 0 };
  const shownOf = (chosen: string | null, of: ReadAnswer["tokens"]) =>
    languages.find((token) => token === chosen) ??
    of.find(({ raw }) => languages.includes(raw))?.raw;
  const begin = { kept: [], place: null, cell: null } as const;
  return (
    <p class="line languages">
      {marksLanguage && (
        <Field
          label="From"
          {...{ named, value: shownOf(state.from, tokens.slice(0, sources)) }}
          onChange={(from) => set({ from, ...begin })}
        />
      )}
      <Field
        label="To"
        {...{ named, value: shownOf(state.to, tokens.slice(sources, given)) }}
        onChange={(to) => set({ to, ...begin })}
      />
    </p>
  );
}
