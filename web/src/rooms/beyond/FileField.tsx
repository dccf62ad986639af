/** A field for the person's own file, which is read in the page. What became of it is said where it was chosen. */
import { useId, useState } from "preact/hooks";

/** A reason, for the person, why a file cannot be used. */
export class FileError extends Error {}

export function FileField<T>({
  label,
  accept,
  expected,
  note,
  own,
  backLabel,
  read,
  describe,
  onRead,
}: {
  label: string;
  accept: string;
  /** What is expected, such as “a picture”. */
  expected: string;
  note: string;
  /** What is shown, if it is the person's own. */
  own: T | null;
  backLabel: string;
  /** Rejects with a FileError if it knows a reason for the person. */
  read(file: File): Promise<T>;
  /** A few words about what was read, such as its size. */
  describe(content: T): string;
  onRead(content: T | null): void;
}) {
  const id = useId();
  const [said, setSaid] = useState<{ readonly words: string; readonly about: T | null } | null>(
    null,
  );
  // What was said about a file is not true of what replaced it.
  const message = said?.about === own ? said?.words : null;
  const onChange = async ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    const file = currentTarget.files?.[0];
    if (!file) return;
    try {
      const content = await read(file);
      onRead(content);
      setSaid({ words: `“${file.name}”: ${describe(content)}`, about: content });
    } catch (error) {
      const why =
        error instanceof FileError
          ? error.message
          : `this browser cannot read it. Expected ${expected}.`;
      setSaid({ words: `“${file.name}”: ${why}`, about: own });
    }
    // So that the same file can be chosen again.
    currentTarget.value = "";
  };
  return (
    <div class="group file-field">
      <label for={id}>{label}</label>
      <input id={id} type="file" accept={accept} onChange={onChange} />
      <p class="file-message" role="status">
        {message ?? <span class="faint">{note}</span>}
      </p>
      {own !== null && (
        <button type="button" onClick={() => onRead(null)}>
          {backLabel}
        </button>
      )}
    </div>
  );
}
