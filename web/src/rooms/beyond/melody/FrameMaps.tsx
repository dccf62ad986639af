/** The weights between frames, above the frames and the output. */
import { useMemo } from "preact/hooks";
import {
  at,
  type Cell,
  format,
  formatShort,
  formatWeight,
  leftOf,
  type MatrixView,
  px,
  transposed,
  viewOn,
} from "#parts";
import { HeatMap, usePicture } from "../../../picture/Matrix";
import { Reading, usePointed } from "../../../shared/Reading";
import { usePointerWords } from "../../../shared/useMedia";
import { useWidth } from "../../../shared/useWidth";
import { useSharesPalette } from "../shares";
import type { State } from "../state";
import type { Melody } from "./solve";
import { bands, secondsOf, timeOf } from "./sound";

/** The number of frames of the initial tune, to reserve the space. */
export const usualFrames = 128;
const octave = 12;
/** The lowest band is the A below middle C. */
const pitchLabels = {
  rows: Array.from({ length: bands }, (_, row) => {
    const band = bands - 1 - row;
    return band % octave === 0 ? `A${3 + band / octave}` : "";
  }),
};
const stripHeight = 2;
const noteNames = ["A", "A♯", "B", "C", "C♯", "D", "D♯", "E", "F", "F♯", "G", "G♯"];
/** From high to low; the number is the octave, which starts at C. */
const pitchNames = Array.from({ length: bands }, (_, row) => {
  const band = bands - 1 - row;
  return `${noteNames[band % octave]}${3 + Math.floor((band + 9) / octave)}`;
});

/** What both strips and the map share. */
interface Frames {
  readonly frames: number;
  readonly row: number;
  readonly cellWidth: number;
  readonly times: readonly string[];
  seek(frame: number): void;
}

interface StripProps extends Frames {
  name: string;
  title: string;
  data: Float32Array | undefined;
  left: number;
}

/** Pitches over time. High pitches are above low ones, and each frame is below its column of the map. */
function Strip({ name, title, data, frames, row, cellWidth, times, left, seek }: StripProps) {
  const view = useMemo(
    () =>
      data
        ? { ...transposed(viewOn(data, frames, bands)), offset: bands - 1, rowStride: -1 }
        : null,
    [data, frames],
  );
  const palette = useSharesPalette(1, "linear");
  const { PointAt } = usePointerWords();
  const pointed = usePointed();
  const { cell: active, point } = pointed;
  const picture = usePicture({
    ...{ view, rows: bands, cols: frames, palette, labels: pitchLabels, active },
    cell: { width: cellWidth, height: stripHeight },
    selected: { col: row },
  });
  const actions = { point, press: ({ col }: Cell) => seek(col) };
  const numberAt = (view: MatrixView, { row, col }: Cell) =>
    `${times[col]}, ${pitchNames[row]}: ${formatShort(at(view, row, col))} of 1`;
  return (
    <div style={{ paddingLeft: px(left - leftOf(pitchLabels)) }}>
      <HeatMap
        {...{ name, title, note: "", picture, actions }}
        hint="Enter goes to that frame."
        saved={{ file: `melody-${name}`, caption: title, rows: pitchNames, cols: times }}
      />
      <Reading
        pointed={pointed}
        words={(cell) => view && numberAt(view, cell)}
        idle={`${PointAt} a cell for its loudness.`}
      />
    </div>
  );
}

/** The formula of a weight between two frames. Their cosine is computed back from the weight and the row's sum. */
function weightWords({ weights, frames, logSums, temperature }: Melody, { row, col }: Cell) {
  const weight = weights[row * frames + col] as number;
  const logSum = logSums[row] as number;
  const cosine = (Math.log(weight) + logSum) * temperature;
  const formula =
    weight > 0 ? `e^(cosine ${format(cosine, 2)} ÷ ${temperature} − ${format(logSum, 2)}) = ` : "";
  return `${timeOf(row)} attends to ${timeOf(col)}: ${formula}${formatWeight(weight)}; ${format(logSum, 2)} is the logarithm of the row’s sum`;
}

/** Labels at whole seconds. */
function labelsOf(frames: number) {
  const seconds = Array.from({ length: frames }, (_, frame) =>
    Number.isInteger(secondsOf(frame)) ? `${secondsOf(frame)} s` : "",
  );
  return {
    ...{ rows: seconds, cols: seconds },
    ...{ rowAxis: "frames attend", colAxis: "frames are attended to" },
  };
}

interface MapProps extends Frames {
  melody: Melody | null;
  curve: State["curve"];
  labels: ReturnType<typeof labelsOf>;
}

function WeightsMap({ melody, curve, labels, frames, row, cellWidth, times, seek }: MapProps) {
  const { isTouch } = usePointerWords();
  const pointed = usePointed();
  const { cell: active, point } = pointed;
  const weights = melody?.weights;
  const view = useMemo(() => (weights ? viewOn(weights, frames, frames) : null), [weights, frames]);
  const largest = useMemo(() => weights?.reduce((a, b) => Math.max(a, b), 0) ?? 1, [weights]);
  const palette = useSharesPalette(largest, curve);
  const picture = usePicture({
    ...{ view, rows: frames, cols: frames, palette, labels, active },
    cell: { width: cellWidth, height: cellWidth },
    selected: { row },
    highlights: active ? [{ row: active.row }, { col: active.col }] : [],
  });
  const actions = { point, press: ({ row }: Cell) => seek(row), selectRow: seek };
  const caption = "Frames of a melody attend to one another";
  return (
    <>
      <HeatMap
        {...{ name: "attention", title: "Weights of frames on frames", picture, actions }}
        hint="Enter goes to that row."
        saved={{ file: "melody", caption, rows: times, cols: times }}
      />
      <Reading
        pointed={pointed}
        words={(cell) => melody && weightWords(melody, cell)}
        idle={`${isTouch ? "Tap a cell" : "Point at a cell for its weight; click it"} to go to its row.`}
      />
    </>
  );
}

interface FrameMapsProps {
  /** Null before the first answer; the space of the maps is reserved until then. */
  melody: Melody | null;
  state: State;
  seek(frame: number): void;
}

export function FrameMaps({ melody, state, seek }: FrameMapsProps) {
  const frames = melody?.frames ?? usualFrames;
  const [ref, width] = useWidth<HTMLDivElement>();
  const labels = useMemo(() => labelsOf(frames), [frames]);
  const times = useMemo(() => Array.from({ length: frames }, (_, i) => timeOf(i)), [frames]);
  const left = leftOf(labels);
  const room = Math.min(width || 480, 640) - left;
  const cellWidth = Math.max(1, Math.floor((room / frames) * 4) / 4);
  const all = { frames, row: Math.min(state.frame, frames - 1), cellWidth, times, seek };
  return (
    <div ref={ref} class="maps column">
      <WeightsMap {...all} melody={melody} curve={state.curve} labels={labels} />
      <Strip
        {...{ ...all, left, name: "loudness", data: melody?.loudness }}
        title="V: how loud each half tone is"
      />
      <Strip
        {...{ ...all, left, name: "output", data: melody?.output }}
        title="softmax(Q Kᵀ) V: the mean of what each frame attends to"
      />
    </div>
  );
}
