/** The formula of the cell that is pointed at or locked, with its true numbers. */
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
            {locked && <span class="faint"> · kept; Escape or a second click lets go</span>}
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
        <p class="faint">Point at a cell to see how its number came about; a click keeps it.</p>
      )}
    </div>
  );
}
