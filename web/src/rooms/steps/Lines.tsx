/** The selected head's attention as lines. */

import { useCallback, useMemo } from "preact/hooks";
import { at, type MatrixView, viewOn } from "#parts";
import { ColourChoice } from "../../picture/ColourChoice";
import { TokenLines } from "../../picture/TokenLines";
import { Slider } from "../../shared/Fields";
import { useSolution } from "./solution";
import { allowed } from "./state";
import { viewOf } from "./viewOf";
import { useStepsWorkspace } from "./workspace";

/** With more tokens than this, the lines of all queries would be a grey area. */
const mostTokens = 64;

function onlyRow(weights: MatrixView, row: number): MatrixView {
  const { rows, cols } = weights;
  const data = new Float32Array(rows * cols);
  for (let col = 0; col < cols; ++col) data[row * cols + col] = at(weights, row, col);
  return viewOn(data, rows, cols);
}

export function Lines() {
  const { attention, state, set } = useStepsWorkspace();
  const solution = useSolution();
  const { range, curve, mass } = state;
  const weights = useMemo(
    () => solution && viewOf(solution, "weights", attention.head),
    [solution, attention.head],
  );
  const isMany = weights !== null && Math.max(weights.rows, weights.cols) > mostTokens;
  /** Among many tokens only the lines of the selected query can be distinguished. */
  const drawn = useMemo(
    () => (weights && isMany ? onlyRow(weights, attention.row) : weights),
    [weights, isMany, attention.row],
  );
  const select = useCallback((row: number) => set({ row }), [set]);
  const carried = mass === 100 ? "all attention" : `the top ${mass} %`;
  return (
    <section class="lines" aria-labelledby="lines-title">
      <h3 id="lines-title">
        Attention as lines{attention.heads > 1 && `, head ${attention.head + 1}`}
      </h3>
      {isMany && <p class="faint">The lines of the selected query; there is no room for all.</p>}
      <TokenLines
        caption={`Attention${attention.heads > 1 ? ` of head ${attention.head + 1}` : ""}, lines that carry ${carried}: ${state.text.slice(0, 60)}`}
        queries={attention.queries.tokens}
        keys={attention.keys.tokens}
        weights={drawn}
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
      <ColourChoice range={range} curve={curve} onChange={set} />
    </section>
  );
}
