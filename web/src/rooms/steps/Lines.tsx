/** The chosen head's attention as lines. */
import { useCallback, useMemo } from "preact/hooks";
import { TokenLines } from "../../picture/TokenLines";
import { Slider } from "../../shared/Fields";
import { useSolution } from "./solution";
import { allowed } from "./state";
import { viewOf } from "./viewOf";
import { useStepsWorkspace } from "./workspace";

export function Lines() {
  const { attention, state, set } = useStepsWorkspace();
  const solution = useSolution();
  const { range, curve, mass } = state;
  const weights = useMemo(
    () => solution && viewOf(solution, "weights", attention.head),
    [solution, attention.head],
  );
  const select = useCallback((row: number) => set({ row }), [set]);
  const carried = mass === 100 ? "all attention" : `the top ${mass} %`;
  return (
    <section class="lines" aria-labelledby="lines-title">
      <h3 id="lines-title">
        Which token attends to which{attention.heads > 1 && `, head ${attention.head + 1}`}
      </h3>
      <TokenLines
        caption={`Attention${attention.heads > 1 ? ` of head ${attention.head + 1}` : ""}, lines that carry ${carried}: ${state.text.slice(0, 60)}`}
        queries={attention.queries.tokens}
        keys={attention.keys.tokens}
        weights={weights}
        mass={mass / 100}
        range={range}
        curve={curve}
        selected={attention.row}
        onSelect={select}
      />
      <Slider
        label="Lines that carry"
        value={mass}
        limits={allowed.mass}
        step={5}
        text={carried}
        onChange={(mass) => set({ mass })}
      />
    </section>
  );
}
