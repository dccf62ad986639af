/** A field for a text of several lines, as large as a heading. */
import type { ComponentChildren, ComponentProps } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Fits the height of a field to its text, if the browser does not. */
function useHeightOfText(text: string) {
  const ref = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const field = ref.current;
    if (!field || CSS.supports("field-sizing: content")) return;
    let width = 0;
    const grow = () => {
      // Keeps the height if the person has changed it.
      if (field.clientWidth === width) return;
      width = field.clientWidth;
      field.style.height = "0";
      const border = field.offsetHeight - field.clientHeight;
      field.style.height = `${field.scrollHeight + border}px`;
    };
    const observer = new ResizeObserver(grow);
    observer.observe(field);
    grow();
    return () => observer.disconnect();
  }, [text]);
  return ref;
}

type TextAreaAttributes = ComponentProps<"textarea">;

/** Other attributes are passed on to the field. */
export function SentenceArea({
  id,
  label,
  value,
  onInput,
  ...attributes
}: Pick<TextAreaAttributes, "autocapitalize" | "autocomplete"> & {
  id: string;
  label: ComponentChildren;
  value: string;
  onInput(text: string): void;
}) {
  const ref = useHeightOfText(value);
  return (
    <div class="sentence-field">
      <label for={id}>{label}</label>
      <textarea
        {...attributes}
        id={id}
        class="sentence"
        ref={ref}
        rows={1}
        spellcheck={false}
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </div>
  );
}
