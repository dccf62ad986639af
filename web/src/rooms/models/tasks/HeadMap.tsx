/** The heat map of a head, or of one head less another, with cells that can be locked and rows that can be selected. */

import { useMemo } from "preact/hooks";
import { entries, type MatrixView, type Palette, viewOn } from "#parts";
import { TokenMap } from "../../../picture/TokenMap";
import { useSignedPalette } from "../../../picture/useSignedPalette";
import { useWeightPalette } from "../../../picture/useWeightPalette";
import { exhibitOf } from "./catalogue";
import type { NamedHead } from "./selection";
import { useHeadsWorkspace } from "./workspace";

const isLater = (row: number, col: number) => col > row;

interface MapProps {
  readonly name: string;
  readonly of: NamedHead;
  /** In pixels. */
  readonly width: number;
  readonly note?: string;
  /** Names the head and the ablated heads in a saved file. */
  readonly whose?: string;
}

function PairsMap({
  name,
  of,
  width,
  note = of.name,
  whose = note,
  title,
  view,
  palette,
}: MapProps & { title: string; view: MatrixView; palette: Palette }) {
  const { selection, active, set, point, press } = useHeadsWorkspace();
  const { rows, columns, isCausal, places } = of.attention;
  const { exhibit, text } = selection.answer;
  return (
    <TokenMap
      {...{ name, title, note, view, palette, width, active, columns, tokens: rows }}
      row={selection.row}
      isHidden={isCausal ? isLater : undefined}
      outlined={places?.flatMap((cols, row) => cols.map((col) => ({ row, col }))) ?? []}
      actions={{ point, press, selectRow: (row) => set({ row }) }}
      caption={`${title}, ${exhibitOf(exhibit).name}, ${whose}: ${text}`}
      file={`${name}-${of.head.key}`}
    />
  );
}

export function HeadMap(props: MapProps) {
  const palette = useWeightPalette(useHeadsWorkspace().state);
  return <PairsMap {...props} title="Weights" view={props.of.weights} palette={palette} />;
}

export function DifferenceMap({ of, other, width }: MapProps & { other: NamedHead }) {
  const view = useMemo(() => {
    const { rows, cols } = of.weights;
    const theirs = entries(other.weights);
    const less = (weight: number) => weight - (theirs.next().value as number);
    return viewOn(Float32Array.from(entries(of.weights), less), rows, cols);
  }, [of.weights, other.weights]);
  return (
    <PairsMap
      {...{ name: "difference", title: "Difference", note: "first − second", of, view, width }}
      palette={useSignedPalette(view)}
    />
  );
}
