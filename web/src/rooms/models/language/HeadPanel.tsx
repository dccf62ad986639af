/** One head in detail: its weights over the text, up to the current token. */

import { type Explanation, viewOn } from "heed/view/parts";
import { useMemo } from "preact/hooks";
import { TokenMap } from "../../../picture/TokenMap";
import { useWeightPalette } from "../../../picture/useWeightPalette";
import { Switch } from "../../../shared/Fields";
import { headName } from "../../../shared/layerHeads";
import { Readout } from "../../../shared/Readout";
import { RowDetails } from "../../../shared/RowDetails";
import { useShell } from "../../../shared/shell";
import { useWidth } from "../../../shared/useWidth";
import { kindOf, kinds } from "./measures";
import type { HeadMeasures } from "./messages";
import { type ShownHead, useWriteWorkspace } from "./workspace";

const hidesFuture = (row: number, col: number) => col > row;

function HeadMap({ shown, width }: { shown: ShownHead; width: number }) {
  const { state, answer, place, head, active, go, point, press } = useWriteWorkspace();
  const { rows } = shown.attention;
  const view = useMemo(() => viewOn(shown.shares.weights, rows.length, rows.length), [shown]);
  return (
    <TokenMap
      name="weights"
      title="Weights"
      note=""
      {...{ view, tokens: rows, active, width, row: place }}
      palette={useWeightPalette(state)}
      isHidden={hidesFuture}
      covered={place + 1}
      actions={{ point, press, selectRow: go }}
      caption={`Weights, ${headName(head)}: ${answer.text}`}
      file={`weights-${head}`}
    />
  );
}

export function HeadPanel({ explanation }: { explanation: Explanation | null }) {
  const { state, opened, place, head, shown, drop } = useWriteWorkspace();
  const { restrictions } = useShell();
  const [ref, width] = useWidth<HTMLDivElement>();
  const measures = opened.measures.find(({ key }) => key === head) as HeadMeasures;
  const kind = kindOf(measures);
  const name = headName(head).replace(/^./, (first) => first.toUpperCase());
  return (
    <section class="one-head" aria-labelledby="one-head-title">
      <div class="head-bar">
        <h2 id="one-head-title">
          {name}
          {kind && <span class="faint"> · {kinds[kind].name}</span>}
        </h2>
        <fieldset class="lockable" disabled={restrictions.lock}>
          <Switch
            label="Drop"
            checked={state.dropped.includes(head)}
            onChange={(isDropped) => drop(head, isDropped)}
          />
        </fieldset>
      </div>
      <div ref={ref} class="scroll head-place">
        {shown && width > 0 && <HeadMap shown={shown} width={width} />}
      </div>
      <Readout explanation={explanation} locked={state.cell !== null} />
      {shown && (
        <RowDetails
          of={{ name: headName(head), attention: shown.attention, shares: shown.shares, head: 0 }}
          row={place}
        />
      )}
    </section>
  );
}
