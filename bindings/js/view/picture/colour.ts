/** The colours of attention weights and of signed numbers. */
import { formatShort, formatWeight } from "./format.js";
import { largestOf, type MatrixView, rangeOf } from "./view.js";

type Rgb = readonly [number, number, number];

/** Dark ink on a light page, or light ink on a dark one. */
export type Theme = "light" | "dark";

export const colourRanges = ["absolute", "head", "row"] as const;
export const colourCurves = ["linear", "sqrt", "log"] as const;
/** The value with the strongest colour: a weight of 1, or the largest one of the head or of the row. */
export type ColourRange = (typeof colourRanges)[number];
/** The curve from weight to colour over that range; "log" begins at 0.001. */
export type ColourCurve = (typeof colourCurves)[number];

const samples = (colours: string) =>
  colours.split(" ").map((colour) => {
    const bits = Number.parseInt(colour, 16);
    return [bits >> 16, (bits >> 8) & 255, bits & 255] as Rgb;
  });

/**
 * The colours of shares. In both themes a larger share has more contrast with the page, the scale
 * is perceptually uniform, and it works with every kind of colour vision. The dark theme uses ten
 * samples of cividis (Nuñez, Anderton and Renslow, 2018). The light theme goes from white to the
 * blue of cividis, because the yellow of cividis would look like the white page.
 */
const shares: Record<Theme, readonly Rgb[]> = {
  light: samples("ffffff e0e8f4 c1d2e8 a0bbdb 7fa4cd 608cbe 4373ac 2a5996 143e78 00224e"),
  dark: samples("00224e 123570 3b496c 575d6d 707173 8a8678 a59c74 c3b369 e1cc55 fee838"),
};

/** Negative numbers are orange, positive ones blue; zero has the colour of the page. */
const negative: Rgb = [245, 147, 34];
const positive: Rgb = [8, 119, 189];
const zero: Record<Theme, Rgb> = { light: [255, 255, 255], dark: [27, 28, 31] };

function mix(a: Rgb, b: Rgb, t: number): Rgb {
  return [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t];
}

/** The colour of a share of attention, `t` from 0 to 1. NaN has the colour of 0. */
export function weightColour(t: number, theme: Theme): Rgb {
  const colours = shares[theme];
  const place = Math.max(0, Math.min(1, t || 0)) * (colours.length - 1);
  const below = Math.min(Math.floor(place), colours.length - 2);
  return mix(colours[below] as Rgb, colours[below + 1] as Rgb, place - below);
}

/** Legends by theme. All palettes share these functions, because palettes are compared by them. */
const legendsOf = (
  colour: (t: number, theme: Theme) => Rgb,
): Readonly<Record<Theme, Palette["legend"]>> => ({
  light: (t) => colour(t, "light"),
  dark: (t) => colour(t, "dark"),
});

export const weightLegends = legendsOf(weightColour);

/** The colour of a signed number, `t` from -1 to 1. */
export function signedColour(t: number, theme: Theme): Rgb {
  return mix(zero[theme], t < 0 ? negative : positive, Math.min(1, Math.abs(t)));
}

export function css([r, g, b]: Rgb): string {
  return `rgb(${Math.round(r)} ${Math.round(g)} ${Math.round(b)})`;
}

/** Black or white, whichever has more contrast: it is always at least 4.5 : 1. */
export function inkOn([r, g, b]: Rgb): string {
  const linear = (c: number) => (c <= 10 ? c / 3294 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  return luminance > 0.179 ? "#000" : "#fff";
}

/** How the values of one matrix become colours, and the labels at the ends of its legend. */
export interface Palette {
  readonly ends: readonly [string, string];
  /** Set if each row, or each matrix, has its own range, which ends with its largest value. */
  readonly within?: "row" | "matrix" | undefined;
  /** The name of the curve from number to colour if it is not linear. */
  readonly curve?: string | undefined;
  /** A value's position along the legend, from 0 to 1. `largest` is the end of the value's range; see `largestIn`. */
  place(value: number, largest: number): number;
  /** The colour at a position along the legend; palettes with the same colours share this function. */
  legend(t: number): Rgb;
}

export function colourOf(palette: Palette, value: number, largest: number): Rgb {
  return palette.legend(palette.place(value, largest));
}

/** The number of colours in a table. It is odd, so that the middle one is the colour of zero. */
const tableSize = 1025;

const tables = new WeakMap<Palette["legend"], Uint32Array>();

/** The colours along a legend as pixels. */
function tableOf(legend: Palette["legend"]): Uint32Array {
  const known = tables.get(legend);
  if (known) return known;
  const bytes = new Uint8ClampedArray(4 * tableSize);
  for (let i = 0; i < tableSize; ++i) bytes.set([...legend(i / (tableSize - 1)), 255], 4 * i);
  const table = new Uint32Array(bytes.buffer);
  tables.set(legend, table);
  return table;
}

/** The pixel of a value, for pictures of many cells. */
export function pixelsOf(palette: Palette): (value: number, largest: number) => number {
  const table = tableOf(palette.legend);
  return (value, largest) => {
    const place = palette.place(value, largest);
    const inside = place > 0 ? (place < 1 ? place : 1) : 0;
    return table[Math.round(inside * (tableSize - 1))] as number;
  };
}

const signedLegends = legendsOf((t, theme) => signedColour(2 * t - 1, theme));

/** A palette from `-size` to `size`. */
export function signedPalette(size: number, theme: Theme): Palette {
  const end = size > 0 ? size : 1;
  return {
    ends: [formatShort(-end), formatShort(end)],
    place: (value) => (value / end + 1) / 2,
    legend: signedLegends[theme],
  };
}

const positiveLegends = legendsOf(signedColour);

/** A palette from 0 to `size`, for numbers that are never negative. */
export function positivePalette(size: number, theme: Theme): Palette {
  const end = size > 0 ? size : 1;
  return {
    ends: ["0", formatShort(end)],
    place: (value) => value / end,
    legend: positiveLegends[theme],
  };
}

/** The logarithmic curve starts at this share; smaller ones get the lowest colour. */
const smallestOfLog = 0.001;

const curves: Record<ColourCurve, (share: number) => number> = {
  linear: (share) => share,
  sqrt: Math.sqrt,
  log: (share) => (share <= smallestOfLog ? 0 : 1 - Math.log(share) / Math.log(smallestOfLog)),
};

/** A weight's position from 0 to 1 for a range and a curve, used for colours and for lines; see `largestIn`. */
export function weightShare(
  range: ColourRange,
  curve: ColourCurve,
): (weight: number, largest: number) => number {
  const bend = curves[curve];
  return (weight, largest) => bend(range !== "absolute" && largest > 0 ? weight / largest : weight);
}

const within = { absolute: undefined, head: "matrix", row: "row" } as const;
const ends = { absolute: "1", head: "largest of its head", row: "largest of its row" };
const curveNames = { linear: undefined, sqrt: "√", log: "logarithmic" };

export function weightPalette(range: ColourRange, curve: ColourCurve, theme: Theme): Palette {
  const low = curve === "log" ? smallestOfLog : 0;
  return {
    ends: [`${low}`, ends[range]],
    within: within[range],
    curve: curveNames[curve],
    place: weightShare(range, curve),
    legend: weightLegends[theme],
  };
}

/** Returns a function that computes the end of a row's range. */
export function largestIn(range: Palette["within"], view: MatrixView): (row: number) => number {
  const { whole = view } = view;
  if (range !== "matrix") return (row) => largestOf(whole, row);
  const largest = rangeOf(whole)?.[1] ?? 0;
  return () => largest;
}

/** The labels at the ends of the legend of a matrix. */
export function endsIn({ ends, within }: Palette, view: MatrixView): readonly [string, string] {
  if (within === undefined || view.rows === 0) return ends;
  const largestOfRow = largestIn(within, view);
  const largest = Array.from({ length: view.rows }, (_, row) => largestOfRow(row));
  const [least, most] = [Math.min(...largest), Math.max(...largest)].map(formatWeight);
  if (within === "matrix") return [ends[0], `${most}`];
  return [ends[0], `${ends[1]}, ${least === most ? most : `${least} to ${most}`}`];
}
