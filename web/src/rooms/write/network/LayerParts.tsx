/** An open layer: what its norms, its heads and its feed-forward network compute for the token. */
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { format } from "../../../shared/format";
import { RowTable } from "../../../shared/RowTable";
import type { LayerFacts, Place } from "./explain";
import { lengthOf, rootMeanSquare } from "./explain";
import { HeadInside, HeadList } from "./HeadParts";
import { Length } from "./Length";
import { Rail, type RailKind } from "./Rail";
import { Said, type SaidReading } from "./Said";
import { type Strip, Strips } from "./Strips";

/** How many of the strongest units are listed. */
const mostUnits = 6;

/** A step of the layer, beside its piece of the stream. */
export function Part({
  kind,
  title,
  words,
  children,
}: {
  kind: RailKind;
  title: string;
  words?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <div class="part" data-part={title}>
      <div class="rail-place">
        <Rail kind={kind} />
      </div>
      <div class="part-work">
        <h3>{title}</h3>
        {words && <p class="faint">{words}</p>}
        {children}
      </div>
    </div>
  );
}

const strip = (label: string, of: Exclude<Place, { token: number }>["of"], data: Float32Array) =>
  ({ label, place: { of } as Place, data }) satisfies Strip;

/** The stream, the norm's gain and its result. */
function Norm({ of, facts, width }: { of: "first" | "second"; facts: LayerFacts; width: number }) {
  const { numbers, eps } = facts;
  const isFirst = of === "first";
  const stream = isFirst ? numbers.input : numbers.between;
  const strips = useMemo(
    () => [
      strip("stream", isFirst ? "stream" : "between", stream),
      strip("gain", `${of} gain`, isFirst ? numbers.firstGain : numbers.secondGain),
      strip("normed", `${of} norm`, isFirst ? numbers.firstNormed : numbers.secondNormed),
    ],
    [numbers],
  );
  return (
    <Part
      kind="reads"
      title={isFirst ? "Norm" : "Second norm"}
      words={`A copy of the stream, divided by its root mean square ${format(rootMeanSquare(stream, eps))}, times a learned gain.`}
    >
      <Strips name={`${of}-norm`} title="RMS norm" {...{ strips, width }} />
    </Part>
  );
}

function AfterAttention({ facts, width, said }: PartProps & { said: SaidReading }) {
  const { numbers, head } = facts;
  const size = numbers.input.length;
  const heads = numbers.heads.length / size;
  const strips = useMemo(
    () => [
      strip("stream", "stream", numbers.input),
      ...Array.from(
        { length: heads },
        (_, i): Strip => ({
          label: `+ head ${i + 1}`,
          place: { of: "head", head: i },
          data: numbers.heads.subarray(i * size, (i + 1) * size),
        }),
      ),
      strip("= stream", "between", numbers.between),
    ],
    [numbers],
  );
  return (
    <Part
      kind="adds"
      title="Add"
      words="The output projection W_O turns each head's sum into a vector of the stream, which is added."
    >
      <Strips
        name="after-attention"
        title="The stream, and what each head adds"
        {...{ strips, width }}
        {...(head && { selected: head.place.head + 1 })}
      />
      <Said {...said} />
    </Part>
  );
}

/** The units that add the longest vectors. */
function StrongUnits({ facts }: { facts: LayerFacts }) {
  const { gate, up, units, unitLengths } = facts.numbers;
  const order = useMemo(
    () =>
      Array.from(unitLengths.keys())
        .sort((a, b) => (unitLengths[b] as number) - (unitLengths[a] as number))
        .slice(0, mostUnits),
    [unitLengths],
  );
  const columns = ["unit", "gate", "up", "SiLU(gate) × up", "adds a vector of length"];
  return (
    <RowTable title="The strongest units" columns={columns.map((head) => ({ id: head, head }))}>
      <tbody>
        {order.map((unit) => (
          <tr key={unit} data-unit={unit + 1}>
            <th scope="row">{unit + 1}</th>
            {[gate, up, units].map((column, i) => (
              <td key={i}>{format(column[unit] as number)}</td>
            ))}
            <td>
              <Length value={unitLengths[unit] as number} most={unitLengths[order[0] ?? 0] ?? 0} />
            </td>
          </tr>
        ))}
      </tbody>
    </RowTable>
  );
}

interface PartProps {
  facts: LayerFacts;
  /** In pixels. */
  width: number;
}

function Units({ facts, width }: PartProps) {
  const { numbers } = facts;
  const strips = useMemo(
    () => [
      strip("gate", "gate", numbers.gate),
      strip("up", "up", numbers.up),
      strip("unit", "unit", numbers.units),
    ],
    [numbers],
  );
  const count = numbers.units.length;
  const open = numbers.gate.reduce((sum, gate) => sum + (gate > 0 ? 1 : 0), 0);
  return (
    <Part
      kind="part"
      title="Feed-forward"
      words={`Each of ${count} units is SiLU(gate) × up; ${open} have a positive gate.`}
    >
      <Strips
        name="units"
        title="The units of the feed-forward network"
        symbol="The units"
        {...{ strips, width }}
      />
      <StrongUnits facts={facts} />
    </Part>
  );
}

function AfterFeedForward({ facts, width, said }: PartProps & { said: SaidReading }) {
  const { numbers, layer } = facts;
  const strips = useMemo(
    () => [
      strip("stream", "between", numbers.between),
      strip("+ added", "feed-forward", numbers.feedForward),
      strip("= stream", "output", numbers.output),
    ],
    [numbers],
  );
  return (
    <Part
      kind="adds"
      title="Add"
      words={`W_down turns the units into one vector of length ${format(lengthOf(numbers.feedForward), 2)}. The stream goes on to ${said.isLast ? "the end" : `layer ${layer + 2}`}.`}
    >
      <Strips
        name="after-feed-forward"
        title="The stream, and what the feed-forward network adds"
        {...{ strips, width }}
      />
      <Said {...said} />
    </Part>
  );
}

export function LayerParts({
  facts,
  width,
  said,
}: PartProps & { said: readonly [SaidReading, SaidReading] }) {
  return (
    <>
      <Norm of="first" {...{ facts, width }} />
      <Part
        kind="part"
        title="Attention"
        words="Each head compares its query with the keys of all tokens so far, and sums their values."
      >
        <HeadList facts={facts} />
        {facts.head && <HeadInside facts={facts} head={facts.head} width={width} />}
      </Part>
      <AfterAttention {...{ facts, width }} said={said[0]} />
      <Norm of="second" {...{ facts, width }} />
      <Units {...{ facts, width }} />
      <AfterFeedForward {...{ facts, width }} said={said[1]} />
    </>
  );
}
