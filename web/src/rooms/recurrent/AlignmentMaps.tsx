/** The maps of all models below one another. Their columns are aligned, one for each character of the date. */
import { useMemo } from "preact/hooks";
import { type Area, type CellSize, format, leftOf, px, signedPalette, viewOn } from "#parts";
import { HeatMap, usePicture } from "../../picture/Matrix";
import { useWeightPalette } from "../../picture/useWeightPalette";
import { Announced } from "../../shared/Announced";
import { usePointed } from "../../shared/Reading";
import { Readout } from "../../shared/Readout";
import { useShell } from "../../shared/shell";
import { Term } from "../../shared/Term";
import { useWidth } from "../../shared/useWidth";
import { ChosenRow } from "./ChosenRow";
import {
  attentionShown,
  explainAlignment,
  headWords,
  massOf,
  predictedBy,
  rightPlacesOf,
  viewOfHead,
} from "./maps";
import type { ModelName } from "./problem";
import type { ModelAnswers } from "./solve";
import { choosing, lastStep, rowShown, visible } from "./state";
import { shortTitles, shownModels, titles, usePointing, useRecurrentWorkspace } from "./workspace";

const rowAxis = "says, and attends";
const colAxis = "the date is attended to";
/** The width of a column is limited, so only the longest dates scroll, on a narrow page. */
const cellWidths = { min: 6, max: 96 };
/** Cells are too low for numbers, because most of the numbers would be zeros. */
const cellHeight = 14;
/** On a page narrower than this the note is below the name, and the heading of the sums extends over the map. */
const narrowest = 560;
const sizes = { wide: { mass: 116, name: 28 }, narrow: { mass: 40, name: 48 } };
type Size = keyof typeof sizes;
const emptyRows = Array.from({ length: lastStep + 1 }, (_, i) => (i === lastStep ? "end" : ""));
const left = () => leftOf({ rows: ["end"], rowAxis });

function cellOf(width: number, size: Size, columns: number): CellSize {
  const room = width - left() - sizes[size].mass;
  const wide = Math.floor((room / Math.max(1, columns)) * 4) / 4;
  return { width: Math.max(cellWidths.min, Math.min(cellWidths.max, wide)), height: cellHeight };
}

/** The sum of each row's weights on the right places. */
function Masses({ masses, top }: { masses: readonly (number | null)[]; top: number }) {
  return (
    <div class="masses number" style={{ paddingTop: px(top - 18) }}>
      <p class="faint">
        <Term name="answer positions" />
      </p>
      <ol aria-label="For each row, the weight on the answer positions">
        {masses.map((mass, row) => (
          <li key={row} class="mass" style={{ height: px(cellHeight) }}>
            {mass === null ? "–" : mass.toFixed(2)}
          </li>
        ))}
      </ol>
    </div>
  );
}

interface MapProps {
  readonly name: ModelName;
  readonly found: ModelAnswers | null;
  readonly cell: CellSize;
}

/** The picture of a model's attention, with the characters of its rows and columns, and the sum of each row. */
function useMap({ name, found, cell }: MapProps) {
  const { state, solution, source } = useRecurrentWorkspace();
  const { cell: pointed } = usePointing();
  const { way, head, step } = state;
  const attention = found && attentionShown(found, state);
  const rows = attention?.rows ?? emptyRows.length;
  const view = useMemo(() => {
    if (!attention) return null;
    const whole = viewOfHead(attention, head);
    // The colours stay the same while later rows are hidden.
    return { ...whole, whole, hides: step >= rows - 1 ? undefined : (row: number) => row > step };
  }, [attention, head, step, rows]);
  const labels = useMemo(
    () => ({
      rows: found ? predictedBy(found, way) : emptyRows,
      cols: source.map(visible),
      ...{ rowAxis, colAxis },
    }),
    [found, way, source],
  );
  const palette = useWeightPalette(state);
  const { row, col } = pointed ?? {};
  const highlights: Area[] = [
    ...(row === undefined || row >= rows ? [] : [{ row }]),
    ...(col === undefined ? [] : [{ col }]),
  ];
  const picture = usePicture({
    ...{ view, rows, cols: source.length, palette, cell, labels, highlights },
    selected: { row: rowShown(state), col: state.col },
    active: pointed?.model === name && row !== undefined && col !== undefined ? { row, col } : null,
  });
  const alignment = solution?.alignment;
  const masses =
    view && found && alignment
      ? rightPlacesOf(found, way, alignment).map((places, row) =>
          row > step ? null : massOf(view, row, places),
        )
      : [];
  return { picture, labels, masses };
}

function AlignmentMap({ size, ...props }: MapProps & { size: Size }) {
  const { name } = props;
  const { state, source, set } = useRecurrentWorkspace();
  const { point } = usePointing();
  const { picture, labels, masses } = useMap(props);
  const title = titles[name];
  const note =
    name === "transformer" ? `layer ${state.layer + 1}, ${headWords(state.head)}` : "one map";
  return (
    <div class="map">
      <HeatMap
        name={name}
        title={title}
        symbol={<b>{shortTitles[name]}</b>}
        note={name === "transformer" ? note : ""}
        picture={picture}
        hint="Enter chooses a row and a column."
        saved={{
          file: `dates-${name}`,
          caption: `${title}, ${note}: “${source.join("")}”`,
          rows: labels.rows,
          cols: labels.cols,
        }}
        actions={{
          point: (cell, by) => point(cell && { ...cell, model: name }, by),
          press: ({ row, col }) => set((now) => ({ ...choosing(row)(now), col })),
          selectRow: (row) => set(choosing(row)),
        }}
      />
      {masses.length > 0 && (
        <Masses masses={masses} top={picture.geometry.top + sizes[size].name} />
      )}
    </div>
  );
}

/** The vector that the decoder starts with: it replaces the map of the model without attention. */
function VectorMap({ found, cell }: { found: ModelAnswers | null; cell: CellSize }) {
  const { source } = useRecurrentWorkspace();
  const { theme } = useShell();
  const { cell: active, byKeyboard, point } = usePointed();
  const vector = found?.vector ?? null;
  const size = vector?.length ?? 64;
  const view = useMemo(() => vector && viewOn(vector, 1, size), [vector, size]);
  const palette = useMemo(() => signedPalette(1, theme), [theme]);
  const width = (source.length * cell.width) / size;
  const picture = usePicture({
    ...{ view, rows: 1, cols: size, palette, cell: { width, height: 28 } },
    active,
  });
  const at = active?.col;
  const pointed =
    vector && at !== undefined
      ? `number ${at + 1} of ${size}: ${format(vector[at] as number)}`
      : null;
  return (
    <div class="map" style={{ paddingLeft: px(left()) }}>
      <div>
        <HeatMap
          name="rnn"
          title="The vector between encoder and decoder"
          symbol={<b>{shortTitles.rnn}</b>}
          note={pointed ?? `no map: ${source.length} characters kept in ${size} numbers`}
          picture={picture}
          hint=""
          saved={{ file: "dates-rnn-vector", caption: `The vector of “${source.join("")}”` }}
          actions={{ point, press: () => {} }}
        />
        <Announced>{byKeyboard && pointed}</Announced>
      </div>
    </div>
  );
}

/** The readout of the cell that the person points at, otherwise of the selected cell. */
function CellReadout() {
  const workspace = useRecurrentWorkspace();
  const { cell: pointed } = usePointing();
  const { state } = workspace;
  const chosen = { row: rowShown(state), col: state.col, model: state.between };
  return (
    <Readout
      explanation={
        (pointed && explainAlignment(workspace, pointed)) ?? explainAlignment(workspace, chosen)
      }
      locked={false}
    />
  );
}

export function AlignmentMaps() {
  const workspace = useRecurrentWorkspace();
  const [ref, width] = useWidth<HTMLDivElement>();
  const { source } = workspace;
  const size: Size = width < narrowest ? "narrow" : "wide";
  const cell = cellOf(width, size, source.length);
  return (
    <section class={`maps ${size}`} aria-labelledby="maps-title">
      <h2 id="maps-title" tabIndex={-1}>
        Attention maps
      </h2>
      <div ref={ref} class="scroll">
        {width > 0 &&
          shownModels(workspace).map(([name, found]) =>
            name === "rnn" ? (
              <VectorMap key={name} found={found} cell={cell} />
            ) : (
              <AlignmentMap key={name} {...{ name, found, cell, size }} />
            ),
          )}
      </div>
      <CellReadout />
      <ChosenRow />
    </section>
  );
}
