/** A stack of layers as a table: one row for each layer, with the contributions of its parts, and one for each end. */

import type { ComponentChildren } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { px } from "#parts";
import { percent } from "../shared/format";
import { quoted } from "../shared/pieces";
import { lengthOf } from "./formulas";
import { Length } from "./Length";
import type { PartNumbers, Reading, StackNumbers } from "./messages";
import { Words } from "./Prediction";
import { Rail, railWidth } from "./Rail";

interface StackRow {
  readonly name: string;
  /** The lengths of the vectors that the parts of a layer add; empty for the two ends. */
  readonly added: readonly number[];
  /** The length of the stream after the row; null for the end. */
  readonly stream: number | null;
  /** Null for an encoder. */
  readonly reading: Reading | null;
}

/** @param names the names of the first row and of the last one */
export function rowsOf(
  { start, lengths, readings, partNames, end }: StackNumbers,
  names: readonly [string, string],
): StackRow[] {
  return [
    {
      ...{ name: names[0], added: [], stream: lengthOf(start.stream) },
      reading: readings?.[0] ?? null,
    },
    ...lengths.map(({ added, stream }, i) => ({
      ...{ name: `Layer ${i + 1}`, added, stream },
      reading: readings?.[partNames.length * (i + 1)] ?? null,
    })),
    ...(end
      ? [{ name: names[1], added: [], stream: null, reading: readings?.at(-1) ?? null }]
      : []),
  ];
}

export const columnTitles: Readonly<Record<PartNumbers["name"], string>> = {
  attention: "length of what attention adds",
  cross: "length of what cross-attention adds",
  "feed-forward": "length of what feed-forward adds",
};

function Added({ name, value, most }: { name: string; value: number | null; most: number }) {
  return (
    <td class="added" data-column={name}>
      {value !== null && <Length value={value} most={most} />}
    </td>
  );
}

interface OpeningProps {
  row: number | null;
  open(row: number | null): void;
  /** The contents of the open row, shown below it; if omitted, the room shows them elsewhere. */
  children?: ComponentChildren;
}

interface RowProps extends OpeningProps {
  index: number;
  own: StackRow;
  numbers: StackNumbers;
  /** The index of the last row. */
  last: number;
  most: number;
  words: number;
}

/** The numbers of the row and, if it is open, its contents below. */
function Opening({ index, own, numbers, last, most, words, row, open, children }: RowProps) {
  const isOpen = row === index;
  const { partNames, readings } = numbers;
  const { reading } = own;
  const inside = isOpen && children;
  const isEnd = index === last && numbers.end;
  const kind = index === 0 ? "start" : !isEnd ? "layer" : inside ? "open" : "end";
  const columns = partNames.length + (readings ? 5 : 3);
  return (
    <>
      <tr data-row={index} class={isOpen ? "way-row open" : "way-row"}>
        <td class="rail-place">
          <Rail kind={kind} parts={partNames.length} />
        </td>
        <th scope="row">
          <button
            type="button"
            class="opener truncated"
            aria-expanded={isOpen}
            onClick={() => open(isOpen ? null : index)}
          >
            <bdi>{own.name}</bdi>
          </button>
        </th>
        {partNames.map((name, i) => (
          <Added key={name} name={name} value={own.added[i] ?? null} most={most} />
        ))}
        <Added name="stream" value={own.stream} most={most} />
        {reading && (
          <>
            <td class="would-say">
              <Words reading={reading} count={words} winner={readings?.at(-1)?.ids[0]} />
            </td>
            <td class="winner" data-winner={reading.winner}>
              <span class="share-bar" aria-hidden="true">
                <span style={{ width: percent(reading.winner, 2).replace(" ", "") }} />
              </span>
              <span class="number">{percent(reading.winner, 1)}</span>
            </td>
          </>
        )}
      </tr>
      {inside && (
        <tr class="inside">
          <td colSpan={columns}>{inside}</td>
        </tr>
      )}
    </>
  );
}

/** The arrow keys move between the rows. If a row is open, they open the next one instead of it. */
function useRowKeys({ row: now, open }: OpeningProps) {
  const table = useRef<HTMLTableElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = (event.target as Element).closest<HTMLElement>(".opener")?.closest("tr");
    if (!step || !row) return;
    event.preventDefault();
    const index = Number(row.dataset.row) + step;
    const next = table.current?.querySelector<HTMLElement>(`[data-row="${index}"] .opener`);
    if (!next) return;
    next.focus();
    if (now === index - step) open(index);
  };
  return { table, onKeyDown };
}

function Head({ partNames, readings }: StackNumbers) {
  return (
    <thead>
      <tr class="way-head">
        <td />
        <th scope="col" class="after">
          after
        </th>
        {partNames.map((name) => (
          <th key={name} scope="col">
            {columnTitles[name]}
          </th>
        ))}
        <th scope="col">length of the stream</th>
        {readings && (
          <>
            <th scope="col" class="says">
              it would say
            </th>
            <th scope="col" class="winner-head">
              <bdi>{quoted(readings.at(-1)?.words[0] ?? "")}</bdi>
            </th>
          </>
        )}
      </tr>
    </thead>
  );
}

interface StackTableProps extends OpeningProps {
  numbers: StackNumbers;
  /** The names of the first row and of the last one. */
  names: readonly [string, string];
  caption: string;
  /** The number of tokens shown for each reading. */
  words?: number;
  /** In pixels. */
  width: number;
}

/** @param row the open row; `open` changes it */
export function StackTable({
  numbers,
  names,
  caption,
  words = 3,
  width,
  ...opening
}: StackTableProps) {
  const { table, onKeyDown } = useRowKeys(opening);
  const rows = useMemo(() => rowsOf(numbers, names), [numbers, names.join()]);
  const most = Math.max(...rows.map(({ stream }) => stream ?? 0));
  const last = rows.length - 1;
  return (
    <table
      ref={table}
      class={`stack-table parts-${numbers.partNames.length}`}
      style={{ "--rail": px(railWidth(width)) }}
      onKeyDown={onKeyDown}
    >
      <caption class="only-heard">{caption}</caption>
      <Head {...numbers} />
      <tbody>
        {rows.map((own, index) => (
          <Opening key={index} {...{ index, own, numbers, last, most, words, ...opening }} />
        ))}
      </tbody>
    </table>
  );
}
