/** A link to the computation of a head in "Step by step", or why there is none. */
import { Prose } from "../../../shared/Panel";
import { isFree } from "../../../shared/restrictions";
import { toTop, useShell } from "../../../shared/shell";

interface StepByStepProps {
  /** The settings of the room "Step by step". */
  settings: Readonly<Record<string, string>>;
  /** Why the head is not shown; null if it is. */
  why: string | null;
  isAblating: boolean;
}

/** Links only if a teacher does not keep the class in this room. */
export function StepByStep({ settings, why, isAblating }: StepByStepProps) {
  const { restrictions } = useShell();
  if (!isFree(restrictions)) return null;
  if (why !== null) return <Prose class="faint no-steps">Not shown step by step: {why}.</Prose>;
  const address = new URLSearchParams({ ...settings, vectors: "learned" });
  return (
    <p class="faint">
      <a href={`#${address}`} onClick={toTop}>
        Compute this head step by step
      </a>
      {isAblating && ", with no head left out"}
    </p>
  );
}
