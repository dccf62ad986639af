/** The rows of a stack as a file, and what its last reading says, over the layers. */

import { useMemo } from "preact/hooks";
import { type Contents, csvBlob, rowsCsv } from "#parts";
import { Curve } from "../picture/Curve";
import { SaveMenu } from "../picture/SaveMenu";
import { quoted } from "../shared/pieces";
import type { StackNumbers } from "./messages";
import { columnTitles, rowsOf } from "./StackTable";

/** The numbers of all rows that have some. */
function stackCsv(numbers: StackNumbers, token: string): string {
  const { partNames, readings } = numbers;
  const columns = [...partNames.map((name) => columnTitles[name]), "length of the stream"];
  const rows = rowsOf(numbers, [token, ""]).filter(({ stream }) => stream !== null);
  return rowsCsv([
    ["", ...columns, ...(readings ? ["probability"] : [])],
    ...rows.map(({ name, added, stream, reading }) => [
      name,
      ...partNames.map((_, i) => added[i] ?? Number.NaN),
      stream ?? Number.NaN,
      ...(reading ? [reading.winner] : []),
    ]),
  ]);
}

/** @param token the token of the first row */
export function SaveRows(props: { numbers: StackNumbers; token: string; file?: string }) {
  const { numbers, token, file = "network" } = props;
  const contents: Contents = { csv: () => csvBlob(stackCsv(numbers, token)) };
  return <SaveMenu title="the rows of the network" file={file} contents={contents} />;
}

/** The place of a reading: at the start, after a layer, or after a part of it. */
function placeAt(reading: number, names: StackNumbers["partNames"]): string {
  const { length } = names;
  const [layer, part] = [Math.floor(reading / length), reading % length];
  if (part > 0) return `after ${names[part - 1]} of layer ${layer + 1}`;
  return layer === 0 ? "before layer 1" : `after layer ${layer}`;
}

/** The probability, after each part of each layer, of the token that is the most likely one at the end. */
export function Winner({ numbers, row }: { numbers: StackNumbers; row: number | null }) {
  const { readings, partNames } = numbers;
  const parts = partNames.length;
  const { x, y } = useMemo(
    () => ({
      x: Float32Array.from(readings ?? [], (_, i) => i / parts),
      y: Float32Array.from(readings ?? [], ({ winner }) => winner),
    }),
    [readings],
  );
  if (!readings) return null;
  const winner = readings.at(-1)?.words[0] ?? "";
  return (
    <Curve
      title={`Probability of ${quoted(winner)} over the layers`}
      xName="layers"
      placeOf={(i) => placeAt(i, partNames)}
      yName="probability"
      {...{ x, series: [{ name: winner, y }] }}
      range={{ low: 0, high: 1 }}
      height={112}
      {...(row !== null && { cursor: Math.min(parts * row, readings.length - 1) })}
    />
  );
}
