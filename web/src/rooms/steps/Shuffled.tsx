/** What became of the outputs when the words were shuffled. */
import { usePage } from "./page";

/** Small differences are of interest by their size. */
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
  const { state, scene, solution } = usePage();
  if (!scene.order || !solution || solution.shift === null) return null;
  // The first sentence alone is shuffled, and padding is at the end of the second.
  const goesByPlace = state.mask !== "none" && !(state.mask === "padding" && scene.cross);
  const shift = <Size of={solution.shift} />;
  return (
    <p class="shuffled" role="status">
      Shuffled: “{scene.queries.tokens.join(" ")}”.{" "}
      {state.position ? (
        <>
          With positions, the same words in another order are something else: put back in order,
          their outputs differ from those before by up to {shift}.
        </>
      ) : goesByPlace ? (
        <>
          Positions are not added, but the mask goes by place: put back in order, the outputs differ
          from those before by up to {shift}.
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
