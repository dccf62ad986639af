/** The formula of the active cell, with its numbers. */

import { useState } from "preact/hooks";
import type { Explanation, FormulaPiece } from "#parts";
import { usePointerWords } from "./useMedia";

/** A piece that abbreviates further pieces is a button that shows them. */
function Formula({ pieces }: { pieces: readonly FormulaPiece[] }) {
  const [isWhole, setWhole] = useState(false);
  return pieces.map(({ text, role, all }, i) => {
    if (all && isWhole) return <Formula key={i} pieces={all} />;
    if (all)
      return (
        <button key={i} type="button" class="link" onClick={() => setWhole(true)}>
          {text}
        </button>
      );
    return (
      <span key={i} class={role && `role-${role}`}>
        {text}
      </span>
    );
  });
}

interface ReadoutProps {
  explanation: Explanation | null;
  locked: boolean;
}

export function Readout({ explanation, locked }: ReadoutProps) {
  const { isTouch } = usePointerWords();
  return (
    <div class="readout" data-locked={locked}>
      {explanation ? (
        <>
          <p class="readout-name">
            {explanation.name}
            {locked && (
              <span class="faint">
                {" "}
                · kept; {isTouch ? "tap it" : "press Escape or click"} again to release it
              </span>
            )}
          </p>
          <p class="readout-formula number">
            <Formula key={explanation.name} pieces={explanation.formula} />
          </p>
        </>
      ) : (
        <p class="faint">
          {isTouch
            ? "Tap a cell for its formula."
            : "Point at a cell for its formula; click to keep it."}
        </p>
      )}
    </div>
  );
}
