/** A button that ablates a head from the model, or restores it. */
import { useShell } from "../../../shared/shell";

export function AblateButton({
  isAblated,
  onChange,
}: {
  isAblated: boolean;
  onChange(isAblated: boolean): void;
}) {
  const { restrictions } = useShell();
  return (
    <button
      type="button"
      class="ablate-head"
      disabled={restrictions.lock}
      onClick={() => onChange(!isAblated)}
    >
      {isAblated ? "Restore" : "Ablate"}
      <span class="wide-only"> this head</span>
    </button>
  );
}
