/** An open layer: what its norms, its heads and its feed-forward network compute for the token. */

import { type ComponentChildren, Fragment } from "preact";
import { useMemo } from "preact/hooks";
import { format } from "#parts";
import { RowTable } from "../shared/RowTable";
import type { Facts } from "./facts";
import { activations, bySize, deviationOf, lengthOf, rootMeanSquare, rowOf } from "./formulas";
import { HeadMaps } from "./HeadMaps";
import { HeadInside, HeadList } from "./HeadParts";
import { Length } from "./Length";
import type {
  AddedByHeads,
  AttentionNumbers,
  FeedForwardNumbers,
  NormNumbers,
  PartName,
  PartNumbers,
} from "./messages";
import { Prediction, type PredictionProps } from "./Prediction";
import { Rail, type RailKind } from "./Rail";
import { type Strip, Strips, strip } from "./Strips";

/** The number of strongest units that are listed, and the largest number that the picture shows. */
const mostUnits = 6;
const mostShown = 1024;

interface StepProps {
  kind: RailKind;
  title: string;
  words?: ComponentChildren;
  children: ComponentChildren;
}

/** A step of the layer, next to its section of the stream. */
export function Part({ kind, title, words, children }: StepProps) {
  return (
    <div class="part" data-part={title}>
      <div class="rail-place">
        <Rail kind={kind} />
      </div>
      <div class="part-work">
        <h3>{title}</h3>
        {words && <p class="faint prose">{words}</p>}
        {children}
      </div>
    </div>
  );
}

/** The rows of a norm: the stream, the learned parameters, and the result. */
function normStrips(part: PartName, { input, gain, bias, result, isPost }: NormNumbers): Strip[] {
  return [
    strip(part, isPost ? "sum" : "stream", "stream", input),
    ...(gain ? [strip(part, "gain", "gain", gain)] : []),
    ...(bias ? [strip(part, "bias", "shift", bias)] : []),
    strip(part, isPost ? "= stream" : "normed", "norm", result),
  ];
}

function wordsOf({ kind, eps, input, gain, bias, isPost }: NormNumbers): string {
  const made =
    kind === "rms"
      ? `divided by its root mean square ${format(rootMeanSquare(input, eps))}`
      : `minus its mean, divided by its standard deviation ${format(deviationOf(input, eps))}`;
  const learned = `${gain ? ", times a learned gain" : ""}${bias ? ", plus a learned bias" : ""}`;
  return isPost
    ? `The sum, ${made}${learned}, is the stream from here on.`
    : `A copy of the stream, ${made}${learned}.`;
}

interface NormProps {
  part: PartName;
  norm: NormNumbers;
  /** Of a norm whose result is not the stream. */
  title?: string;
  kind?: RailKind;
  width: number;
}

/** The stream and its norm, which a part reads; with post-norm, a sum and its norm, which is the stream. */
export function Norm({ part, norm, title = "", kind = "reads", width }: NormProps) {
  const strips = useMemo(() => normStrips(part, norm), [part, norm]);
  return (
    <Part
      kind={norm.isPost ? "open" : kind}
      title={norm.isPost ? "Norm of the sum" : title}
      words={wordsOf(norm)}
    >
      <Strips
        {...{ part, strips, width }}
        picture="norm"
        title={norm.kind === "rms" ? "RMS norm" : "Layer norm"}
      />
    </Part>
  );
}

interface PartProps<P> {
  part: P;
  /** In pixels. */
  width: number;
  /** Null for an encoder. */
  prediction?: PredictionProps | null;
}

interface AddProps extends PartProps<AddedByHeads | FeedForwardNumbers> {
  added: readonly Strip[];
  title: string;
  words: string;
  selected?: number | undefined;
}

/** The stream, the vector that is added to it, and the stream afterwards. */
function Add({ part, added, title, words, selected, width, prediction }: AddProps) {
  const { name, norm, output } = part;
  const strips = useMemo(
    () => [
      norm.isPost
        ? strip(name, "stream", "norm", norm.result)
        : strip(name, "stream", "stream", norm.input),
      ...added,
      strip(name, norm.isPost ? "= sum" : "= stream", "output", output),
    ],
    [name, norm, added, output],
  );
  return (
    <Part kind="adds" title="Add" words={words}>
      <Strips {...{ part: name, picture: "add", title, strips, width, selected }} />
      {prediction && <Prediction {...prediction} />}
    </Part>
  );
}

/** The names of the attentions, and the origin of their keys and values. */
const attentions = {
  attention: { title: "Attention", tokens: "all tokens so far" },
  cross: { title: "Cross-attention", tokens: "the encoder’s end, one for each token of the input" },
} as const;

/**
 * The stream, and the vectors that the heads add to it.
 *
 * @param props.head the selected head
 */
export function AddOfHeads({ head, ...props }: PartProps<AddedByHeads> & { head: number }) {
  const { part } = props;
  const { name, heads, bias } = part;
  const size = part.added.length;
  const added = useMemo(
    () => [
      ...Array.from({ length: heads.length / size }, (_, i) =>
        strip(name, `+ head ${i + 1}`, "head", rowOf(heads, i, size), i),
      ),
      ...(bias ? [strip(name, "+ bias", "bias", bias)] : []),
    ],
    [part],
  );
  return (
    <Add
      {...{ ...props, added }}
      title={`The stream, and what each head of ${attentions[name].title.toLowerCase()} adds`}
      words="The output projection W_O turns each head's sum into a vector of the stream."
      selected={head + 1}
    />
  );
}

function Attention(props: PartProps<AttentionNumbers> & { facts: Facts }) {
  const { part, facts, width, prediction = null } = props;
  const { title, tokens } = attentions[part.name];
  const keys = facts.numbers.readings ? tokens : "all tokens";
  return (
    <>
      <Part
        kind="part"
        title={title}
        words={`Each head compares its query with the keys of ${keys}, and sums their values.`}
      >
        {part.maps && <HeadMaps {...{ part, facts, width }} maps={part.maps} />}
        <HeadList {...{ part, facts }} />
        <HeadInside {...{ part, facts, width }} />
      </Part>
      <AddOfHeads {...{ part, width, prediction }} head={part.head.head} />
    </>
  );
}

/** The units that add the longest vectors. */
function StrongUnits({ part, order }: { part: FeedForwardNumbers; order: readonly number[] }) {
  const { gate, up, units, unitLengths: lengths } = part;
  const { name } = activations[part.activation];
  const numbers = up ? [gate, up, units] : [gate, units];
  const columns = [
    "unit",
    ...(up ? ["gate", "up", `${name}(gate) × up`] : ["x", `${name}(x)`]),
    ...(lengths ? ["adds a vector of length"] : []),
  ];
  return (
    <RowTable title="The strongest units" columns={columns}>
      <tbody>
        {order.map((unit) => (
          <tr key={unit} data-unit={unit + 1}>
            <th scope="row">{unit + 1}</th>
            {numbers.map((column, i) => (
              <td key={i}>{format(column[unit] as number)}</td>
            ))}
            {lengths && (
              <td>
                <Length value={lengths[unit] as number} most={lengths[order[0] ?? 0] ?? 0} />
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </RowTable>
  );
}

/** The units of the feed-forward network, and the strongest of them. */
export function Units({ part, width }: Pick<PartProps<FeedForwardNumbers>, "part" | "width">) {
  const { name, gate, up, units, activation } = part;
  const strips = useMemo(
    () => [
      strip(name, up ? "gate" : "x", "gate", gate),
      ...(up ? [strip(name, "up", "up", up)] : []),
      strip(name, "unit", "unit", units),
    ],
    [part],
  );
  /** The units in order of the length of the vector that they add. */
  const order = useMemo(() => bySize(part.unitLengths ?? units.map(Math.abs)), [part]);
  const entries = useMemo(
    () => (units.length > mostShown ? order.slice(0, mostShown).sort((a, b) => a - b) : undefined),
    [part, order],
  );
  const open = gate.reduce((sum, each) => sum + (each > 0 ? 1 : 0), 0);
  const { name: function_ } = activations[activation];
  const what = up
    ? `${function_}(gate) × up; ${open} have a positive gate`
    : `${function_}(x), with x from W_1; ${open} get a positive x`;
  return (
    <Part
      kind="part"
      title="Feed-forward"
      words={`Each of ${units.length} units is ${what}.${entries ? ` The picture has the ${mostShown} that add most.` : ""}`}
    >
      <Strips
        {...{ part: name, strips, width, entries }}
        picture="units"
        title="The units of the feed-forward network"
        symbol="The units"
      />
      <StrongUnits part={part} order={order.slice(0, mostUnits)} />
    </Part>
  );
}

/** The stream, and the vector that the feed-forward network adds to it. */
export function AddOfUnits(props: PartProps<FeedForwardNumbers>) {
  const { name, up, added: vector } = props.part;
  const added = useMemo(() => [strip(name, "+ added", "added", vector)], [vector]);
  return (
    <Add
      {...{ ...props, added }}
      title="The stream, and what the feed-forward network adds"
      words={`${up ? "W_down" : "W_2"} turns the units into one vector of length ${format(lengthOf(vector), 2)}.`}
    />
  );
}

const normTitles: Readonly<Record<PartNumbers["name"], string>> = {
  attention: "Norm",
  cross: "Norm before cross-attention",
  "feed-forward": "Norm before the feed-forward network",
};

interface LayerPartsProps {
  parts: readonly PartNumbers[];
  facts: Facts;
  width: number;
  predictions: readonly PredictionProps[] | null;
}

/** @param predictions the readings after each part; null for an encoder */
export function LayerParts({ parts, facts, width, predictions }: LayerPartsProps) {
  const last = facts.numbers.open?.next;
  return (
    <>
      {parts.map((part, i) => {
        const common = { width, prediction: predictions?.[i] ?? null };
        const { name, norm } = part;
        return [
          // With post-norm, attention reads the stream itself.
          !(norm.isPost && name === "attention") && (
            <Norm
              key={`norm of ${name}`}
              {...{ part: name, norm, title: normTitles[name], width }}
            />
          ),
          part.name === "feed-forward" ? (
            <Fragment key={part.name}>
              <Units {...{ part, width }} />
              <AddOfUnits {...{ ...common, part }} />
            </Fragment>
          ) : (
            <Attention key={part.name} {...{ ...common, facts, part }} />
          ),
        ];
      })}
      {last && <Norm part="next" norm={last} width={width} />}
    </>
  );
}
