/** The weights between frames, above the frames and the output. */

import {
  at,
  type Cell,
  format,
  formatShort,
  formatWeight,
  leftOf,
  px,
  transposed,
  viewOn,
} from "heed/view/parts";
import { useMemo } from "preact/hooks";
import { HeatMap, usePicture } from "../../../picture/Matrix";
import { usePointerWords } from "../../../shared/useMedia";
import { useWidth } from "../../../shared/useWidth";
import { Reading, usePointed } from "../Reading";
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

/** Labels at whole seconds. */
function secondsLabels(frames: number): string[] {
  return Array.from({ length: frames }, (_, frame) =>
    Number.isInteger(secondsOf(frame)) ? `${secondsOf(frame)} s` : "",
  );
}

/** Pitches over time. High pitches are above low ones, and each frame is below its column of the map. */
function Strip({
  name,
  title,
  data,
  frames,
  row,
  cellWidth,
  left,
  seek,
}: {
  name: string;
  title: string;
  data: Float32Array | undefined;
  frames: number;
  row: number;
  cellWidth: number;
  left: number;
  seek(frame: number): void;
}) {
  const view = useMemo(
    () =>
      data
        ? { ...transposed(viewOn(data, frames, bands)), offset: bands - 1, rowStride: -1 }
        : null,
    [data, frames],
  );
  const palette = useSharesPalette(1, "linear");
  const { PointAt } = usePointerWords();
  const { cell: active, byKeyboard, point } = usePointed();
  const picture = usePicture({
    view,
    rows: bands,
    cols: frames,
    palette,
    cell: { width: cellWidth, height: stripHeight },
    labels: pitchLabels,
    selected: { col: row },
    active,
  });
  const times = useMemo(() => Array.from({ length: frames }, (_, i) => timeOf(i)), [frames]);
  const actions = useMemo(() => ({ point, press: ({ col }: Cell) => seek(col) }), [point, seek]);
  return (
    <div style={{ paddingLeft: px(left - leftOf(pitchLabels)) }}>
      <HeatMap
        name={name}
        title={title}
        note=""
        picture={picture}
        actions={actions}
        hint="Enter goes to that frame."
        saved={{ file: `melody-${name}`, caption: title, rows: pitchNames, cols: times }}
      />
      <Reading
        words={
          active && view
            ? `${timeOf(active.col)}, ${pitchNames[active.row]}: ${formatShort(at(view, active.row, active.col))} of 1`
            : null
        }
        idle={`${PointAt} a cell for its loudness.`}
        byKeyboard={byKeyboard}
      />
    </div>
  );
}

/** The formula of a weight between two frames. Their cosine is computed back from the weight and the row's sum. */
function weightWords(
  { weights, frames, logSums, temperature }: Melody,
  { row, col }: Cell,
): string {
  const weight = weights[row * frames + col] as number;
  const logSum = logSums[row] as number;
  const cosine = (Math.log(weight) + logSum) * temperature;
  const formula =
    weight > 0 ? `e^(cosine ${format(cosine, 2)} ÷ ${temperature} − ${format(logSum, 2)}) = ` : "";
  return `${timeOf(row)} attends to ${timeOf(col)}: ${formula}${formatWeight(weight)}; ${format(logSum, 2)} is the logarithm of the row’s sum`;
}

export function FrameMaps({
  melody,
  state,
  seek,
}: {
  /** Null before the first answer; the space of the maps is reserved until then. */
  melody: Melody | null;
  state: State;
  seek(frame: number): void;
}) {
  const frames = melody?.frames ?? usualFrames;
  const { curve } = state;
  const { isTouch } = usePointerWords();
  const row = Math.min(state.frame, frames - 1);
  const { cell: active, byKeyboard, point } = usePointed();
  const [ref, width] = useWidth<HTMLDivElement>();
  const labels = useMemo(() => {
    const seconds = secondsLabels(frames);
    return {
      rows: seconds,
      cols: seconds,
      rowAxis: "frames attend",
      colAxis: "frames are attended to",
    };
  }, [frames]);
  const room = Math.min(width || 480, 640) - leftOf(labels);
  const cell = Math.max(1, Math.floor((room / frames) * 4) / 4);
  const weights = melody?.weights;
  const [view, largest] = useMemo(
    () =>
      weights
        ? [viewOn(weights, frames, frames), weights.reduce((a, b) => Math.max(a, b), 0)]
        : [null, 1],
    [weights, frames],
  );
  const palette = useSharesPalette(largest, curve);
  const times = useMemo(() => Array.from({ length: frames }, (_, i) => timeOf(i)), [frames]);
  const picture = usePicture({
    view,
    rows: frames,
    cols: frames,
    palette,
    cell: { width: cell, height: cell },
    labels,
    selected: { row },
    highlights: active ? [{ row: active.row }, { col: active.col }] : [],
    active,
  });
  const actions = useMemo(
    () => ({
      point,
      press: ({ row }: Cell) => seek(row),
      selectRow: seek,
    }),
    [seek, point],
  );
  const place = { frames, row, cellWidth: cell, left: leftOf(labels), seek };
  return (
    <div ref={ref} class="maps">
      <HeatMap
        name="attention"
        title="Weights of frames on frames"
        picture={picture}
        actions={actions}
        hint="Enter goes to that row."
        saved={{
          file: "melody",
          caption: "Frames of a melody attend to one another",
          rows: times,
          cols: times,
        }}
      />
      <Reading
        words={active && melody ? weightWords(melody, active) : null}
        idle={`${isTouch ? "Tap a cell" : "Point at a cell for its weight; click it"} to go to its row.`}
        byKeyboard={byKeyboard}
      />
      <Strip
        name="loudness"
        title="V: how loud each half tone is"
        data={melody?.loudness}
        {...place}
      />
      <Strip
        name="output"
        title="softmax(Q Kᵀ) V: the mean of what each frame attends to"
        data={melody?.output}
        {...place}
      />
    </div>
  );
}
