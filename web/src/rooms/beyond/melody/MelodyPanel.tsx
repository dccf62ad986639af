/** A melody whose frames attend to one another: repeats become stripes. */
import { useCallback, useMemo, useState } from "preact/hooks";
import { Choice, NumberField, Slider } from "../../../components/Fields";
import { HeatMap } from "../../../components/HeatMap";
import { Panel } from "../../../components/Panel";
import { type Column, RowTable } from "../../../components/RowTable";
import { Settings } from "../../../components/Settings";
import { Transport } from "../../../components/Transport";
import { leftOf, px } from "../../../layout";
import { useFootnote } from "../../../shell";
import { useAnswer } from "../../../useAnswer";
import { usePicture } from "../../../usePicture";
import { useReducedMotion } from "../../../useReducedMotion";
import { useWidth } from "../../../useWidth";
import { transposed, viewOn } from "../../../view";
import { FileField } from "../FileField";
import type { PanelProps } from "../panel";
import { As, Roles } from "../Roles";
import { curves, formatWeight, sharesPalette } from "../shares";
import { type Pixel as Cell, placeOf, ranges, type State, type TuneName, valueAt } from "../state";
import { Work } from "../Work";
import { readSound } from "./ownSound";
import { usePlayer } from "./player";
import type { Melody } from "./solve";
import { bands, type Sound, secondsOf } from "./sound";

const tunes: readonly (readonly [TuneName, string])[] = [
  ["round", "Frère Jacques"],
  ["seed", "by chance"],
];
const columns: readonly Column[] = [
  { id: "frame", head: "frame" },
  { id: "time", head: "at" },
  { id: "weight", head: "weight" },
];
const rowsShown = 10;
const octave = 12;
/** The lowest band is the A below middle C. */
const pitchLabels = {
  rows: Array.from({ length: bands }, (_, row) => {
    const band = bands - 1 - row;
    return band % octave === 0 ? `A${3 + band / octave}` : "";
  }),
};
const stripHeight = 2;

const timeOf = (frame: number) => `${secondsOf(frame).toFixed(1)} s`;

interface OwnSound {
  own: Sound | null;
  onOwn(sound: Sound | null): void;
}

/** Seconds along the sides, one at each whole second that is shown. */
function secondsLabels(frames: number): string[] {
  return Array.from({ length: frames }, (_, frame) =>
    Number.isInteger(secondsOf(frame)) ? `${secondsOf(frame)} s` : "",
  );
}

/** Sounds over time, high above low, each frame below the column that it has in the map. */
function Strip({
  name,
  title,
  data,
  frames,
  row,
  cellWidth,
  left,
}: {
  name: string;
  title: string;
  data: Float32Array;
  frames: number;
  row: number;
  cellWidth: number;
  left: number;
}) {
  const view = useMemo(
    () => ({ ...transposed(viewOn(data, frames, bands)), offset: bands - 1, rowStride: -1 }),
    [data, frames],
  );
  const palette = useMemo(() => sharesPalette(1, "linear"), []);
  const picture = usePicture({
    view,
    rows: bands,
    cols: frames,
    palette,
    cell: { width: cellWidth, height: stripHeight },
    labels: pitchLabels,
    selected: { col: row },
  });
  return (
    <div style={{ paddingLeft: px(left - leftOf(pitchLabels)) }}>
      <HeatMap name={name} title={title} note="" picture={picture} />
    </div>
  );
}

function Maps({
  melody,
  state,
  seek,
}: {
  melody: Melody;
  state: State;
  seek(frame: number): void;
}) {
  const { frames, loudness, output, weights } = melody;
  const { curve } = state;
  const row = Math.min(state.frame, frames - 1);
  const [active, setActive] = useState<Cell | null>(null);
  const [ref, width] = useWidth<HTMLDivElement>();
  const labels = useMemo(() => {
    const seconds = secondsLabels(frames);
    return {
      rows: seconds,
      cols: seconds,
      rowAxis: "frames look",
      colAxis: "frames are looked at",
    };
  }, [frames]);
  const room = Math.min(width || 480, 640) - leftOf(labels);
  const cell = Math.max(1, Math.floor((room / frames) * 4) / 4);
  const [view, largest] = useMemo(
    () => [viewOn(weights, frames, frames), weights.reduce((a, b) => Math.max(a, b), 0)] as const,
    [weights, frames],
  );
  const palette = useMemo(() => sharesPalette(largest, curve), [largest, curve]);
  const picture = usePicture({
    view,
    rows: frames,
    cols: frames,
    palette,
    cell: { width: cell, height: cell },
    labels,
    selected: { row },
    active,
  });
  const actions = useMemo(
    () => ({
      point: (at: Cell | null) => setActive(at),
      press: ({ row }: Cell) => seek(row),
      selectRow: seek,
    }),
    [seek],
  );
  const place = { frames, row, cellWidth: cell, left: leftOf(labels) };
  return (
    <div ref={ref} class="maps">
      <HeatMap
        name="attention"
        title="Weights of frames on frames"
        picture={picture}
        actions={actions}
        hint="Enter goes to that row."
        saved={{ file: "melody", caption: "Frames of a melody attend to one another" }}
      />
      <p class="faint number reading" aria-live="polite">
        {active
          ? `${timeOf(active.row)} looks at ${timeOf(active.col)}: weight ${formatWeight(
              weights[active.row * frames + active.col] as number,
            )}`
          : "Point at a cell for its weight; a click goes to its row."}
      </p>
      <Strip name="loudness" title="V: how loud each half tone is" data={loudness} {...place} />
      <Strip
        name="output"
        title="softmax(Q Kᵀ) V: the same, as the frames that are looked at have it"
        data={output}
        {...place}
      />
    </div>
  );
}

export function MelodyPanel({ state, set, own, onOwn }: PanelProps & OwnSound) {
  const { tune, tuneSeed: seed, temperature } = state;
  const asked = useMemo(() => (own ? null : { tune, seed }), [own, tune, seed]);
  const composed = useAnswer("tune", asked);
  const sound = own ?? composed.answer;
  const request = useMemo(() => sound && { sound, temperature }, [sound, temperature]);
  const { answer, failure } = useAnswer("melody", request);
  const melody = answer?.id === sound?.id ? answer : null;
  useFootnote(melody && `${melody.frames} frames compared in ${melody.milliseconds.toFixed(1)} ms`);
  const reduced = useReducedMotion();
  const frames = melody?.frames ?? 1;
  const frame = Math.min(state.frame, frames - 1);
  const go = useCallback((frame: number) => set({ frame }), [set]);
  const live = usePlayer({ sound, frames, frame, follows: !reduced, go });
  const weights = melody?.weights.subarray(frame * frames, (frame + 1) * frames);
  const strongest = weights
    ? [...weights.entries()].sort(([, a], [, b]) => b - a).slice(0, rowsShown)
    : [];
  return (
    <>
      <Settings>
        {!own && (
          <Choice
            label="Melody"
            value={tune}
            choices={tunes}
            onChange={(tune) => set({ tune, frame: 0 })}
          />
        )}
        {!own && tune === "seed" && (
          <NumberField
            label="Seed of the melody"
            value={seed}
            limits={ranges.seed}
            onChange={(tuneSeed) => set({ tuneSeed })}
          />
        )}
        <Slider
          label="Softmax temperature"
          value={placeOf(temperature)}
          limits={{ min: placeOf(ranges.temperature.min), max: placeOf(ranges.temperature.max) }}
          step={1}
          text={String(temperature)}
          onChange={(place) => set({ temperature: valueAt(place) })}
        />
        <Choice
          label="Colours"
          value={state.curve}
          choices={curves}
          onChange={(curve) => set({ curve })}
        />
        <FileField
          label="A sound of yours"
          accept="audio/*"
          note="Read in this page only, its first 20 seconds. It is not part of the link."
          isOwn={own !== null}
          backLabel="Back to our melodies"
          read={readSound}
          onRead={onOwn}
        />
      </Settings>
      <Work title="Attention in a melody">
        <Roles>
          <As of="q">Queries</As> and <As of="k">keys</As> are frames of a fifth of a second: how
          loud each half tone is, as a direction, so that a score is the cosine of two frames
          divided by the temperature. <As of="v">Values</As> are the same loudnesses. Nothing is
          learned: a frame finds the frames that sound like it.
        </Roles>
        <Panel name="picture">
          <Transport
            count={frames}
            index={frame}
            go={go}
            label="Melody"
            unit="Frame"
            title={timeOf(frame)}
            live={live}
          />
          <div class="beside">
            {melody ? (
              <Maps melody={melody} state={state} seek={live.seek} />
            ) : (
              <div class="maps plot-empty" />
            )}
            <RowTable title={`What ${timeOf(frame)} looks at most`} columns={columns}>
              <tbody>
                {strongest.map(([j, weight]) => (
                  <tr key={j}>
                    <th scope="row">{j + 1}</th>
                    <td>{timeOf(j)}</td>
                    <td data-column="weight">{formatWeight(weight)}</td>
                  </tr>
                ))}
              </tbody>
            </RowTable>
          </div>
          {(failure ?? composed.failure) && <p role="status">{failure ?? composed.failure}</p>}
        </Panel>
      </Work>
    </>
  );
}
