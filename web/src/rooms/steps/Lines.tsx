/** The chosen head's attention as lines. */
import { useCallback, useMemo } from "preact/hooks";
import { TokenLines } from "../../picture/TokenLines";
import { Slider } from "../../shared/Fields";
import { usePage } from "./page";
import { useSolution } from "./solution";
import { allowedRanges } from "./state";
import { viewOf } from "./viewOf";

export function Lines() {
  const { scene, state, set } = usePage();
  const solution = useSolution();
  const { range, curve, mass } = state;
  const weights = useMemo(
    () => solution && viewOf(solution, "weights", scene.head),
    [solution, scene.head],
  );
  const select = useCallback((row: number) => set({ row }), [set]);
  const carried = mass === 100 ? "all attention" : `the top ${mass} %`;
  return (
    <section class="lines" aria-labelledby="lines-title">
      <h3 id="lines-title">
        Which token attends to which{scene.heads > 1 && `, head ${scene.head + 1}`}
      </h3>
      <TokenLines
        caption={`Attention${scene.heads > 1 ? ` of head ${scene.head + 1}` : ""}, lines that carry ${carried}: ${state.text.slice(0, 60)}`}
        queries={scene.queries.tokens}
        keys={scene.keys.tokens}
        weights={weights}
        mass={mass / 100}
        range={range}
        curve={curve}
        selected={scene.row}
        onSelect={select}
      />
      <Slider
        label="Lines that carry"
        value={mass}
        limits={allowedRanges.mass}
        step={5}
        text={carried}
        onChange={(mass) => set({ mass })}
      />
    </section>
  );
}
