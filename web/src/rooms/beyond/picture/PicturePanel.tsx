/** Denoising as attention: each pixel becomes a weighted mean of pixels. */

import { format, formatShort, formatWeight, softmaxOf, viewOn } from "heed/view/parts";
import { useCallback, useMemo } from "preact/hooks";
import { CurveChoice } from "../../../picture/ColourChoice";
import { HeatMap, usePicture } from "../../../picture/Matrix";
import { Announced } from "../../../shared/Announced";
import { Choice, NumberField, Slider } from "../../../shared/Fields";
import { Panel } from "../../../shared/Panel";
import { RowTable, type TableColumn } from "../../../shared/RowTable";
import { SettingsPanel } from "../../../shared/SettingsPanel";
import { useFootnote } from "../../../shared/shell";
import { Term } from "../../../shared/Term";
import { usePointerWords } from "../../../shared/useMedia";
import { useWidth } from "../../../shared/useWidth";
import { useAnswer } from "../../../worker/engineClient";
import { FileField } from "../FileField";
import { LogSlider } from "../LogSlider";
import { NamedNumbers } from "../NamedNumbers";
import type { PanelProps } from "../panel";
import { Reading, usePointed } from "../Reading";
import { As, Roles } from "../Roles";
import { StrongestRows } from "../StrongestRows";
import { largestWeights, useSharesPalette } from "../shares";
import { allowed, type Method, type Pixel, type State } from "../state";
import { Work } from "../Work";
import type { Version } from "./denoise";
import type { GreyPicture } from "./drawing";
import { GreyCanvas } from "./GreyCanvas";
import type { NoisyRequest } from "./noise";
import { readPicture } from "./ownPicture";
import type { PixelAnswer } from "./pixel";

const methods: readonly (readonly [Method, string])[] = [
  ["local", "local mean"],
  ["bilateral", "bilateral"],
  ["nonLocal", "non-local means"],
];

const names: readonly (readonly [Version, string])[] = [
  ["clean", "original"],
  ["noisy", "with noise"],
  ...methods,
];

/** The features that each method compares. */
const keysOf: Partial<Record<Version, string>> = {
  local: "key: nothing",
  bilateral: "key: value and place",
  nonLocal: "key: the patch around",
};

const words: Record<Method, string> = {
  local: "All scores are equal: noise and edges go.",
  bilateral:
    "The score falls with the distance in value ÷ tone and in place ÷ half of the window’s radius: edges stay, but a pixel’s own noise decides what it resembles.",
  nonLocal: "The score falls with the difference of whole patches.",
};

function requestOf(state: State, own: GreyPicture | null): NoisyRequest {
  const { noise, grain, patch, window, h, tone } = state;
  return { own, noise, grain, patch, window, h, tone };
}

function Controls({ state, set, own, onOwn }: PanelProps & OwnPicture) {
  return (
    <SettingsPanel>
      <Slider
        label="Noise"
        value={state.noise}
        limits={allowed.noise}
        step={0.01}
        text={state.noise.toFixed(2)}
        onChange={(noise) => set({ noise })}
      />
      <Slider
        label="Patch"
        value={state.patch}
        limits={allowed.patch}
        step={1}
        text={`${2 * state.patch + 1} × ${2 * state.patch + 1}`}
        onChange={(patch) => set({ patch })}
      />
      <Slider
        label="Window"
        value={state.window}
        limits={allowed.window}
        step={1}
        text={`${2 * state.window + 1} × ${2 * state.window + 1}`}
        onChange={(window) => set({ window })}
      />
      <Slider
        label="h (non-local means)"
        value={state.h}
        limits={allowed.h}
        step={0.01}
        text={state.h.toFixed(2)}
        onChange={(h) => set({ h })}
      />
      <LogSlider
        label="Tone (bilateral)"
        value={state.tone}
        limits={allowed.tone}
        onChange={(tone) => set({ tone })}
      />
      <NumberField
        label="Seed"
        value={state.grain}
        limits={allowed.seed}
        onChange={(grain) => set({ grain })}
      />
      <FileField
        label="Your own picture"
        accept="image/*"
        expected="a picture, such as PNG, JPEG or WebP"
        note="Stays in this page. Grey, at most 256 × 256."
        describe={({ width, height }) => `shown in grey, ${width} × ${height} pixels.`}
        own={own}
        backLabel="Back to our drawing"
        read={readPicture}
        onRead={onOwn}
      />
    </SettingsPanel>
  );
}

interface OwnPicture {
  own: GreyPicture | null;
  onOwn(picture: GreyPicture | null): void;
}

/** The formula of a pixel's weight, and its contribution to the mean. */
function weightWords(weight: number, { row, col }: Pixel, answer: PixelAnswer): string {
  const value = answer.values[row * answer.side + col] as number;
  return `${softmaxOf(weight, answer.largest)} = ${formatWeight(weight)}; × value ${format(value)} = ${formatWeight(weight * value)} of the mean`;
}

/** The offsets of the rows and columns of the window from the selected pixel. */
const stepsOf = (side: number) =>
  Array.from({ length: side }, (_, i) => formatShort(i - (side - 1) / 2));

/** The pixels of the window with the largest weights. */
function Strongest({ answer }: { answer: PixelAnswer | null }) {
  const strongest = answer
    ? largestWeights(answer.weights, rowsShown).filter(([, weight]) => weight > 0)
    : [];
  const rest = answer ? 1 - strongest.reduce((sum, [, weight]) => sum + weight, 0) : 0;
  return (
    <details class="row-details">
      <summary>The largest weights</summary>
      <RowTable title="The largest weights" columns={columns}>
        <StrongestRows count={rowsShown} strongest={strongest}>
          {(place, weight) => {
            const { side, values } = answer as PixelAnswer;
            const middle = (side - 1) / 2;
            const value = values[place] as number;
            return (
              <>
                <th scope="row">
                  {awayOf(Math.floor(place / side) - middle, (place % side) - middle)}
                </th>
                <td>{format(value)}</td>
                <td data-column="weight">{formatWeight(weight)}</td>
                <td>{formatWeight(weight * value)}</td>
              </>
            );
          }}
        </StrongestRows>
        <tfoot>
          <tr>
            <th scope="row" colSpan={2}>
              All others
            </th>
            <td>{answer && formatWeight(Math.max(0, rest))}</td>
            <td />
          </tr>
        </tfoot>
      </RowTable>
    </details>
  );
}

const columns: readonly TableColumn[] = [
  { id: "place", head: "from the pixel" },
  { id: "value", head: <span class="role-v">value</span> },
  { id: "weight", head: "weight" },
  { id: "part", head: "weight × value" },
];
const rowsShown = 8;

function awayOf(down: number, right: number): string {
  if (down === 0 && right === 0) return "itself";
  const steps = (count: number, before: string, after: string) =>
    `${Math.abs(count)} ${count < 0 ? before : after}`;
  return `${steps(down, "up", "down")}, ${steps(right, "left", "right")}`;
}

/** The weights of the selected pixel over its window. */
function PixelWeights({ state, set, request }: PanelProps & { request: NoisyRequest }) {
  const { pixel, method, curve } = state;
  const asked = useMemo(() => ({ ...request, pixel, method }), [request, pixel, method]);
  const { answer, failure } = useAnswer("pixel", asked);
  const { cell: active, byKeyboard, point } = usePointed();
  const [ref, width] = useWidth<HTMLDivElement>();
  const { isTouch } = usePointerWords();

  const side = answer?.side ?? 2 * state.window + 1;
  const view = useMemo(() => answer && viewOn(answer.weights, side, side), [answer]);
  const palette = useSharesPalette(answer?.largest ?? 1, curve);
  const isHidden = useMemo(() => {
    const weights = answer?.weights;
    if (!weights?.some(Number.isNaN)) return undefined;
    return (row: number, col: number) => Number.isNaN(weights[row * side + col]);
  }, [answer]);
  const middle = (side - 1) / 2;
  const cell = Math.max(1, Math.floor(Math.min(width || 320, 360) / side));
  const picture = usePicture({
    view,
    rows: side,
    cols: side,
    palette,
    cell: { width: cell, height: cell },
    isHidden,
    highlights: [{ row: middle, col: middle }],
    active,
  });
  const actions = useMemo(
    () => ({
      point,
      press: (at: Pixel) =>
        set((now) => ({
          pixel: {
            row: Math.max(0, now.pixel.row + at.row - now.window),
            col: Math.max(0, now.pixel.col + at.col - now.window),
          },
        })),
    }),
    [set],
  );
  const weight = active && answer?.weights[active.row * side + active.col];
  const reading =
    active && answer && weight !== undefined && weight !== null
      ? `${awayOf(active.row - middle, active.col - middle)}: ${
          Number.isNaN(weight) ? "outside of the picture" : weightWords(weight, active, answer)
        }`
      : null;
  return (
    <div class="beside">
      <div ref={ref} class="window-map">
        <HeatMap
          name="window"
          title="Weights over the window"
          note={`query: row ${pixel.row + 1}, column ${pixel.col + 1}`}
          picture={picture}
          actions={actions}
          hint="Enter goes to that pixel."
          saved={{
            file: "pixel-weights",
            caption: "Weights of one pixel over its window",
            rows: stepsOf(side),
            cols: stepsOf(side),
          }}
        />
        <Reading
          words={reading}
          idle={
            isTouch
              ? "Tap a cell to go there."
              : "Point at a cell for its weight; click it to go there."
          }
          byKeyboard={byKeyboard}
        />
        <Announced>
          {answer &&
            `Row ${pixel.row + 1}, column ${pixel.col + 1}: with noise ${format(answer.noisy)}, mean ${format(answer.mean)}`}
        </Announced>
      </div>
      <div class="stack">
        <Choice
          label="Weights of"
          value={method}
          choices={methods}
          onChange={(method) => set({ method })}
        />
        <CurveChoice curve={curve} onChange={set} />
        <p>{words[method]}</p>
        <NamedNumbers
          figures={[
            ["with noise", answer ? format(answer.noisy) : ""],
            ["Σ weight × value", answer ? format(answer.mean) : ""],
            ["original", answer ? format(answer.clean) : ""],
            ["weight on itself", answer ? formatWeight(answer.own) : ""],
            ["as good as the mean of", answer ? `${answer.count.toFixed(1)} pixels` : ""],
          ]}
        />
        {failure && <p role="status">{failure}</p>}
        <Strongest answer={answer} />
      </div>
    </div>
  );
}

export function PicturePanel({ state, set, own, onOwn }: PanelProps & OwnPicture) {
  const { noise, grain, patch, window, h, tone } = state;
  const request = useMemo(() => requestOf(state, own), [own, noise, grain, patch, window, h, tone]);
  const { answer, request: answered, failure } = useAnswer("denoise", request);
  const { Click } = usePointerWords();
  useFootnote(answer && `all means computed in ${answer.milliseconds.toFixed(1)} ms`);
  const width = answer?.width ?? own?.width ?? 128;
  const height = answer?.height ?? own?.height ?? 128;
  const { row, col } = state.pixel;
  const pixel = { row: Math.min(row, height - 1), col: Math.min(col, width - 1) };
  const onPick = useCallback((pixel: Pixel) => set({ pixel }), [set]);
  return (
    <>
      <Controls state={state} set={set} own={own} onOwn={onOwn} />
      <Work
        title="Attention among pixels"
        isStale={answer !== null && answered !== null && answered.own !== own}
      >
        <Roles>
          A pixel becomes a weighted mean of its window’s <As of="v">values</As>: the more alike{" "}
          <As of="q">query</As> and <As of="k">key</As>, the larger the weight.
        </Roles>
        <Panel name="picture">
          <div class="greys">
            {names.map(([name, label]) => (
              <GreyCanvas
                key={name}
                name={name}
                label={label}
                grey={answer?.pictures[name] ?? null}
                width={width}
                height={height}
                pixel={pixel}
                window={window}
                patch={patch}
                hasCursor={name === "noisy"}
                onPick={onPick}
              >
                {label}
                <span class="number" data-psnr={name}>
                  {answer && name !== "clean"
                    ? `PSNR ${format(answer.psnr[name], 2)} dB`
                    : "\u00a0"}
                </span>
                <span class="faint">{keysOf[name]}</span>
              </GreyCanvas>
            ))}
          </div>
          {failure && <p role="status">{failure}</p>}
          <p class="faint">
            {Click} a pixel: squares mark its window and patch. <Term name="PSNR" />: higher is
            better.
          </p>
        </Panel>
        <Panel name="weights">
          <PixelWeights state={{ ...state, pixel }} set={set} request={request} />
        </Panel>
      </Work>
    </>
  );
}
