/** The whole network: one token's way through the model, with a row for each layer that opens. */
import type { ComponentChildren } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { Curve } from "../../../picture/Curve";
import { csvOf } from "../../../picture/export";
import { px } from "../../../picture/layout";
import { type Contents, csvBlob, SaveMenu } from "../../../picture/SaveMenu";
import { viewOn } from "../../../picture/view";
import { percent } from "../../../shared/format";
import { Notices } from "../../../shared/Notices";
import { label, quoted } from "../../../shared/pieces";
import { TokenSelect } from "../../../shared/RowTable";
import { hides } from "../../../shared/restrictions";
import { useShell } from "../../../shared/shell";
import { useWidth } from "../../../shared/useWidth";
import { useWriteWorkspace } from "../workspace";
import { lengthOf } from "./explain";
import { Inside, railWidth } from "./Inside";
import { Length } from "./Length";
import type { LayerNumbers, Reading } from "./messages";
import { Rail } from "./Rail";
import { Words } from "./Said";
import { useInView, useNetwork, type Way } from "./useNetwork";

/** What a row adds, and what its end would say. */
interface Row {
  readonly name: string;
  readonly attention: number | null;
  readonly feedForward: number | null;
  readonly stream: number;
  readonly reading: Reading;
}

function rowsOf({ answer, tokens }: Way): Row[] {
  const { layers, readings } = answer;
  const first = layers[0] as LayerNumbers;
  return [
    {
      ...{ name: `“${tokens.at(-1)}”`, attention: null, feedForward: null },
      ...{ stream: lengthOf(first.input), reading: readings[0] as Reading },
    },
    ...layers.map((numbers, i) => ({
      name: `Layer ${i + 1}`,
      attention: lengthOf(numbers.attention),
      feedForward: lengthOf(numbers.feedForward),
      stream: lengthOf(numbers.output),
      reading: readings[2 * i + 2] as Reading,
    })),
  ];
}

function Added({ name, value, most }: { name: string; value: number | null; most: number }) {
  return (
    <td class="added" data-column={name}>
      {value !== null && <Length value={value} most={most} sign={name === "stream" ? "" : "+ "} />}
    </td>
  );
}

/** The numbers of the row, and below it what is inside. */
function Opening({
  index,
  row,
  last,
  most,
  children,
}: {
  index: number;
  row: Row | null;
  last: Reading;
  most: number;
  children: ComponentChildren;
}) {
  const { state, set } = useWriteWorkspace();
  const isOpen = state.layer === index;
  const reading = row?.reading ?? last;
  const kind = index === 0 ? "start" : row ? "layer" : "end";
  return (
    <>
      <tr data-row={index} class={isOpen ? "way-row open" : "way-row"}>
        <td class="rail-place">
          <Rail kind={kind === "end" && isOpen ? "open" : kind} />
        </td>
        <th scope="row">
          <button
            type="button"
            class="opener"
            aria-expanded={isOpen}
            onClick={() => set({ layer: isOpen ? null : index })}
          >
            <bdi>{row?.name ?? "Next token"}</bdi>
          </button>
        </th>
        <Added name="attention" value={row?.attention ?? null} most={most} />
        <Added name="feed-forward" value={row?.feedForward ?? null} most={most} />
        <Added name="stream" value={row?.stream ?? null} most={most} />
        <td class="would-say">
          <Words reading={reading} count={3} winner={last.ids[0]} />
        </td>
        <td class="winner" data-winner={reading.winner}>
          <span class="share-bar" aria-hidden="true">
            <span style={{ width: percent(reading.winner, 2).replace(" ", "") }} />
          </span>
          <span class="number">{percent(reading.winner, 1)}</span>
        </td>
      </tr>
      {isOpen && (
        <tr class="inside">
          <td colSpan={7}>{children}</td>
        </tr>
      )}
    </>
  );
}

/** The arrow keys move between the rows, and an open one opens the next in its place. */
function useRowKeys() {
  const { state, set } = useWriteWorkspace();
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
    if (state.layer !== null) set({ layer: index });
  };
  return { table, onKeyDown };
}

function WayTable({ way }: { way: Way }) {
  const { opened } = useWriteWorkspace();
  const { table, onKeyDown } = useRowKeys();
  const [ref, width] = useWidth<HTMLDivElement>();
  const rows = useMemo(() => rowsOf(way), [way.answer]);
  const last = way.answer.readings.at(-1) as Reading;
  const most = Math.max(...rows.map(({ stream }) => stream));
  const winner = quoted(opened.vocabulary[last.ids[0] as number] as string);
  return (
    <div ref={ref} style={{ "--rail": px(railWidth(width)) }}>
      <table ref={table} class="way" onKeyDown={onKeyDown}>
        <thead>
          <tr class="way-head">
            <td />
            <th scope="col">after</th>
            <th scope="col">attention adds</th>
            <th scope="col">feed-forward adds</th>
            <th scope="col">the stream</th>
            <th scope="col">it would say</th>
            <th scope="col">
              <bdi>{winner}</bdi>
            </th>
          </tr>
        </thead>
        <tbody>
          {[...rows, null].map((row, index) => (
            <Opening key={index} {...{ index, row, last, most }}>
              {width > 0 && <Inside {...{ index, way, width }} />}
            </Opening>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Saves the rows as numbers. */
function SaveRows({ way }: { way: Way }) {
  const contents: Contents = {
    csv() {
      const rows = rowsOf(way);
      const columns = ["attention adds", "feed-forward adds", "stream", "probability"];
      const numbers = rows.map(({ attention, feedForward, stream, reading }) => [
        ...[attention ?? Number.NaN, feedForward ?? Number.NaN, stream, reading.winner],
      ]);
      const view = viewOn(Float32Array.from(numbers.flat()), rows.length, columns.length);
      const names = rows.map(({ name }) => name);
      return csvBlob(csvOf(view, names, columns));
    },
  };
  return <SaveMenu title="the rows of the network" file="network" contents={contents} />;
}

/** The probability of the token that wins in the end, after each part of each layer. */
function Winner({ way }: { way: Way }) {
  const { state, opened } = useWriteWorkspace();
  const { readings } = way.answer;
  const { x, y } = useMemo(
    () => ({
      x: Float32Array.from(readings, (_, i) => i / 2),
      y: Float32Array.from(readings, ({ winner }) => winner),
    }),
    [readings],
  );
  const winner = quoted(opened.vocabulary[readings.at(-1)?.ids[0] as number] as string);
  return (
    <Curve
      title={`Probability of ${winner} over the layers`}
      xName="layers"
      yName="probability"
      {...{ x, series: [{ name: winner, y }] }}
      range={{ low: 0, high: 1 }}
      height={112}
      {...(state.layer !== null && { cursor: Math.min(2 * state.layer, readings.length - 1) })}
    />
  );
}

export function NetworkPanel() {
  const { restrictions } = useShell();
  const { state, answer, place, go } = useWriteWorkspace();
  const { length: count } = state.dropped;
  const labels = useMemo(() => answer.pieces.map(label), [answer]);
  const [ref, isSeen] = useInView<HTMLElement>();
  const { way, failure } = useNetwork(isSeen);
  return (
    <section ref={ref} class="network" aria-labelledby="network-title">
      <h2 id="network-title">The whole network</h2>
      <Notices notices={failure ? [failure] : []} />
      {way && (
        <>
          <div class="network-head">
            {!hides(restrictions, "text") && (
              <p class="words">
                The way of “{way.tokens.at(-1)}” through the model. Its vector, the{" "}
                <b>residual stream</b>, goes straight down; the attention and the feed-forward
                network of each layer add to it. “It would say” reads it out as if the model ended
                there (the logit lens; nostalgebraist, 2020). Open a row to see inside.
              </p>
            )}
            <Winner way={way} />
          </div>
          <div class="way-choice">
            <TokenSelect label="Token" tokens={labels} index={place} onSelect={go} />
            {count > 0 && (
              <span class="faint">
                without {count} dropped {count === 1 ? "head" : "heads"}
              </span>
            )}
            <SaveRows way={way} />
          </div>
          <WayTable way={way} />
        </>
      )}
    </section>
  );
}
