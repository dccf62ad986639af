/** One head in detail: its weights as a map and as lines, and all its measures. */

import { type Explanation, format } from "heed/view/parts";
import { useCallback } from "preact/hooks";
import { Readout } from "../../../shared/Readout";
import { type OneHead, RowDetails } from "../../../shared/RowDetails";
import { hides } from "../../../shared/restrictions";
import { SaveVectors } from "../../../shared/SaveVectors";
import { useShell } from "../../../shared/shell";
import { Transport } from "../../../shared/Transport";
import { useWidth } from "../../../shared/useWidth";
import { AblateButton } from "../parts/AblateButton";
import { HeadLines } from "../parts/HeadLines";
import { Measures } from "../parts/Measures";
import { Comparison } from "./ComparePanel";
import { HeadMap, useHeadPicture } from "./HeadMap";
import { measureNames, measures } from "./measures";
import { Patches } from "./Patches";
import { attendsWords, isComparable, type NamedHead, placesWords, withoutWords } from "./selection";
import { useHeadsWorkspace } from "./workspace";

const none = "";

/** The maximum number of columns at which the lines fit next to the large map. */
const fewColumns = 12;

/** How long playing shows each row, in milliseconds. */
const pace = 1200;

function CompareField() {
  const { selection, set } = useHeadsWorkspace();
  const { shown, other, all } = selection;
  return (
    <label class="compare-field">
      <span class="only-heard">Compare with</span>
      <select
        value={other?.head.key ?? none}
        onChange={({ currentTarget }) => set({ other: currentTarget.value || null })}
      >
        <option value={none}>Compare</option>
        {all
          .filter((view) => isComparable(shown, view))
          .map(({ head, name }) => (
            <option key={head.key} value={head.key}>
              {name}
            </option>
          ))}
      </select>
    </label>
  );
}

function Lines() {
  const { selection, state, set, active } = useHeadsWorkspace();
  const { range, curve, mass } = state;
  const { shown, row } = selection;
  const select = useCallback((row: number) => set({ row, cell: null }), [set]);
  return (
    <HeadLines
      {...{ name: shown.name, text: selection.answer.text, weights: shown.weights }}
      {...{ mass, range, curve, selected: active?.row ?? row, onSelect: select }}
      queries={shown.attention.rows}
      keys={shown.attention.columns}
    />
  );
}

const headToDetail = ({ name, attention, index }: NamedHead): OneHead => ({
  ...{ name, attention, shares: attention.shares, head: index },
});

interface MapNames {
  /** A short note next to the title of the map. */
  readonly note: string;
  /** The name of the head for a saved file, which has no heading. */
  readonly whose: string;
}

function LargeMap({ note, whose }: MapNames) {
  const { shown } = useHeadsWorkspace().selection;
  const [ref, width] = useWidth<HTMLDivElement>();
  const picture = useHeadPicture(shown, width);
  return (
    <div ref={ref} class="scroll">
      {width > 0 && (
        <HeadMap name="weights" title="Weights" of={shown} {...{ note, whose, picture }} />
      )}
    </div>
  );
}

/** The large map of the head or, if another head is compared, both heads and their difference. */
function Maps(names: MapNames) {
  const { restrictions } = useShell();
  const { shown, other } = useHeadsWorkspace().selection;
  const isCompared = other && !hides(restrictions, "compare");
  return isCompared ? <Comparison shown={shown} other={other} /> : <LargeMap {...names} />;
}

export function HeadPanel({ explanation }: { explanation: Explanation | null }) {
  const { selection, state, set, ablate } = useHeadsWorkspace();
  const { shown, other, row, cell } = selection;
  const { head, name, attention } = shown;
  const without = withoutWords(selection);
  const whose = without ? `${name}, ${without}` : name;
  const isWide = other !== null || attention.columns.length > fewColumns;
  const [detail, otherDetail] = [headToDetail(shown), other && headToDetail(other)];
  return (
    <section class="one-head" aria-labelledby="one-head-title">
      <div class="head-bar">
        <h2 id="one-head-title">{name.replace(/^./, (first) => first.toUpperCase())}</h2>
        <AblateButton
          isAblated={state.ablated.includes(head.key)}
          onChange={(isAblated) => ablate([head.key], isAblated)}
        />
        <CompareField />
      </div>
      <div class={isWide ? "head-figure wide" : "head-figure"}>
        <div class="head-map">
          {selection.answer.picture && <Patches picture={selection.answer.picture} />}
          <Maps note={without ?? ""} whose={whose} />
          <Transport
            count={attention.rows.length}
            index={row}
            go={(row) => set({ row, cell: null })}
            label="Rows"
            unit="Row"
            pace={pace}
            title={`“${attention.rows[row]}”`}
          />
          <p class="head-words">
            {attendsWords(selection, format)} <span class="faint">{placesWords(selection)}</span>
          </p>
          <Readout explanation={explanation} locked={cell !== null} />
          <RowDetails of={detail} other={otherDetail} row={row} />
          <SaveVectors of={detail} file={head.key} />
        </div>
        <div class="head-side">
          <Lines />
          <Measures names={measureNames} words={measures} values={head.measures} />
        </div>
      </div>
    </section>
  );
}
