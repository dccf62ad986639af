/** A field for the person's own file, which is read in the page. The result is reported below the field. */
import { useId, useState } from "preact/hooks";

/** The reason, in words for the person, why a file cannot be used. */
export class FileError extends Error {}

interface FileFieldProps<T> {
  label: string;
  accept: string;
  /** The expected content, such as “a picture”. */
  expected: string;
  note: string;
  /** The person's content that is shown; null for the built-in example. */
  own: T | null;
  backLabel: string;
  /** Rejects with a FileError if there is a reason to tell the person. */
  read(file: File): Promise<T>;
  /** A short description of the content, such as its size. */
  describe(content: T): string;
  onRead(content: T | null): void;
}

export function FileField<T>(props: FileFieldProps<T>) {
  const { label, accept, own, onRead } = props;
  const id = useId();
  const [said, setSaid] = useState<{ readonly words: string; readonly about: T | null } | null>(
    null,
  );
  // A message disappears as soon as other content is shown.
  const message = said?.about === own ? said?.words : null;
  const onChange = async ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    const file = currentTarget.files?.[0];
    if (!file) return;
    try {
      const content = await props.read(file);
      onRead(content);
      setSaid({ words: `“${file.name}”: ${props.describe(content)}`, about: content });
    } catch (error) {
      const unreadable = `this browser cannot read it. Expected ${props.expected}.`;
      const why = error instanceof FileError ? error.message : unreadable;
      setSaid({ words: `“${file.name}”: ${why}`, about: own });
    }
    // Allows the same file to be chosen again.
    currentTarget.value = "";
  };
  return (
    <div class="group file-field">
      <label for={id}>{label}</label>
      <input id={id} type="file" accept={accept} onChange={onChange} />
      <p class="file-message small" role="status">
        {message ?? <span class="faint">{props.note}</span>}
      </p>
      {own !== null && (
        <button type="button" onClick={() => onRead(null)}>
          {props.backLabel}
        </button>
      )}
    </div>
  );
}
