/** The whole network of a model that predicts the next token, with a row for each layer that opens. */

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { type Contents, csvBlob, rowsCsv } from "#parts";
import { Curve } from "../picture/Curve";
import { SaveMenu } from "../picture/SaveMenu";
import { quoted } from "../shared/pieces";
import { hides } from "../shared/restrictions";
import { useShell } from "../shared/shell";
import { Term } from "../shared/Term";
import { useWidth } from "../shared/useWidth";
import type { Facts } from "./facts";
import { type NetworkHost, NetworkHostContext } from "./host";
import { Inside } from "./Inside";
import type { StackNumbers } from "./messages";
import { columnTitles, rowsOf, StackTable } from "./StackTable";

/** The numbers of all rows but the last one, which has none. */
function stackCsv(numbers: StackNumbers, token: string): string {
  const { partNames, readings } = numbers;
  const columns = [...partNames.map((name) => columnTitles[name]), "stream"];
  const rows = rowsOf(numbers, [token, ""]).slice(0, -1);
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
export function SaveRows({
  numbers,
  token,
  file = "network",
}: {
  numbers: StackNumbers;
  token: string;
  file?: string;
}) {
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
  const winner = quoted(readings.at(-1)?.words[0] ?? "");
  return (
    <Curve
      title={`Probability of ${winner} over the layers`}
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

/**
 * @param row the open row: 0 for the embedding, then the layers, then the end; null for none
 * @param choice the control that selects a token, and other content of the room
 */
export function NetworkPicture({
  facts,
  host,
  row,
  open,
  choice,
}: {
  facts: Facts;
  host: NetworkHost;
  row: number | null;
  open(row: number | null): void;
  choice: ComponentChildren;
}) {
  const { restrictions } = useShell();
  const { numbers, tokens, place } = facts;
  const [ref, width] = useWidth<HTMLDivElement>();
  const token = tokens[place] as string;
  const own = `“${token}”`;
  const names = [own, "Next token"] as const;
  return (
    <NetworkHostContext.Provider value={host}>
      <div class="network-head">
        {!hides(restrictions, "text") && (
          <p class="words">
            The vector of {own}, the <Term name="residual stream" />, goes straight down; each layer
            adds to it. “It would say” reads it out as if the model ended there (
            <Term name="logit lens" />
            ). Open a row to see inside.
          </p>
        )}
        <Winner {...{ numbers, row }} />
      </div>
      <div class="way-choice">
        {choice}
        <SaveRows {...{ numbers, token }} />
      </div>
      <div ref={ref}>
        <StackTable {...{ numbers, names, row, open, width }} caption="The layers of the model">
          {width > 0 && row !== null && <Inside {...{ row, facts, width }} />}
        </StackTable>
      </div>
    </NetworkHostContext.Provider>
  );
}
