/** Every head of the model as a small picture with one measure below it, ordered by layer or by that measure. */

import { useMemo } from "preact/hooks";
import {
  aboutGrid,
  drawnContents,
  format,
  formatShort,
  type GridFile,
  type GridItem,
  gridSvg,
  inkOf,
  npyBlob,
  npyOfAll,
  type Palette,
  viewOn,
} from "#parts";
import { Legend } from "../../../picture/Legend";
import { SaveMenu } from "../../../picture/SaveMenu";
import { useWeightPalette } from "../../../picture/useWeightPalette";
import { attendsWords, attentionNames } from "../../../shared/attended";
import { exhibitOf } from "../../../shared/catalogue";
import { Prose } from "../../../shared/Panel";
import { Term } from "../../../shared/Term";
import { AllHeads, type HeadsRow, hidingLater, useHidingLater } from "../parts/AllHeads";
import { measures } from "./measures";
import {
  type HeadSelection,
  kindsOf,
  layersOf,
  type NamedHead,
  sortedHeads,
  sortedLabel,
  sortedNote,
  withoutWords,
} from "./selection";
import type { State } from "./state";
import { useHeadsWorkspace } from "./workspace";

/** The side of a small picture, in pixels. */
const side = 68;

const largest = "the largest first";

/** The heads, and their rows by layer or by a measure. */
function useGrid() {
  const { state, selection } = useHeadsWorkspace();
  const { measure, order, ablated } = state;
  const { all, answer } = selection;
  const palette = useWeightPalette(state);
  const causal = all.find(({ attention }) => attention.isCausal);
  const hides = useHidingLater(causal?.attention.rows.length, causal?.head.small.rows);
  const isByLayer = order === "layer";
  const rows = useMemo((): HeadsRow[] => {
    const kinds = kindsOf(all);
    const indices = (heads: readonly NamedHead[]) => heads.map((head) => all.indexOf(head));
    if (isByLayer)
      return layersOf(selection).map(({ attention, heads, isFirst }) => ({
        heads: indices(heads),
        title: `Layer ${attention.layer + 1}`,
        ...(isFirst && {
          group: [attentionNames[attention.name].title, attendsWords[attention.name]],
        }),
      }));
    const note = kinds.length > 1 ? `${largest}; ${sortedNote}` : largest;
    const group = [`By ${measures[measure].name}`, note] as const;
    return [{ heads: indices(sortedHeads(all, measure)), title: "", group }];
  }, [answer, isByLayer, measure]);
  const heads = useMemo(() => {
    const kinds = kindsOf(all);
    return all.map((view) => {
      const { key, small, measures: own } = view.head;
      const isAblated = ablated.includes(key);
      const value = own[measure];
      return {
        ...{ id: key, small, isAblated, palette, about: measures[measure].name },
        hides: view.attention.isCausal ? hides : undefined,
        name: isAblated ? `${view.name}, ablated` : view.name,
        label: isByLayer ? `${view.index + 1}` : sortedLabel(view, kinds),
        value: value === null ? "–" : format(value),
      };
    });
  }, [answer, isByLayer, measure, ablated, palette, hides]);
  return { rows, heads };
}

function gridOf(selection: HeadSelection, { measure, order }: State, palette: Palette): GridFile {
  const { all, answer } = selection;
  const kinds = kindsOf(all);
  const itemOf = ({ head, attention }: NamedHead, label: string): GridItem => {
    const { data, rows, cols } = head.small;
    const value = head.measures[measure];
    return {
      ...{ view: viewOn(data, rows, cols), label },
      value: value === null ? "–" : formatShort(value),
      isHidden: attention.isCausal ? hidingLater(attention.rows.length, rows) : undefined,
    };
  };
  const byLayer = layersOf(selection).map(({ attention, heads }) => ({
    title: `${kinds.length > 1 ? `${attentionNames[attention.name].prefix} ` : ""}${attention.layer + 1}`,
    items: heads.map((head) => itemOf(head, `${head.index + 1}`)),
  }));
  const byMeasure = sortedHeads(all, measure).map((head) => itemOf(head, sortedLabel(head, kinds)));
  const isByLayer = order === "layer";
  const about = aboutGrid(isByLayer, measures[measure].name);
  const without = withoutWords(selection);
  const name = [exhibitOf(answer.exhibit).name, ...(without ? [without] : [])].join(", ");
  return {
    caption: `All heads, ${name}: ${answer.text}`,
    about: isByLayer || kinds.length === 1 ? about : `${about} ${sortedNote}.`,
    rows: isByLayer ? byLayer : [{ title: "", items: byMeasure }],
    ...{ palette, point: "." },
  };
}

/** Saves all heads in the order of the page: as one picture and, if they are equal in size, as one array. */
function SaveHeads() {
  const { state, selection } = useHeadsWorkspace();
  const palette = useWeightPalette(state);
  const { all, answer } = selection;
  const { attentions, exhibit } = answer;
  const svg = () => gridSvg(gridOf(selection, state, palette), inkOf(document.body));
  const views = all.map(({ weights }) => weights);
  const axes = [attentions.length, attentions[0]?.heads ?? 0];
  const contents = {
    ...drawnContents(svg),
    ...(kindsOf(all).length === 1 && { npy: () => npyBlob(npyOfAll(views, axes)) }),
  };
  return (
    <SaveMenu
      what="all heads"
      title={exhibitOf(exhibit).name}
      file={`all-heads-${exhibit}`}
      contents={contents}
    />
  );
}

export function HeadsPanel() {
  const { state, selection, set } = useHeadsWorkspace();
  const { measure } = state;
  const palette = useWeightPalette(state);
  return (
    <section class="all-heads" aria-labelledby="all-heads-title">
      <h2 id="all-heads-title">All heads</h2>
      <Prose class="faint measured small">
        below: {measure === "places" && "attention on the "}
        {measure === "places" ? <Term name="answer positions" /> : measures[measure].name}
      </Prose>
      <AllHeads
        {...useGrid()}
        side={side}
        isWhole
        selected={selection.shown.head.key}
        select={(head) => set({ head, cell: null })}
      />
      <Legend
        palette={palette}
        hasHidden={selection.all.some(({ attention }) => attention.isCausal)}
      >
        <SaveHeads />
      </Legend>
    </section>
  );
}
