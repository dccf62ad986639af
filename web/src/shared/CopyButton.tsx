/** Copies a text to the clipboard and confirms it. */
import { useState } from "preact/hooks";

interface CopyButtonProps {
  text: string;
  /** The name for screen readers, if the visible words do not name the copied content. */
  label?: string;
  words?: string;
  done?: string;
  disabled?: boolean;
}

export function CopyButton(props: CopyButtonProps) {
  const { text, label, words = "Copy", done = "Copied", disabled } = props;
  /** The last attempt. It no longer counts once the text has changed. */
  const [last, setLast] = useState<{ text: string; isCopied: boolean } | null>(null);
  // The clipboard needs a secure context. Without one the person can select the text by hand.
  if (!navigator.clipboard) return null;
  const outcome = last?.text === text ? (last.isCopied ? done : "Not allowed here") : null;
  return (
    <>
      <button
        type="button"
        class="copy"
        aria-label={label}
        disabled={disabled}
        onClick={() =>
          navigator.clipboard.writeText(text).then(
            () => setLast({ text, isCopied: true }),
            () => setLast({ text, isCopied: false }),
          )
        }
      >
        {outcome ?? words}
      </button>
      <span class="only-heard" role="status">
        {outcome}
      </span>
    </>
  );
}
