/**
 * The heads of an attention: the tokens that each head attends to, the vector that it adds, and the computation of the
 * selected head.
 */

import { useMemo } from "preact/hooks";
import { format } from "#parts";
import { useWeightPalette } from "../picture/useWeightPalette";
import { percent } from "../shared/format";
import { Prose } from "../shared/Panel";
import { columnsOf, type Facts, isAblated } from "./facts";
import { bySize, lengthOf, rowOf } from "./formulas";
import { useNetworkHost } from "./host";
import { Length } from "./Length";
import type { AttentionNumbers, RowName } from "./messages";
import { SideBySide, strip } from "./Strips";

/** The number of tokens that are shown: the ones that the head attends to most. */
const mostTokens = 12;
/** The width of a column of scores or weights. */
const numberWidth = 56;

interface HeadProps {
  part: AttentionNumbers;
  facts: Facts;
}

export function HeadList({ part, facts }: HeadProps) {
  const { choose, noteOf } = useNetworkHost();
  const { most, mostWeights, heads, head } = part;
  const layer = facts.numbers.open?.layer ?? 0;
  const columns = columnsOf(facts, part);
  const size = part.added.length;
  const lengths = Array.from(most, (_, i) => lengthOf(rowOf(heads, i, size)));
  const longest = Math.max(...lengths);
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
              <button type="button" aria-pressed={i === head.head} onClick={() => choose(i)}>
                {i + 1}
              </button>{" "}
              <span class="faint">{isAblated(facts, i) ? "ablated" : noteOf?.(layer, i)}</span>
            </th>
            <td data-most={most[i]}>
              <bdi>{columns[most[i] as number]}</bdi>{" "}
              <span class="faint number">({(most[i] as number) + 1})</span>
            </td>
            <td class="number">{format(mostWeights[i] as number, 2)}</td>
            <td>
              <Length value={length} most={longest} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The pictures of a head: one row for each token, and below them the query and the sum. */
function stripsOf(part: AttentionNumbers, columns: readonly string[], tokens: readonly number[]) {
  const { name, head } = part;
  const { shares, values } = head;
  const each = (of: RowName, data: Float32Array) =>
    tokens.map((token) =>
      strip(
        name,
        columns[token] as string,
        of,
        rowOf(data, token, data.length / columns.length),
        token,
      ),
    );
  return {
    keys: [...each("key", shares.keys), strip(name, "query", "query", shares.queries)],
    scores: each("score", shares.scores),
    weights: each("weight", shares.weights),
    values: [...each("value", values), strip(name, "sum", "sum", head.sum)],
  };
}

/** The share of the tokens that are not shown, if there are any. */
function Others({ weights, tokens }: { weights: Float32Array; tokens: readonly number[] }) {
  if (weights.length <= tokens.length) return null;
  const others = 1 - tokens.reduce((sum, token) => sum + (weights[token] as number), 0);
  return (
    <Prose class="faint">
      The {tokens.length} tokens it attends to most, of {weights.length}; the others have{" "}
      {percent(Math.max(0, others), 1)} together.
    </Prose>
  );
}

export function HeadInside({ part, facts, width }: HeadProps & { width: number }) {
  const { head } = part;
  const { weights } = head.shares;
  const columns = columnsOf(facts, part);
  // In the order of the text.
  const tokens = useMemo(
    () =>
      bySize(weights)
        .slice(0, mostTokens)
        .sort((a, b) => a - b),
    [weights],
  );
  const strips = useMemo(() => stripsOf(part, columns, tokens), [part, columns, tokens]);
  const palette = useWeightPalette({ range: "absolute", curve: "sqrt" });
  const { keys, scores, values } = strips;
  const isNumber = true;
  const selected = tokens.length;
  return (
    <div class="head-inside">
      <h4>Inside of head {head.head + 1}</h4>
      <SideBySide
        {...{ part: part.name, width, numberWidth }}
        of={`, head ${head.head + 1}`}
        pictures={[
          { picture: "keys", name: "Keys, and the query", strips: keys, selected },
          { picture: "scores", name: "Score", strips: scores, isNumber },
          { picture: "weights", name: "Weight", strips: strips.weights, isNumber, palette },
          { picture: "values", name: "Values, and their sum", strips: values, selected },
        ]}
      />
      <Others {...{ weights, tokens }} />
    </div>
  );
}
