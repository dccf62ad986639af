/** A field for a text of several lines, as large as a heading. */
import type { ComponentChildren } from "preact";

/** About as many lines as the text takes, for browsers that do not size a field by its content. */
function linesOf(text: string): number {
  const lines = text.split("\n").map((line) => Math.ceil((line.length + 1) / 80));
  return Math.min(
    4,
    lines.reduce((sum, each) => sum + each, 0),
  );
}

export function SentenceArea({
  id,
  label,
  value,
  maxLength,
  onInput,
}: {
  id: string;
  label: ComponentChildren;
  value: string;
  maxLength: number;
  onInput(text: string): void;
}) {
  return (
    <div class="sentence-field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        class="sentence"
        rows={linesOf(value)}
        spellcheck={false}
        maxLength={maxLength}
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </div>
  );
}
