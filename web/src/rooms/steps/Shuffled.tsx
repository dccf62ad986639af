/** The effect of shuffling the words on the outputs. */
import { useStepsWorkspace } from "./workspace";

/** Small differences are shown by their order of magnitude. */
function Size({ of }: { of: number }) {
  const [digits, power] = of.toExponential(1).split("e-");
  const isSmall = of > 0 && of < 0.001;
  return (
    <b class="number">
      {isSmall ? (
        <>
          {digits} × 10<sup>−{power}</sup>
        </>
      ) : (
        of.toFixed(of === 0 ? 0 : 3)
      )}
    </b>
  );
}

export function Shuffled() {
  const { state, attention, solution } = useStepsWorkspace();
  if (!attention.order || !solution || solution.shift === null) return null;
  // Only the first sentence is shuffled, and the padding is at the end of the second.
  const goesByPlace = state.mask !== "none" && !(state.mask === "padding" && attention.cross);
  const shift = <Size of={solution.shift} />;
  return (
    <p class="shuffled" role="status">
      Shuffled: “{attention.queries.tokens.join(" ")}”.{" "}
      {state.position ? (
        <>
          With positions, another order of the same words gives other outputs: put back in order,
          they differ from those before by up to {shift}.
        </>
      ) : goesByPlace ? (
        <>
          Positions are not added, but the mask depends on them: put back in order, the outputs
          differ from those before by up to {shift}.
        </>
      ) : (
        <>
          Without positions the outputs only change places with their words: put back in order, they
          differ from those before by no more than {shift}, which is rounding.
        </>
      )}
    </p>
  );
}
