/** The kinds of controls that the page uses. */
import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import { isNumberIn, type Limits } from "./linkReaders";

/** Writes a limit with a real minus sign, as everywhere on the page. */
const inWords = (limit: number): string => String(limit).replace("-", "−");

interface NumberProps {
  label: string;
  value: number;
  limits: Limits;
  step?: number;
  onChange(value: number): void;
}

export function NumberField({ label, value, limits, step = 1, onChange }: NumberProps) {
  // The typed text may be incomplete; only a number within the limits becomes the value.
  const [typed, setTyped] = useState<string | null>(null);
  // The message about a refused text stays after the field has lost the focus and shows its value again, until the
  // value changes.
  const [refused, setRefused] = useState<{ text: string; kept: number } | null>(null);
  // The initial value and the numbers accepted since. They come back as `value` one after another.
  const taken = useRef([value]);
  if (refused?.kept === value) taken.current = [value];
  const id = useId();
  const kind = step === 1 ? "a whole number" : "a number";
  const valid = isNumberIn(limits, step === 1);
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
          const text = currentTarget.value;
          setTyped(text);
          // An empty field is not an error: the person is about to fill it.
          setRefused(
            text === "" || valid(text) ? null : { text, kept: taken.current.at(-1) ?? value },
          );
          if (valid(text)) {
            taken.current.push(Number(text));
            onChange(Number(text));
          }
        }}
        onFocus={() => {
          taken.current = [value];
          setRefused(null);
        }}
        onBlur={() => setTyped(null)}
      />
      {refused && taken.current.includes(value) && (
        <p class="field-refused small" role="status">
          {refused.text} is not {kind} from {inWords(limits.min)} to {inWords(limits.max)}; it stays{" "}
          {String(refused.kept)}.
        </p>
      )}
    </div>
  );
}

interface SliderProps extends NumberProps {
  /** The value in words. */
  text: string;
}

export function Slider({ label, value, limits, step, text, onChange }: SliderProps) {
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

interface SwitchProps {
  label: ComponentChildren;
  checked: boolean;
  onChange(checked: boolean): void;
}

export function Switch({ label, checked, onChange }: SwitchProps) {
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

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  choices: readonly (readonly [T, string])[];
  onChange(value: T): void;
}

/** A choice between a few options, all visible. */
export function Choice<T extends string>({ label, value, choices, onChange }: ChoiceProps<T>) {
  const name = useId();
  return (
    <fieldset class="choice">
      <legend>
        <span>{label}</span>
      </legend>
      <span class="choices line">
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
      </span>
    </fieldset>
  );
}
