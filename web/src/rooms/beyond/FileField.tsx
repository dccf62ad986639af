/** A field for the person's own file, which is read in the page. */
import { useId, useState } from "preact/hooks";

export function FileField<T>({
  label,
  accept,
  note,
  isOwn,
  backLabel,
  read,
  onRead,
}: {
  label: string;
  accept: string;
  note: string;
  isOwn: boolean;
  backLabel: string;
  /** Rejects with a message for the person. */
  read(file: File): Promise<T>;
  onRead(content: T | null): void;
}) {
  const id = useId();
  const [failure, setFailure] = useState<string | null>(null);
  const onChange = async ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    const file = currentTarget.files?.[0];
    if (!file) return;
    try {
      onRead(await read(file));
      setFailure(null);
    } catch {
      setFailure(`“${file.name}” could not be read: this browser does not know what it is.`);
    }
    // So that the same file can be chosen again.
    currentTarget.value = "";
  };
  return (
    <div class="group file-field">
      <label for={id}>{label}</label>
      <input id={id} type="file" accept={accept} onChange={onChange} />
      {isOwn && (
        <button type="button" onClick={() => onRead(null)}>
          {backLabel}
        </button>
      )}
      <p class="faint">{note}</p>
      <p role="status">{failure}</p>
    </div>
  );
}
