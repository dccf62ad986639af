/** The vectors of the trial: the numbers of one query, and below them the numbers of each key. */

import { useMemo } from "preact/hooks";
import { leftOf, type MatrixView, shorten, signedPalette, viewOn } from "#parts";
import { HeatMap, usePicture } from "../../picture/Matrix";
import { useShell } from "../../shared/shell";
import { useWidth } from "../../shared/useWidth";
import { mostTrialSize, type TrialAnswer } from "./trial";

/** Numbers that are farther from 0 have the same colour. Few normal numbers are. */
const farthest = 3;
const rowHeight = 20;
const widestCell = 36;

interface TrialVectorsProps {
  keys: readonly string[];
  /** The length of the vectors that is shown. */
  size: number;
  answer: TrialAnswer | null;
}

export function TrialVectors({ keys, size, answer }: TrialVectorsProps) {
  const { theme } = useShell();
  const [ref, width] = useWidth<HTMLDivElement>();
  const rows = keys.length + 1;
  const view = useMemo((): MatrixView | null => {
    // Shorter vectors are the first numbers of longer ones.
    return answer && { ...viewOn(answer.vectors, rows, mostTrialSize), cols: size };
  }, [answer, rows, size]);
  const labels = { rows: ["query", ...keys.map((key) => shorten(key, 12))] };
  const room = Math.max(0, width - leftOf(labels) - 1);
  const picture = usePicture({
    ...{ view, rows, cols: size, labels },
    palette: useMemo(() => signedPalette(farthest, theme), [theme]),
    cell: { width: Math.min(widestCell, room / size), height: rowHeight },
  });
  return (
    <div ref={ref} class="trial-vectors">
      {width > 0 && (
        <HeatMap name="trialVectors" title={`Vectors of ${size} numbers`} picture={picture} />
      )}
    </div>
  );
}
