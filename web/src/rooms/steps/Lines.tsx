/** The selected head's attention as lines. */

import { useCallback, useMemo } from "preact/hooks";
import { at, linesHeight, type MatrixView, px, viewOn } from "#parts";
import { ColourChoice } from "../../picture/ColourChoice";
import { Slider } from "../../shared/Fields";
import { fieldsOf } from "../../shared/settings";
import { useModule } from "../../shared/useModule";
import { settings } from "./settings";
import { viewOf } from "./viewOf";
import { useStepsWorkspace } from "./workspace";

/** With more tokens than this, the lines of all queries would be a grey area. */
const mostTokens = 64;

/** The height of what `<heed-lines>` shows around the lines, in pixels. */
const around = 114;

function onlyRow(weights: MatrixView, row: number): MatrixView {
  const { rows, cols } = weights;
  const data = new Float32Array(rows * cols);
  for (let col = 0; col < cols; ++col) data[row * cols + col] = at(weights, row, col);
  return viewOn(data, rows, cols);
}

export function Lines() {
  const { attention, state, set, solution } = useStepsWorkspace();
  const { range, curve, mass } = state;
  // The picture is loaded after the rest of the room.
  const { module } = useModule(() => import("../../picture/TokenLines"));
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
  const [queries, keys] = [attention.queries.tokens, attention.keys.tokens];
  const carried = mass === 100 ? "all attention" : `the top ${mass} %`;
  return (
    <section class="lines" aria-labelledby="lines-title">
      <h3 id="lines-title">
        Attention as lines{attention.heads > 1 && `, head ${attention.head + 1}`}
      </h3>
      {isMany && <p class="faint">The lines of the selected query; there is no room for all.</p>}
      <div style={{ minHeight: px(linesHeight(queries, keys) + around) }}>
        {module && (
          <module.TokenLines
            caption={`Attention${attention.heads > 1 ? ` of head ${attention.head + 1}` : ""}, lines that carry ${carried}: ${state.text.slice(0, 60)}`}
            {...{ queries, keys, weights: drawn, mass: mass / 100, range, curve }}
            selected={attention.row}
            onSelect={select}
          />
        )}
      </div>
      <Slider
        label="Lines that carry"
        step={5}
        text={carried}
        {...fieldsOf(settings, { state, set })("mass")}
      />
      <ColourChoice range={range} curve={curve} onChange={set} />
    </section>
  );
}
