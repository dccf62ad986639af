/** Frames that attend to one another, above what they are and what comes out. */
import { useMemo } from "preact/hooks";
import { HeatMap } from "../../../components/HeatMap";
import { leftOf, px } from "../../../layout";
import { usePicture } from "../../../usePicture";
import { useWidth } from "../../../useWidth";
import { transposed, viewOn } from "../../../view";
import { Reading, usePointed } from "../Reading";
import { formatWeight, useSharesPalette } from "../shares";
import type { Pixel as Cell, State } from "../state";
import type { Melody } from "./solve";
import { bands, secondsOf, timeOf } from "./sound";

/** Of the round, which the panel opens on. */
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
  data: Float32Array | undefined;
  frames: number;
  row: number;
  cellWidth: number;
  left: number;
}) {
  const view = useMemo(
    () =>
      data
        ? { ...transposed(viewOn(data, frames, bands)), offset: bands - 1, rowStride: -1 }
        : null,
    [data, frames],
  );
  const palette = useSharesPalette(1, "linear");
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

export function Maps({
  melody,
  state,
  seek,
}: {
  /** Null until there is one: the maps then keep their places. */
  melody: Melody | null;
  state: State;
  seek(frame: number): void;
}) {
  const frames = melody?.frames ?? usualFrames;
  const { curve } = state;
  const row = Math.min(state.frame, frames - 1);
  const { cell: active, byKeyboard, point } = usePointed();
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
  const weights = melody?.weights;
  const [view, largest] = useMemo(
    () =>
      weights
        ? [viewOn(weights, frames, frames), weights.reduce((a, b) => Math.max(a, b), 0)]
        : [null, 1],
    [weights, frames],
  );
  const palette = useSharesPalette(largest, curve);
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
      point,
      press: ({ row }: Cell) => seek(row),
      selectRow: seek,
    }),
    [seek, point],
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
      <Reading
        words={
          active && weights
            ? `${timeOf(active.row)} looks at ${timeOf(active.col)}: weight ${formatWeight(
                weights[active.row * frames + active.col] as number,
              )}`
            : null
        }
        idle="Point at a cell for its weight; a click goes to its row."
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
        title="softmax(Q Kᵀ) V: the same, as the frames that are looked at have it"
        data={melody?.output}
        {...place}
      />
    </div>
  );
}
