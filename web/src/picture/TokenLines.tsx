/** Attention as lines from queries on the left to keys on the right: `<heed-lines>` in the page. */
import { type HeedLines, type HeedProperties, lines } from "heed/view";
import { useMemo } from "preact/hooks";
import { type MatrixView, packedNumbers } from "#parts";
import { useShell } from "../shared/shell";
import type {} from "./elements";

// Its first element registers a class; `defineElements` would register, and load, all of them.
lines();

export interface TokenLinesProps
  extends Pick<HeedProperties<HeedLines>, "queries" | "keys" | "mass" | "range" | "curve"> {
  caption: string;
  /** One row of weights for each query, row-major; null until the numbers arrive. */
  weights: MatrixView | null;
  selected: number | null;
  onSelect(row: number): void;
}

export function TokenLines({ caption, weights, selected, onSelect, ...look }: TokenLinesProps) {
  const { theme } = useShell();
  const data = useMemo(() => {
    if (!weights) return null;
    return { shape: [weights.rows, weights.cols], data: packedNumbers(weights) };
  }, [weights]);
  return (
    <heed-lines
      {...{ ...look, data, theme, label: caption, row: weights && selected }}
      onheed-select={({ detail: { row }, target }) => {
        if (row !== undefined) onSelect(row);
        // A second click releases the query in the element, but the page always has a selected one.
        else (target as HeedLines).row = selected;
      }}
    />
  );
}
