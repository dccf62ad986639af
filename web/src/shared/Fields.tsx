/** The kinds of controls that the page uses. */
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";

export function NumberField({
  label,
  value,
  limits,
  step = 1,
  onChange,
}: {
  label: string;
  value: number;
  limits: { readonly min: number; readonly max: number };
  step?: number;
  onChange(value: number): void;
}) {
  // The typed text may be incomplete; only a number within the limits becomes the value.
  const [typed, setTyped] = useState<string | null>(null);
  const id = useId();
  const valid = (text: string) => {
    const number = Number(text);
    const whole = step !== 1 || Number.isInteger(number);
    return text.trim() !== "" && number >= limits.min && number <= limits.max && whole;
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="number"
        min={limits.min}
        max={limits.max}
        step={step}
        value={typed ?? String(value)}
        aria-invalid={typed !== null && !valid(typed)}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value);
          if (valid(currentTarget.value)) onChange(Number(currentTarget.value));
        }}
        onBlur={() => setTyped(null)}
      />
    </div>
  );
}

export function Slider({
  label,
  value,
  limits,
  step,
  text,
  onChange,
}: {
  label: string;
  value: number;
  limits: { readonly min: number; readonly max: number };
  step: number;
  text: string;
  onChange(value: number): void;
}) {
  const id = useId();
  return (
    <div class="field slider">
      <label for={id}>{label}</label>
      <output for={id} class="number">
        {text}
      </output>
      <input
        id={id}
        type="range"
        min={limits.min}
        max={limits.max}
        step={step}
        value={value}
        aria-valuetext={text}
        onInput={({ currentTarget }) => onChange(Number(currentTarget.value))}
      />
    </div>
  );
}

export function Switch({
  label,
  checked,
  onChange,
}: {
  label: ComponentChildren;
  checked: boolean;
  onChange(checked: boolean): void;
}) {
  return (
    <label class="switch">
      <input
        type="checkbox"
        checked={checked}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}

/** A choice between a few words, all visible. */
export function Choice<T extends string>({
  label,
  value,
  choices,
  onChange,
}: {
  label: string;
  value: T;
  choices: readonly (readonly [T, string])[];
  onChange(value: T): void;
}) {
  const name = useId();
  return (
    <fieldset class="choice">
      <legend>
        <span>{label}</span>
      </legend>
      {choices.map(([choice, words]) => (
        <label key={choice}>
          <input
            type="radio"
            name={name}
            value={choice}
            checked={choice === value}
            onChange={() => onChange(choice)}
          />
          <span>{words}</span>
        </label>
      ))}
    </fieldset>
  );
}
