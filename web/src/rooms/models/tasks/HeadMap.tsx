/** Heat maps of a head, of one head less another, and of both side by side; cells can be locked and rows selected. */
import { useMemo } from "preact/hooks";
import { entries, type MatrixView, type Palette, viewOn } from "#parts";
import { TokenMap } from "../../../picture/TokenMap";
import { useSignedPalette } from "../../../picture/useSignedPalette";
import { useWeightPalette } from "../../../picture/useWeightPalette";
import { exhibitOf } from "../../../shared/catalogue";
import { CompareFigure, DifferenceColours } from "../parts/CompareFigure";
import type { NamedHead } from "./selection";
import { useHeadsWorkspace } from "./workspace";

interface MapProps {
  readonly name: string;
  readonly of: NamedHead;
  /** In pixels. */
  readonly width: number;
  readonly note?: string;
  /** Names the head and the ablated heads in a saved file. */
  readonly whose?: string;
}

function PairsMap(props: MapProps & { title: string; view: MatrixView; palette: Palette }) {
  const { name, of, width, title, view, palette, note = of.name, whose = note } = props;
  const { selection, active, set, point, press } = useHeadsWorkspace();
  const { rows, columns, places } = of.attention;
  const { exhibit, text } = selection.answer;
  return (
    <TokenMap
      {...{ name, title, note, view, palette, width, active, columns, tokens: rows }}
      row={selection.row}
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
    const data = Float32Array.from(entries(of.weights), less);
    return { ...viewOn(data, rows, cols), hides: of.weights.hides };
  }, [of.weights, other.weights]);
  return (
    <PairsMap
      {...{ name: "difference", title: "Difference", note: "first − second", of, view, width }}
      palette={useSignedPalette(view)}
    />
  );
}

export function Comparison({ shown, other }: { shown: NamedHead; other: NamedHead }) {
  return (
    <section class="comparison" aria-label={`${shown.name} less ${other.name}`}>
      <DifferenceColours
        more={`${shown.name} attends more.`}
        less={`${other.name} attends more.`}
      />
      <CompareFigure
        maps={[
          (width) => <HeadMap name="weights" of={shown} width={width} />,
          (width) => <HeadMap name="other" of={other} width={width} />,
          (width) => <DifferenceMap name="difference" of={shown} {...{ other, width }} />,
        ]}
      />
    </section>
  );
}

export function ComparePanel() {
  const { shown, other } = useHeadsWorkspace().selection;
  return other && <Comparison shown={shown} other={other} />;
}
