/** One head in detail: its weights as a map and as lines, and all its measures. */

import { useCallback } from "preact/hooks";
import { format } from "#parts";
import { Readout } from "../../../shared/Readout";
import { type OneHead, RowDetails } from "../../../shared/RowDetails";
import { hides } from "../../../shared/restrictions";
import { queriesAndKeys, SaveVectors } from "../../../shared/SaveVectors";
import { useShell } from "../../../shared/shell";
import { Transport } from "../../../shared/Transport";
import { useWidth } from "../../../shared/useWidth";
import { AblationHelp, HeadBar } from "../parts/HeadBar";
import { HeadSide } from "../parts/HeadSide";
import { StepByStep } from "../parts/StepByStep";
import { Comparison, HeadMap } from "./HeadMap";
import { measureNames, measures } from "./measures";
import { Patches } from "./Patches";
import {
  attendsWords,
  type HeadSelection,
  isComparable,
  kindsOf,
  type NamedHead,
  placesWords,
  withoutWords,
} from "./selection";
import { referenceExamples } from "./state";
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
  return (
    <div ref={ref} class="scroll">
      {width > 0 && <HeadMap name="weights" of={shown} {...{ note, whose, width }} />}
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

/** Why "Step by step" does not show a head; null if it does. */
function whyNoSteps({ answer, shown, all }: HeadSelection): string | null {
  if (answer.picture) return "its tokens are parts of a picture";
  return kindsOf(all).length > 1 && shown.attention.name !== "encoder"
    ? "its layer has two attentions, and the steps show layers with one"
    : null;
}

/** A link to the computation of the head. */
function Steps() {
  const { selection } = useHeadsWorkspace();
  const { shown, row, answer } = selection;
  const { isCausal, layer } = shown.attention;
  const settings = {
    ...{ text: answer.text, model: answer.exhibit, layer: `${layer + 1}` },
    ...{ head: `${shown.index + 1}`, query: `${row + 1}`, mask: isCausal ? "causal" : "none" },
  };
  const why = whyNoSteps(selection);
  return <StepByStep {...{ settings, why }} isAblating={answer.ablated.length > 0} />;
}

/** The attention of the selected row in words, and the formula of the active cell. */
function Details() {
  const { selection, state, set, explanation } = useHeadsWorkspace();
  const { shown, other, row, cell, answer } = selection;
  const { rows } = shown.attention;
  const [detail, otherDetail] = [headToDetail(shown), other && headToDetail(other)];
  return (
    <>
      <Transport
        count={rows.length}
        index={row}
        go={(row) => set({ row, cell: null })}
        label="Rows"
        unit="Row"
        pace={pace}
        title={`“${rows[row]}”`}
      />
      <p class="head-words">
        {attendsWords(selection, format)} <span class="faint">{placesWords(selection)}</span>
      </p>
      <Readout explanation={explanation} locked={cell !== null} />
      <Steps />
      <RowDetails of={detail} other={otherDetail} row={row} />
      <SaveVectors name={detail.name} file={shown.head.key} vectors={queriesAndKeys(detail)} />
      <AblationHelp
        ablation={state.ablation}
        texts={`${referenceExamples} ${answer.picture ? "unseen pictures" : "unseen examples"} of this task`}
      />
    </>
  );
}

export function HeadPanel() {
  const { selection, state, set, active } = useHeadsWorkspace();
  const { shown, other, row, answer } = selection;
  const { head, name, attention, weights } = shown;
  const { range, curve, mass } = state;
  const without = withoutWords(selection);
  const isWide = other !== null || attention.columns.length > fewColumns;
  const select = useCallback((row: number) => set({ row, cell: null }), [set]);
  return (
    <section class="one-head" aria-labelledby="one-head-title">
      <HeadBar {...{ name, state, set, head: head.key }}>
        <CompareField />
      </HeadBar>
      <div class={isWide ? "head-figure column wide" : "head-figure column"}>
        <div class="head-map column">
          {answer.picture && <Patches picture={answer.picture} />}
          <Maps note={without ?? ""} whose={without ? `${name}, ${without}` : name} />
          <Details />
        </div>
        <HeadSide
          lines={{
            ...{ name, text: answer.text, weights, mass, range, curve, onSelect: select },
            selected: active?.row ?? row,
            ...{ queries: attention.rows, keys: attention.columns },
          }}
          {...{ names: measureNames, measures, values: head.measures }}
        />
      </div>
    </section>
  );
}
