/** The way of information from a character of the date to one of the answer, through the states of a model. */
import { useRef } from "preact/hooks";
import { px } from "#parts";
import { SaveDrawing } from "../../picture/SaveDrawing";
import { counted } from "../../shared/format";
import { type Journey, lengthOf, type Station, stationsOf } from "./journey";
import type { ModelName } from "./problem";
import { shortTitles, titles } from "./workspace";

/** The space above the dots: a curve reaches three quarters of the height of its control points. */
const arc = 40;
const controls = 44;
const labelHeight = 28;
const levelHeight = 18;
/** The minimum width of a slot that fits a word, such as "end". */
const widestWord = 24;
/** The number of slots between encoder and decoder, with the vector in the middle. */
const gap = 3;

export interface PathProps {
  readonly name: ModelName;
  readonly layers: number;
  readonly journey: Journey;
  readonly tokens: readonly [readonly string[], readonly string[]];
  readonly width: number;
}

/** The positions of the states and the lines between them. */
function layoutOf({ name, layers, journey, width }: PathProps) {
  const { source, target, from, to } = journey;
  const slot = width / (source + gap + target);
  const isRecurrent = name !== "transformer";
  const topOf = { encoder: isRecurrent ? 1 : layers, vector: 0, decoder: isRecurrent ? 0 : layers };
  const lane = arc + topOf.encoder * levelHeight;
  const starts = { encoder: 0.5, vector: source + gap / 2, decoder: source + gap + 0.5 };
  const x = ({ part, place }: Pick<Station, "part" | "place">) => (starts[part] + place) * slot;
  const y = ({ level }: Pick<Station, "level">) => lane - level * levelHeight;
  const at = (station: Station) => `${x(station)} ${y(station)}`;
  const state = (part: Station["part"], place: number, level = 0) => ({ part, place, level });
  const hop = (a: Station, b: Station) => {
    if (Math.abs(x(a) - x(b)) < slot * (gap + 1)) return `M${at(a)}L${at(b)}`;
    const high = Math.min(y(a), y(b)) - controls;
    return `M${at(a)}C${x(a)} ${high} ${x(b)} ${high} ${at(b)}`;
  };
  /** A line through a layer in the direction in which it reads, with an arrow at its end. */
  const reading = (first: Station, last: Station) => {
    const side = Math.sign(x(last) - x(first)) || 1;
    const end = x(last) + side * Math.min(slot, 10);
    const [back, high] = [end - side * 4, y(last)];
    return `M${at(first)}H${end}M${back} ${high - 3}L${end} ${high}L${back} ${high + 3}`;
  };
  const last = source - 1;
  const box = state("vector", 0);
  const others = isRecurrent
    ? [
        reading(state("encoder", 0), state("encoder", last)),
        reading(state("encoder", last, 1), state("encoder", 0, 1)),
        reading(state("decoder", 0), state("decoder", target - 1)),
      ]
    : // In each layer the selected character receives information from every character of the date.
      Array.from({ length: layers * source }, (_, i) => {
        const level = i % layers;
        const place = Math.floor(i / layers);
        return `M${at(state("encoder", place, level))}L${at(state("encoder", from, level + 1))}`;
      });
  if (name === "rnn")
    others.push(
      ...[state("encoder", last), state("encoder", 0, 1)].map((end) => hop(end, box)),
      hop(box, state("decoder", 0)),
    );
  const path = stationsOf(name, journey, topOf.encoder);
  const taken = path.slice(1).map((station, i) => hop(path[i] as Station, station));
  if (name !== "rnn") {
    taken.push(`M${x(state("encoder", from))} ${lane}V${y({ level: topOf.encoder })}`);
    taken.push(`M${x(state("decoder", to))} ${lane}V${y({ level: topOf.decoder })}`);
  }
  return { slot, lane, topOf, x, y, others, taken, path };
}

type Layout = ReturnType<typeof layoutOf>;

function States({ name, journey, layout }: PathProps & { layout: Layout }) {
  const { slot, x, y, topOf, path } = layout;
  const isOn = (part: Station["part"], place: number, level: number) =>
    path.some(
      (on) => on.part === part && on.place === place && (name !== "rnn" || on.level === level),
    );
  const parts = [
    ["encoder", journey.source],
    ["decoder", journey.target],
  ] as const;
  return parts.map(([part, count]) =>
    Array.from({ length: count * (topOf[part] + 1) }, (_, i) => {
      const [place, level] = [i % count, Math.floor(i / count)];
      return (
        <circle
          key={`${part} ${i}`}
          class={isOn(part, place, level) ? "path-on" : "path-off"}
          cx={x({ part, place })}
          cy={y({ level })}
          r={Math.min(3.5, slot / 3)}
        />
      );
    }),
  );
}

/** The characters below their states. A word that would overlap its neighbours is omitted. */
function Characters({ tokens, journey, layout }: PathProps & { layout: Layout }) {
  const { slot, lane, x } = layout;
  const chosen = { encoder: journey.from, decoder: journey.to };
  return (
    <g class="path-labels" font-size={Math.max(8, Math.min(13, slot))}>
      {(["encoder", "decoder"] as const).map((part, i) =>
        tokens[i]?.map(
          (token, place) =>
            (token.length === 1 || slot >= widestWord) && (
              <text
                key={`${part} ${place}`}
                class={chosen[part] === place ? "strong" : undefined}
                x={x({ part, place })}
                y={lane + labelHeight - 6}
                text-anchor="middle"
              >
                {token}
              </text>
            ),
        ),
      )}
    </g>
  );
}

function Drawing(props: PathProps) {
  const { name, journey, width } = props;
  const layout = layoutOf(props);
  const { lane, x } = layout;
  const length = lengthOf(name, journey);
  return (
    <svg
      viewBox={`0 0 ${width} ${lane + labelHeight}`}
      width={width}
      height={lane + labelHeight}
      role="img"
      aria-label={`${titles[name]}: ${counted(length, "step")} from character ${journey.from + 1} of the date to character ${journey.to + 1} of the answer`}
    >
      <path class="path-others" d={layout.others.join("")} />
      <path class="path-taken" d={layout.taken.join("")} />
      {name === "rnn" && (
        <rect
          class="path-vector"
          x={x({ part: "vector", place: 0 }) - 5}
          y={lane - 14}
          width={10}
          height={28}
          rx={2}
        />
      )}
      <States {...props} layout={layout} />
      <Characters {...props} layout={layout} />
    </svg>
  );
}

function wordsOf({ name, journey }: PathProps): string {
  if (name !== "rnn") return "by attention";
  const inEncoder = stationsOf(name, journey).filter(({ part }) => part === "encoder");
  const direction = inEncoder[0]?.level === 0 ? "onward →" : "backward ←";
  return `encoder ${inEncoder.length - 1} ${direction}, vector 1, decoder ${journey.to + 1}`;
}

/** The path with its length and its menu. Its space is reserved. */
export function Path(props: PathProps) {
  const { name, journey, width } = props;
  const part = useRef<HTMLDivElement>(null);
  return (
    <div class="path" data-model={name}>
      <h3>
        {shortTitles[name]}: <span class="number">{counted(lengthOf(name, journey), "step")}</span>{" "}
        <span class="faint">{wordsOf(props)}</span>
      </h3>
      <div ref={part} style={{ minHeight: px(arc + labelHeight + levelHeight) }}>
        {width > 0 && <Drawing {...props} />}
      </div>
      <SaveDrawing part={part} title={`The way through: ${titles[name]}`} file={`path-${name}`} />
    </div>
  );
}
