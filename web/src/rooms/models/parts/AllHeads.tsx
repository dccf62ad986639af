/** Every head of every layer as a small picture with one measure below it, ordered by layer or by that measure. */

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import {
  aboutGrid,
  type Contents,
  drawnContents,
  finished,
  type GridFile,
  gridSvg,
  hidingPooled,
  inkOf,
  type MeasureWords,
  viewOn,
} from "#parts";
import { HeadGrid, type HeadsRow } from "../../../picture/HeadGrid";
import { Legend } from "../../../picture/Legend";
import { SaveMenu } from "../../../picture/SaveMenu";
import { useWeightPalette } from "../../../picture/useWeightPalette";
import { attendsWords, attentionNames, isLater } from "../../../shared/attended";
import {
  type HeadKey,
  type HeadPlace,
  headKey,
  headName,
  headPlaceOf,
  type MeasuredHead,
} from "../../../shared/layerHeads";
import type { Look } from "../../../shared/lookSettings";
import { Prose } from "../../../shared/Panel";
import { useWidth } from "../../../shared/useWidth";

/** The side of a small picture, and the space around it, in pixels. */
const sides = { least: 28, most: 68 };
const around = 10;
/** From this width on two layers are side by side, with a gap between them. */
const wide = { least: 800, gap: 32 };

/** The lines for the heads of a layer: as few as possible, all filled alike, with the largest possible pictures. */
function gridIn(width: number, heads: number): { side: number; lines: number; perLine: number } {
  const room = width < wide.least ? width : (width - wide.gap) / 2;
  const lines = Math.ceil((heads * (sides.least + around)) / room);
  const perLine = Math.ceil(heads / lines);
  const largest = Math.floor(room / perLine) - around;
  return { side: Math.max(sides.least, Math.min(sides.most, largest)), lines, perLine };
}

interface AllHeadsProps<Name extends string> {
  /** Must be memoised. */
  readonly heads: readonly MeasuredHead<Name>[];
  readonly look: Look<Name>;
  readonly measures: Readonly<Record<Name, MeasureWords>>;
  /** Writes the number below a head. */
  readonly format: (value: number) => string;
  readonly ablated: readonly HeadKey[];
  /** The heads with a causal mask, and their number of tokens. */
  readonly causal: { readonly size: number; has(key: HeadKey): boolean };
  readonly selected: HeadKey;
  select(key: HeadKey): void;
  /** Whether one frame draws all heads; false by default. */
  readonly isWhole?: boolean;
  readonly saved: {
    /** The name of the model, and its text. */
    readonly title: string;
    readonly text: string;
    /** The ablated heads in words; null for none. */
    readonly without: string | null;
    readonly file: string;
    /** Formats with numbers. */
    readonly numbers?: Contents;
  };
}

/** A row of heads, and its name in a saved picture. */
interface NamedRow extends HeadsRow {
  readonly short: string;
}

/** One row for each layer, one kind of attention after another. */
function rowsByLayer(places: readonly HeadPlace[]): NamedRow[] {
  const indices = [...places.keys()];
  return [...new Set(places.map(({ name }) => name))].flatMap((name) => {
    const own = indices.filter((i) => places[i]?.name === name);
    const words = name && attentionNames[name];
    return [...new Set(own.map((i) => places[i]?.layer as number))].map((layer, i) => ({
      heads: own.filter((i) => places[i]?.layer === layer),
      title: `Layer ${layer + 1}`,
      short: `${words ? `${words.prefix} ` : ""}${layer + 1}`,
      ...(name && i === 0 && { group: [attentionNames[name].title, attendsWords[name]] as const }),
    }));
  });
}

/** Rows as long as the longest layer, from the largest score. */
function rowsByScore(scores: readonly number[], perRow: number): NamedRow[] {
  const sorted = [...scores.keys()].sort((a, b) => (scores[b] as number) - (scores[a] as number));
  return Array.from({ length: Math.ceil(sorted.length / perRow) }, (_, row) => ({
    heads: sorted.slice(row * perRow, (row + 1) * perRow),
    ...{ title: "", short: "" },
  }));
}

/** The label of a head in a sorted list: "2.3", after the letters of its attention if the model has several. */
function sortedLabel({ name, ...place }: HeadPlace): string {
  return `${name ? `${attentionNames[name].letters} ` : ""}${headKey(place)}`;
}

type Heads = readonly Pick<MeasuredHead<string>, "key">[];

/** The places of the heads; they name the kind of attention only if the model has several. */
function placesOf(heads: Heads): HeadPlace[] {
  const places = heads.map(({ key }) => headPlaceOf(key) as HeadPlace);
  if (new Set(places.map(({ name }) => name)).size > 1) return places;
  return places.map(({ layer, head }) => ({ layer, head }));
}

/** The meaning of these letters, if heads have them; otherwise "". */
function lettersOf(heads: Heads): string {
  const names = new Set(placesOf(heads).flatMap(({ name }) => name ?? []));
  return [...names]
    .map((name) => `${attentionNames[name].letters}: ${attentionNames[name].prefix}`)
    .join(", ");
}

interface BelowWordsProps extends Pick<Look<string>, "order"> {
  readonly heads: Heads;
  readonly children: ComponentChildren;
}

/** Describes the number below each head. A sorted list needs these words even if explanations are hidden. */
export function BelowWords({ order, heads, children }: BelowWordsProps) {
  const letters = lettersOf(heads);
  const words = "faint measured small";
  if (order === "layer") return <Prose class={words}>{children}</Prose>;
  return (
    <p class={words}>
      {children}, the largest first{letters && `; ${letters}`}
    </p>
  );
}

function useGrid<Name extends string>(props: AllHeadsProps<Name>) {
  const { heads, look, measures, format, ablated, causal } = props;
  const { measure, order } = look;
  const palette = useWeightPalette(look);
  const places = useMemo(() => placesOf(heads), [heads]);
  const byLayer = useMemo(() => rowsByLayer(places), [places]);
  const perRow = Math.max(...byLayer.map(({ heads }) => heads.length));
  const rows = useMemo(() => {
    const scores = () => heads.map(({ measures }) => measures[measure] ?? Number.NEGATIVE_INFINITY);
    return order === "layer" ? byLayer : rowsByScore(scores(), perRow);
  }, [heads, byLayer, order, measure]);
  const cells = heads.find(({ key }) => causal.has(key))?.small.rows ?? 0;
  const hides = useMemo(() => {
    const square = (side: number) => ({ rows: side, cols: side });
    return finished(hidingPooled(isLater, square(causal.size), square(cells), true));
  }, [causal.size, cells]);
  const items = useMemo(
    () =>
      heads.map(({ key, small, measures: own }, i) => {
        const place = places[i] as HeadPlace;
        const isAblated = ablated.includes(key);
        const value = own[measure];
        return {
          ...{ id: key, small, isAblated, palette, about: measures[measure].name },
          hides: causal.has(key) ? hides : undefined,
          name: `${headName(headKey(place))}${isAblated ? ", ablated" : ""}`,
          label: order === "layer" ? `${place.head + 1}` : sortedLabel(place),
          value: value === null ? "–" : format(value),
        };
      }),
    [heads, order, measure, ablated, palette, hides],
  );
  return { rows, items, perRow, palette };
}

export function AllHeads<Name extends string>(props: AllHeadsProps<Name>) {
  const { heads, look, measures, causal, isWhole, selected, select, saved } = props;
  const [ref, width] = useWidth<HTMLDivElement>();
  const { rows, items, perRow, palette } = useGrid(props);
  const { side, lines, perLine } = gridIn(width, perRow);
  const svg = () => {
    const isByLayer = look.order === "layer";
    const about = aboutGrid(isByLayer, measures[look.measure].name);
    const letters = isByLayer ? "" : lettersOf(heads);
    const file: GridFile = {
      caption: `All heads, ${saved.title}${saved.without ? `, ${saved.without}` : ""}: ${saved.text}`,
      about: letters ? `${about} ${letters}.` : about,
      rows: rows.map(({ short, heads }) => ({
        title: short,
        items: heads.map((i) => {
          const { label, value, small, hides } = items[i] as (typeof items)[number];
          const view = viewOn(small.data, small.rows, small.cols);
          return { label, value, view: { ...view, hides } };
        }),
      })),
      ...{ palette, point: "." },
    };
    return gridSvg(file, inkOf(document.body));
  };
  return (
    <>
      <div ref={ref} style={{ "--per-line": perLine }}>
        {width > 0 && (
          <HeadGrid heads={items} {...{ rows, side, lines, isWhole, selected, select }} />
        )}
      </div>
      <Legend palette={palette} hasHidden={heads.some(({ key }) => causal.has(key))}>
        <SaveMenu
          what="all heads"
          {...{ title: saved.title, file: saved.file }}
          contents={{ ...drawnContents(svg), ...saved.numbers }}
        />
      </Legend>
    </>
  );
}
