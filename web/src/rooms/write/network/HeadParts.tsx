/** The heads of an open layer: what each attends to and adds, and the selected one from inside. */
import { useMemo } from "preact/hooks";
import { weightPalette } from "../../../picture/colour";
import { format, percent } from "../../../shared/format";
import { headKey } from "../../../shared/layerHeads";
import { hides } from "../../../shared/restrictions";
import { useShell } from "../../../shared/shell";
import { kindOf, kinds } from "../measures";
import { useWriteWorkspace } from "../workspace";
import type { LayerFacts, Place } from "./explain";
import { lengthOf } from "./explain";
import { Length } from "./Length";
import type { HeadNumbers } from "./messages";
import { cellIn, labelSpace, type Strip, Strips } from "./Strips";

/** How many tokens are shown: those that the head attends to most. */
const mostTokens = 12;
/** The width of a column of scores or weights, wide enough for their numbers. */
const numberWidth = 56;
const rowHeight = 20;
/** Between the pictures. */
const gaps = 3 * 16;
/** From this width on the pictures stand side by side, in pixels. */
export const wide = 640;

export function HeadList({ facts }: { facts: LayerFacts }) {
  const { opened, set } = useWriteWorkspace();
  const { layer, numbers, head, tokens } = facts;
  const size = numbers.input.length;
  const lengths = Array.from(numbers.most, (_, i) =>
    lengthOf(numbers.heads.subarray(i * size, (i + 1) * size)),
  );
  const longest = Math.max(...lengths);
  const nameOf = (i: number) => {
    const measures = opened.measures.find(({ key }) => key === headKey({ layer, head: i }));
    const kind = measures && kindOf(measures);
    return kind && kinds[kind].name;
  };
  return (
    <table class="head-list">
      <thead>
        <tr>
          <th scope="col">head</th>
          <th scope="col">attends most to</th>
          <th scope="col">weight</th>
          <th scope="col">adds a vector of length</th>
        </tr>
      </thead>
      <tbody>
        {lengths.map((length, i) => (
          <tr key={i}>
            <th scope="row">
              <button
                type="button"
                aria-pressed={i === head?.place.head}
                onClick={() => set({ head: headKey({ layer, head: i }), cell: null })}
              >
                {i + 1}
              </button>{" "}
              <span class="faint">{nameOf(i)}</span>
            </th>
            <td data-most={numbers.most[i]}>
              <bdi>{tokens[numbers.most[i] as number]}</bdi>
            </td>
            <td class="number">{format(numbers.mostWeights[i] as number, 2)}</td>
            <td>
              <Length value={length} most={longest} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The tokens with the largest weights, in the order of the text. */
export function mostAttended(weights: Float32Array): number[] {
  return Array.from(weights.keys())
    .sort((a, b) => (weights[b] as number) - (weights[a] as number))
    .slice(0, mostTokens)
    .sort((a, b) => a - b);
}

/** The pictures of a head: rows of its tokens, and below them the query and the sum. */
function stripsOf({ shares, values, place }: HeadNumbers, facts: LayerFacts, rows: number[]) {
  const { tokens, numbers } = facts;
  const size = shares.queries.length;
  const each = (of: "key" | "score" | "weight" | "value", data: Float32Array): Strip[] => {
    const own = data.length / tokens.length;
    return rows.map((token) => ({
      label: tokens[token] as string,
      place: { of, token },
      data: data.subarray(token * own, (token + 1) * own),
    }));
  };
  const one = (label: string, of: "query" | "sum", data: Float32Array): Strip => ({
    ...{ label, data },
    place: { of } as Place,
  });
  const sum = numbers.headOutputs.subarray(place.head * size, (place.head + 1) * size);
  return {
    keys: [...each("key", shares.keys), one("query", "query", shares.queries)],
    scores: each("score", shares.scores),
    weights: each("weight", shares.weights),
    values: [...each("value", values), one("sum", "sum", sum)],
  };
}

export function HeadInside({
  facts,
  head,
  width,
}: {
  facts: LayerFacts;
  head: HeadNumbers;
  width: number;
}) {
  const { theme, restrictions } = useShell();
  const { shares, place } = head;
  const rows = useMemo(() => mostAttended(shares.weights), [shares]);
  const strips = useMemo(() => stripsOf(head, facts, rows), [head, facts, rows]);
  const palette = useMemo(() => weightPalette("absolute", "sqrt", theme), [theme]);
  const count = shares.weights.length;
  const others = 1 - rows.reduce((sum, token) => sum + (shares.weights[token] as number), 0);
  const isWide = width >= wide;
  const vectors = isWide ? (width - labelSpace - 2 * numberWidth - gaps) / 2 : width - labelSpace;
  const cell = cellIn(vectors, shares.queries.length, rowHeight);
  const number = { width: numberWidth, height: rowHeight };
  const name = `head ${place.head + 1}`;
  return (
    <div class="head-inside">
      <h4>Inside of {name}</h4>
      <div class="head-pictures">
        <Strips
          name="keys"
          title={`Keys and the query, ${name}`}
          symbol="Keys, and the query"
          {...{ strips: strips.keys, cell, width }}
          selected={rows.length}
        />
        <Strips
          name="scores"
          title={`Scores, ${name}`}
          symbol="Score"
          note=""
          {...{ strips: strips.scores, cell: number, width, hasLabels: !isWide }}
          hasLegend={false}
        />
        <Strips
          name="attended"
          title={`Weights, ${name}`}
          symbol="Weight"
          note=""
          {...{ strips: strips.weights, cell: number, width, palette, hasLabels: false }}
          hasLegend={false}
        />
        <Strips
          name="values"
          title={`Values and their weighted sum, ${name}`}
          symbol="Values, and their sum"
          {...{ strips: strips.values, cell, width, hasLabels: !isWide }}
          selected={rows.length}
        />
      </div>
      {count > rows.length && !hides(restrictions, "text") && (
        <p class="faint">
          The {rows.length} tokens it attends to most, of {count}; the others have{" "}
          {percent(Math.max(0, others), 1)} together.
        </p>
      )}
    </div>
  );
}
