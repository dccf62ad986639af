/** A button that drops a head from the model, or restores it. */
import { useShell } from "../../../shared/shell";

export function DropButton({
  isDropped,
  onChange,
}: {
  isDropped: boolean;
  onChange(isDropped: boolean): void;
}) {
  const { restrictions } = useShell();
  return (
    <button
      type="button"
      class="drop-head"
      disabled={restrictions.lock}
      onClick={() => onChange(!isDropped)}
    >
      {isDropped ? "Restore" : "Drop"}
      <span class="wide-only"> this head</span>
    </button>
  );
}
