/** The formula of the active cell, with its numbers. */
import type { Explanation } from "./explanation";

export function Readout({
  explanation,
  locked,
}: {
  explanation: Explanation | null;
  locked: boolean;
}) {
  return (
    <div class="readout" data-locked={locked}>
      {explanation ? (
        <>
          <p class="readout-name">
            {explanation.name}
            {locked && (
              <span class="faint"> · kept; press Escape or click again to release it</span>
            )}
          </p>
          <p class="readout-formula number">
            {explanation.formula.map(({ text, role }, i) => (
              <span key={i} class={role && `role-${role}`}>
                {text}
              </span>
            ))}
          </p>
        </>
      ) : (
        <p class="faint">Point at a cell to see how its number was computed; a click keeps it.</p>
      )}
    </div>
  );
}
