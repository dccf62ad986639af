/** Saves all heads in the order of the page: as one picture and, if they are equal in size, as one array. */

import {
  aboutGrid,
  drawnContents,
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
import { SaveMenu } from "../../../picture/SaveMenu";
import { useWeightPalette } from "../../../picture/useWeightPalette";
import { exhibitOf } from "../../../shared/catalogue";
import { hidingLater } from "../parts/AllHeads";
import { measures } from "./measures";
import {
  attentionNames,
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

export function SaveHeads() {
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
