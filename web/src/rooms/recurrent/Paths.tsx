/** The path length of information in each model, drawn and counted for the two selected characters. */

import { px } from "heed/view/parts";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { SaveDrawing } from "../../picture/SaveDrawing";
import { Fold } from "../../shared/Fold";
import { TokenSelect } from "../../shared/RowTable";
import { hides } from "../../shared/restrictions";
import { useShell } from "../../shared/shell";
import { useWidth } from "../../shared/useWidth";
import { Counted } from "./Counted";
import { type Journey, lengthOf, type Station, stationsOf } from "./paths";
import type { ModelName } from "./problem";
import { choosing, lastStep, rowShown, visible } from "./state";
import { shortTitles, shownModels, titles, usePointing, useRecurrentWorkspace } from "./workspace";

/**
 * The space above the dots. The control points of the curves are 44 higher, and a curve reaches three quarters of that
 * height.
 */
const arc = 40;
const labelHeight = 28;
const levelHeight = 18;
/** The minimum width of a slot that fits a word, such as "end". */
const widestWord = 24;
/** The number of slots between encoder and decoder, with the vector in the middle. */
const gap = 3;

function PathPicture({
  name,
  layers,
  journey,
  tokens,
  width,
}: {
  name: ModelName;
  layers: number;
  journey: Journey;
  /** The numbers of characters of the date, and of the answer. */
  tokens: readonly [readonly string[], readonly string[]];
  width: number;
}) {
  const { source, target, from, to } = journey;
  const slot = width / (source + gap + target);
  const x = (station: Station) => {
    if (station.part === "vector") return (source + gap / 2) * slot;
    return (station.place + 0.5 + (station.part === "decoder" ? source + gap : 0)) * slot;
  };
  const isRecurrent = name !== "transformer";
  const levels = isRecurrent ? 1 : layers + 1;
  const lane = arc + (levels - 1) * levelHeight;
  const height = lane + labelHeight;
  const y = (level: number) => lane - level * levelHeight;
  const top = y(levels - 1);
  const path = stationsOf(name, journey);
  const on = (part: Station["part"], place: number) =>
    path.some((station) => station.part === part && "place" in station && station.place === place);
  const places = [
    ...Array.from({ length: source }, (_, place) => ({ part: "encoder" as const, place })),
    ...Array.from({ length: target }, (_, place) => ({ part: "decoder" as const, place })),
  ];
  const first = x({ part: "encoder", place: 0 });
  const last = x({ part: "encoder", place: source - 1 });
  const begin = x({ part: "decoder", place: 0 });
  const end = x({ part: "decoder", place: target - 1 });
  const box = x({ part: "vector" });
  /** In each layer the selected character receives information from every character of the date. */
  const fan = Array.from({ length: layers }, (_, level) =>
    Array.from(
      { length: source },
      (_, place) =>
        `M${x({ part: "encoder", place })} ${y(level)}L${x({ part: "encoder", place: from })} ${y(level + 1)}`,
    ).join(""),
  ).join("");
  const hop = (a: number, b: number) =>
    Math.abs(a - b) < slot * (gap + 1)
      ? `M${a} ${top}L${b} ${top}`
      : `M${a} ${top}C${a} ${top - 44} ${b} ${top - 44} ${b} ${top}`;
  return (
    <svg
      width={width}
      height={height}
      role="img"
      aria-label={`${titles[name]}: ${lengthOf(name, journey)} ${lengthOf(name, journey) === 1 ? "step" : "steps"} from character ${from + 1} of the date to character ${to + 1} of the answer`}
    >
      <g class="path-others">
        {isRecurrent && <path d={`M${first} ${lane}H${last}M${begin} ${lane}H${end}`} />}
        {name === "rnn" && <path d={`M${last} ${lane}H${begin}`} />}
        {!isRecurrent && <path d={fan} />}
      </g>
      <g class="path-taken">
        {!isRecurrent && (
          <path
            d={`M${x({ part: "encoder", place: from })} ${lane}V${top}M${x({ part: "decoder", place: to })} ${lane}V${top}`}
          />
        )}
        {path.slice(1).map((station, i) => (
          <path key={i} d={hop(x(path[i] as Station), x(station))} />
        ))}
      </g>
      {name === "rnn" && (
        <rect class="path-vector" x={box - 5} y={lane - 14} width={10} height={28} rx={2} />
      )}
      {places.map((station) =>
        Array.from({ length: levels }, (_, level) => (
          <circle
            key={`${station.part} ${station.place} ${level}`}
            class={on(station.part, station.place) ? "path-on" : "path-off"}
            cx={x(station)}
            cy={y(level)}
            r={Math.min(3.5, slot / 3)}
          />
        )),
      )}
      <g class="path-labels" font-size={Math.max(8, Math.min(13, slot))}>
        {places.map((station) => {
          const { part, place } = station;
          const token = tokens[part === "encoder" ? 0 : 1][place] ?? "";
          // Omits a word that would overlap its neighbours.
          if (token.length > 1 && slot < widestWord) return null;
          const isEnd = part === "encoder" ? place === from : place === to;
          return (
            <text
              key={`${part} ${place}`}
              class={isEnd ? "strong" : undefined}
              x={x(station)}
              y={height - 6}
              text-anchor="middle"
            >
              {token}
            </text>
          );
        })}
      </g>
    </svg>
  );
}

/** Describes the steps of a path. */
function wordsOf(name: ModelName, journey: Journey): string {
  if (name !== "rnn") return "by attention";
  const along = stationsOf(name, journey).filter(({ part }) => part === "encoder").length - 1;
  return `encoder ${along}, vector 1, decoder ${journey.to + 1}`;
}

/** Reserves the space of the picture, and saves it. */
function Drawn({ name, children }: { name: ModelName; children: ComponentChildren }) {
  const part = useRef<HTMLDivElement>(null);
  return (
    <>
      <div ref={part} style={{ minHeight: px(arc + labelHeight) }}>
        {children}
      </div>
      <SaveDrawing part={part} title={`The way through: ${titles[name]}`} file={`path-${name}`} />
    </>
  );
}

export function Paths() {
  const workspace = useRecurrentWorkspace();
  const { restrictions } = useShell();
  const [ref, width] = useWidth<HTMLDivElement>();
  const { source, state, solution, set } = workspace;
  const { pointed } = usePointing();
  const target =
    solution?.target ??
    solution?.models
      .at(-1)
      ?.answer.steps.map(({ top }) => top[0]?.token ?? "")
      .slice(0, -1) ??
    [];
  const written = [...Array.from({ length: lastStep }, (_, i) => target[i] ?? ""), "end"];
  const journey: Journey = {
    source: source.length,
    target: written.length,
    from: Math.min(pointed?.col ?? state.col, source.length - 1),
    to: Math.min(pointed?.row ?? rowShown(state), written.length - 1),
  };
  const tokens = [source.map(visible), written] as const;
  const models = shownModels(workspace).map(([name, found]) => ({
    name,
    layers: found?.layers ?? (name === "transformer" ? 2 : 1),
  }));
  return (
    <section class="paths" aria-labelledby="paths-title">
      <h2 id="paths-title">Path length</h2>
      <p class="path-choice">
        Date{" "}
        <TokenSelect
          label="Character of the date"
          tokens={tokens[0]}
          index={journey.from}
          onSelect={(col) => set({ col })}
        />{" "}
        to answer{" "}
        <TokenSelect
          label="Character of the answer"
          tokens={written}
          index={journey.to}
          onSelect={(row) => set(choosing(row))}
        />
      </p>
      <div ref={ref}>
        {models.map(({ name, layers }) => (
          <div key={name} class="path" data-model={name}>
            <h3>
              {shortTitles[name]}: <span class="number">{lengthOf(name, journey)}</span>{" "}
              {lengthOf(name, journey) === 1 ? "step" : "steps"}{" "}
              <span class="faint">{wordsOf(name, journey)}</span>
            </h3>
            <Drawn name={name}>
              {width > 0 && <PathPicture {...{ name, layers, journey, tokens, width }} />}
            </Drawn>
          </div>
        ))}
      </div>
      {!hides(restrictions, "text") && (
        <p class="words paths-words">Long paths forget, and carry little gradient.</p>
      )}
      <Fold title="Sequential steps">
        <Counted {...{ models, journey, tokens, width }} />
      </Fold>
    </section>
  );
}
