/** Puts a text on the clipboard and says so. */
import { useState } from "preact/hooks";

export function CopyButton({
  text,
  label,
  words = "Copy",
  done = "Copied",
}: {
  text: string;
  /** For screen readers, where the words alone do not tell what is copied. */
  label?: string;
  words?: string;
  done?: string;
}) {
  /** What was tried last. Once the text is another one, the button is as at first. */
  const [last, setLast] = useState<{ text: string; isCopied: boolean } | null>(null);
  // The clipboard needs a secure context; without one the person can select the text.
  if (!navigator.clipboard) return null;
  const outcome = last?.text === text ? (last.isCopied ? done : "Not allowed here") : null;
  return (
    <>
      <button
        type="button"
        class="copy"
        aria-label={label}
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
