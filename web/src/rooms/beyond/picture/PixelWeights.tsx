/** Shows the weights of the selected pixel over its window, next to the pixels of the window. */
import { useMemo } from "preact/hooks";
import { format, formatWeight, type Palette, type Picture, viewOn } from "#parts";
import { CurveChoice } from "../../../picture/ColourChoice";
import { HeatMap, type HeatMapProps, usePicture } from "../../../picture/Matrix";
import { Announced } from "../../../shared/Announced";
import { Choice } from "../../../shared/Fields";
import { softmaxOf } from "../../../shared/format";
import { type PointedCell, Reading, usePointed } from "../../../shared/Reading";
import { fieldsOf } from "../../../shared/settings";
import { usePointerWords } from "../../../shared/useMedia";
import { useWidth } from "../../../shared/useWidth";
import { useAnswer } from "../../../worker/engineClient";
import { NamedNumbers, StrongestTable } from "../NamedNumbers";
import { useSharesPalette } from "../shares";
import { type PanelProps, type Pixel, settings } from "../state";
import { methods } from "./methods";
import type { NoisyRequest } from "./noise";
import type { PixelAnswer } from "./pixel";

const rowsShown = 8;
/** The maximum side of a map, in pixels of the page. */
const mapSide = 272;

const greys: Palette = {
  ends: ["0", "1"],
  place: (value) => value,
  legend: (t) => [255 * t, 255 * t, 255 * t],
};

/** A place of the window, by its distance from the pixel in the middle. */
function placeWords(place: number, side: number): string {
  const middle = (side - 1) / 2;
  const [down, right] = [Math.floor(place / side) - middle, (place % side) - middle];
  if (down === 0 && right === 0) return "itself";
  const steps = (count: number, before: string, after: string) =>
    `${Math.abs(count)} ${count < 0 ? before : after}`;
  return `${steps(down, "up", "down")}, ${steps(right, "left", "right")}`;
}

/** The formula of a pixel's weight, and its contribution to the mean. */
function weightWords({ row, col }: Pixel, { side, weights, values, largest }: PixelAnswer): string {
  const place = row * side + col;
  const [weight, value] = [weights[place] as number, values[place] as number];
  const made = Number.isNaN(weight)
    ? "outside of the picture"
    : `${softmaxOf(weight, largest)} = ${formatWeight(weight)}; × value ${format(value)} = ${formatWeight(weight * value)} of the mean`;
  return `${placeWords(place, side)}: ${made}`;
}

function Strongest({ answer }: { answer: PixelAnswer | null }) {
  const { side = 1, values, weights } = answer ?? {};
  const title = "The largest weights";
  return (
    <details class="row-details">
      <summary>{title}</summary>
      <StrongestTable
        columns={["from the pixel", <span class="role-v">value</span>, "weight", "weight × value"]}
        {...{ title, weights, count: rowsShown }}
        cells={(place, weight) => {
          const value = values?.[place] as number;
          return (
            <>
              <th scope="row">{placeWords(place, side)}</th>
              <td>{format(value)}</td>
              <td data-column="weight">{formatWeight(weight)}</td>
              <td>{formatWeight(weight * value)}</td>
            </>
          );
        }}
        foot={(rest) => (
          <>
            <th scope="row" colSpan={2}>
              All others
            </th>
            <td>{answer && formatWeight(rest)}</td>
            <td />
          </>
        )}
      />
    </details>
  );
}

interface WindowProps extends PanelProps {
  answer: PixelAnswer | null;
  pointed: PointedCell;
}

/** One map over the window: of the weights, or of the pixels. */
function WindowMap({
  view,
  palette,
  answer,
  state: { window },
  set,
  pointed: { cell: active, point },
  ...named
}: WindowProps &
  Pick<HeatMapProps, "name" | "symbol" | "title" | "note"> &
  Pick<Picture, "view" | "palette">) {
  const { name, title } = named;
  const [ref, width] = useWidth<HTMLDivElement>();
  const side = answer?.side ?? 2 * window + 1;
  const middle = (side - 1) / 2;
  const cell = Math.max(1, Math.floor(Math.min(width || mapSide, mapSide) / side));
  const picture = usePicture({
    ...{ view, rows: side, cols: side, palette, active },
    cell: { width: cell, height: cell },
    highlights: [{ row: middle, col: middle }],
  });
  const moved = (from: number, to: number, window: number) => Math.max(0, from + to - window);
  const press = ({ row, col }: Pixel) =>
    set(({ pixel, window }) => ({
      pixel: { row: moved(pixel.row, row, window), col: moved(pixel.col, col, window) },
    }));
  const steps = Array.from({ length: side }, (_, i) => String(i - middle));
  return (
    <div ref={ref}>
      <HeatMap
        {...{ ...named, picture, actions: { point, press } }}
        hint="Enter goes to that pixel."
        saved={{ file: `pixel-${name}`, caption: title, rows: steps, cols: steps }}
      />
    </div>
  );
}

function WindowMaps(props: WindowProps) {
  const { answer, state, pointed } = props;
  const { pixel, curve } = state;
  const { isTouch } = usePointerWords();
  const palette = useSharesPalette(answer?.largest ?? 1, curve);
  const [weights, pixels] = useMemo(() => {
    if (!answer) return [null, null];
    const { side, weights, values } = answer;
    const isOutside = (row: number, col: number) => Number.isNaN(weights[row * side + col]);
    const hides = weights.some(Number.isNaN) ? isOutside : undefined;
    return [weights, values].map((data) => ({ ...viewOn(data, side, side), hides }));
  }, [answer]);
  return (
    <div class="window-map">
      <div class="windows">
        <WindowMap
          {...{ ...props, palette, name: "window", symbol: "Weights" }}
          title="Weights over the window"
          view={weights}
          note={`query: row ${pixel.row + 1}, column ${pixel.col + 1}`}
        />
        <WindowMap
          {...{ ...props, palette: greys, name: "values", symbol: "Values" }}
          title="Pixels of the window"
          view={pixels}
          note="the pixels, with noise"
        />
      </div>
      <Reading
        pointed={pointed}
        words={(cell) => answer && weightWords(cell, answer)}
        idle={
          isTouch
            ? "Tap a cell to go there."
            : "Point at a cell for its weight; click it to go there."
        }
      />
      <Announced>
        {answer &&
          `Row ${pixel.row + 1}, column ${pixel.col + 1}: with noise ${format(answer.noisy)}, mean ${format(answer.mean)}`}
      </Announced>
    </div>
  );
}

export function PixelWeights({ state, set, request }: PanelProps & { request: NoisyRequest }) {
  const { pixel, method, curve } = state;
  const field = fieldsOf(settings, { state, set });
  const asked = useMemo(() => ({ ...request, pixel, method }), [request, pixel, method]);
  const { answer, failure } = useAnswer("pixel", asked);
  const pointed = usePointed();
  return (
    <div class="beside column">
      <WindowMaps {...{ state, set, answer, pointed }} />
      <div class="stack column">
        <Choice label="Weights of" choices={methods} {...field("method")} />
        <CurveChoice curve={curve} onChange={set} />
        <NamedNumbers
          figures={[
            ["with noise", answer?.noisy],
            ["Σ weight × value", answer?.mean],
            ["original", answer?.clean],
            ["weight on itself", answer && formatWeight(answer.own)],
            ["as good as the mean of", answer && `${answer.count.toFixed(1)} pixels`],
          ]}
        />
        {failure && <p role="status">{failure}</p>}
        <Strongest answer={answer} />
      </div>
    </div>
  );
}
