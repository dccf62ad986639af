/** The errors over the gap, the choice of a head, and the largest weights of a hidden value. */
import { format, formatWeight } from "#parts";
import { headName } from "../../../shared/layerHeads";
import { type Figure, NamedNumbers, StrongestTable } from "../NamedNumbers";
import type { PanelProps } from "../state";
import type { FilledSeries, SeriesHeadWeights } from "./solve";

export interface ShownSeries {
  readonly answer: FilledSeries;
  /** The head with the most weight on values whole periods away, and the one that is shown. */
  readonly best: SeriesHeadWeights;
  readonly shown: SeriesHeadWeights;
  /** A hidden position, and its weights. */
  readonly row: number;
  readonly weights: Float32Array;
}

/** The mean weight that a head puts, over the gap, on values whole periods away. */
export function onAlikeOf({ onAlike }: SeriesHeadWeights, { isHidden }: FilledSeries): number {
  const hidden = [...onAlike].filter((_, t) => isHidden[t]);
  return hidden.reduce((sum, weight) => sum + weight, 0) / hidden.length;
}

interface WeightsProps extends PanelProps {
  /** Null before the first answer. */
  shown: ShownSeries | null;
}

const rowsShown = 10;

function figuresOf(of: ShownSeries | null): readonly Figure[] {
  const { answer, row = 0, shown } = of ?? {};
  const known = (value: number | null | undefined) => (value === null ? "not known" : value);
  return [
    ["model’s error (root mean square)", known(answer?.error)],
    ["line’s error", known(answer?.lineError)],
    [
      `both, over ${answer?.heldOut.examples ?? 1000} series not trained on`,
      answer && `model ${format(answer.heldOut.error)}, line ${format(answer.heldOut.lineError)}`,
    ],
    [`filled at ${row + 1}`, answer?.filled[row]],
    ["hidden value", known(answer?.hasTruth === false ? null : answer?.values[row])],
    ["weight whole periods away", shown && formatWeight(shown.onAlike[row] as number)],
  ];
}

function HeadField({ shown, state, set }: WeightsProps) {
  return (
    <div class="field head-field">
      <label for="series-head">Head, with its weight whole periods away</label>
      <select
        id="series-head"
        value={state.head ?? ""}
        onChange={({ currentTarget: { value } }) => set({ head: value || null })}
      >
        <option value="">
          the one with the most{shown ? `: ${headName(shown.best.key)}` : ""}
        </option>
        {shown?.answer.heads.map((head) => (
          <option key={head.key} value={head.key}>
            {headName(head.key)}: {formatWeight(onAlikeOf(head, shown.answer))}
          </option>
        ))}
      </select>
    </div>
  );
}

export function SeriesWeights(props: WeightsProps) {
  const { answer, row = 0, weights } = props.shown ?? {};
  const alike = new Set(answer?.alike[row]);
  return (
    <>
      <NamedNumbers figures={figuresOf(props.shown)} />
      <HeadField {...props} />
      <StrongestTable
        title={`What position ${row + 1} attends to most`}
        columns={["position", <span class="role-v">value</span>, "whole periods away", "weight"]}
        {...{ weights, count: rowsShown }}
        cells={(t, weight) => (
          <>
            <th scope="row">{t + 1}</th>
            <td>{answer?.isHidden[t] ? "hidden" : format(answer?.values[t] as number)}</td>
            <td>{alike.has(t) ? "yes" : ""}</td>
            <td data-column="weight">{formatWeight(weight)}</td>
          </>
        )}
      />
    </>
  );
}
