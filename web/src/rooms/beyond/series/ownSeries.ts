/** Reads a person's own series: numbers in common notations, with marks for missing values. */
import type { Alignment } from "heed/models";
import { FileError } from "../FileField";

export interface OwnSeries {
  /** 0 for a missing value. */
  readonly values: readonly number[];
  /** The gap that the model fills. */
  readonly isHidden: readonly boolean[];
  /** Whether the values of the gap are known. Then the output of the model can be compared with them. */
  readonly hasTruth: boolean;
  /** A description of the content, in words for the person. */
  readonly note: string;
}

/** A text that is not a series. The message tells the person the expected format. */
export class SeriesError extends FileError {}

export const fewestValues = 12;
/** The length that the model was trained with. */
export const mostValues = 48;
/** In float32 the squares of these numbers, and sums of them, are finite. */
const largest = 1e15;
/** The number of values to hide if none is missing. */
const hiddenByUs = 8;

const missing = /^(\?|-|–|na|n\/a|nan|null|none)?$/i;

interface Read {
  readonly cells: readonly (number | null)[];
  readonly from: string;
}

function cellOf(text: string, place: string): number | null {
  if (missing.test(text)) return null;
  const value = Number(text);
  if (!Number.isFinite(value)) throw new SeriesError(`${place}: “${text}” is not a number.`);
  if (Math.abs(value) > largest)
    throw new SeriesError(`${place}: “${text}” is too large. The largest number here is 10^15.`);
  return value;
}

const isCell = (text: string) => missing.test(text) || Number.isFinite(Number(text));

const decimal = /^[-+]?\d+,\d+$/;

/**
 * Whether commas in words between spaces and line ends are decimal points. A column like “1,20”, “2,30”, “3,25”, whose
 * first parts rise evenly, is more likely a table with a column of positions.
 */
function hasDecimalCommas(lines: readonly string[]): boolean {
  const words = lines.map((line) => line.trim().split(/\s+/));
  const isHeading = (line: readonly string[]) => !line.some((word) => word.includes(","));
  const [first = []] = words;
  const numbers = words.slice(first.every(isCell) || !isHeading(first) ? 0 : 1).flat();
  const written = numbers.filter((word) => decimal.test(word));
  if (written.length === 0 || !numbers.every((word) => decimal.test(word) || isCell(word)))
    return false;
  const starts = written.map((word) => Number.parseInt(word, 10));
  const [start = 0, next = 0] = starts;
  const rises = next !== start && starts.every((at, i) => at === start + i * (next - start));
  return !(rises && numbers.length === written.length && words.every(({ length }) => length === 1));
}

/**
 * Reads a sequence of numbers, or the last column of a table whose first row may be a heading. Tabs, semicolons or
 * commas separate columns. If commas do not separate columns, they are decimal points.
 */
function readNumbers(text: string): Read {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const marks = ["\t", ";", ","].filter((mark) => text.includes(mark));
  const isDecimal = marks[0] === "," && hasDecimalCommas(lines);
  const separator = isDecimal ? undefined : marks[0];
  const cellsOf = (line: string) =>
    (separator ? line.split(separator) : [line]).map((cell) =>
      (separator === "," ? cell : cell.replaceAll(",", ".")).trim(),
    );
  const commas = isDecimal ? ", with decimal commas" : "";
  const rows = lines.map(cellsOf);
  const [first = []] = rows;
  const isTable =
    rows.length >= fewestValues && rows.every(({ length }) => length === first.length);
  if (isTable) {
    const column = first.length - 1;
    const hasHeading = !isCell(first[column] as string);
    const cells = rows
      .map((row, i) => [row[column] as string, i + 1] as const)
      .slice(hasHeading ? 1 : 0)
      .map(([cell, line]) => cellOf(cell, `Line ${line}`));
    return { cells, from: column === 0 ? commas : `, from the last of ${column + 1} columns` };
  }
  // A separator at the end of a line does not mean that a number is missing.
  const words = lines.flatMap((line) => cellsOf(line.replace(/[\t;,]\s*$/, "")));
  const flat = words.flatMap((word) => (isNumbers(word) ? word.split(/\s+/) : word));
  return { cells: flat.map((word, i) => cellOf(word, `Number ${i + 1}`)), from: commas };
}

/** Whether a cell contains several numbers, with spaces between them. */
const isNumbers = (text: string) => text.split(/\s+/).every(isCell);

/** The series that a text or a file describes. Throws SeriesError with a message for the person. */
export function ownSeriesOf(text: string): OwnSeries {
  const { cells: all, from } = readNumbers(text);
  const cells = all.slice(-mostValues);
  const { length } = cells;
  if (length < fewestValues)
    throw new SeriesError(
      `${fewestValues} to ${mostValues} numbers are needed, and there ${length === 1 ? "is 1" : `are ${length}`}.`,
    );
  const last =
    all.length > length ? `the last ${length} of ${all.length} values` : `${length} values`;
  const gap = [...cells.keys()].filter((t) => cells[t] === null);
  const hasTruth = gap.length === 0;
  const count = Math.min(hiddenByUs, Math.floor(length / 4));
  const start = gap[0] ?? Math.floor((length - count) / 2);
  const end = gap.at(-1) ?? start + count - 1;
  checkGap(cells, start, end);
  const places = `${start + 1} to ${end + 1} are`;
  const hidden = hasTruth ? `None is missing, so ${places} hidden.` : `${places} missing.`;
  return {
    values: cells.map((cell) => cell ?? 0),
    isHidden: cells.map((_, t) => t >= start && t <= end),
    hasTruth,
    note: `Shown: ${last}${from}. ${hidden}`,
  };
}

/** Throws unless the missing values are neighbours between known ones, and at most half of all. */
function checkGap(cells: Read["cells"], start: number, end: number): void {
  const { length } = cells;
  const known = cells.findIndex((cell, t) => cell !== null && t > start && t < end);
  if (cells[start] === null && known >= 0)
    throw new SeriesError(
      `The missing values must be neighbours: ${start + 1} and ${end + 1} are missing, but ${known + 1} is not.`,
    );
  if (start === 0 || end === length - 1)
    throw new SeriesError("A known value is needed before the gap, and one after it.");
  const count = end - start + 1;
  if (count > length / 2)
    throw new SeriesError(
      `At most half of the values may be missing, and ${count} of ${length} are.`,
    );
}

/** Shifts with a lower similarity than this are not periods. */
const leastAlike = 0.3;

/**
 * The period of a series: the shortest shift whose similarity is a peak near the highest one; null if the series does
 * not repeat itself. The similarity is 1 - variance(v[t] - v[t - shift]) / (2 variance(v around its straight line)). It
 * does not depend on a linear trend, because the difference of a trend is the same everywhere.
 */
export function periodOf({ values, isHidden }: Pick<OwnSeries, "values" | "isHidden">) {
  const at = (t: number) => values[t] as number;
  const known = [...values.keys()].filter((t) => !isHidden[t]);
  const mean = (of: readonly number[]) => of.reduce((sum, value) => sum + value, 0) / of.length;
  const variance = (of: readonly number[]) => {
    const middle = mean(of);
    return mean(of.map((value) => (value - middle) ** 2));
  };
  const [middle, level] = [mean(known), mean(known.map(at))];
  const slope = mean(known.map((t) => (t - middle) * (at(t) - level))) / variance(known);
  const spread = variance(known.map((t) => at(t) - slope * t));
  // A constant series has no period. The threshold is above 0 because of rounding.
  if (!(spread > 1e-12 * variance(known.map(at)))) return null;
  const shifts = Array.from({ length: Math.floor(values.length / 2) - 1 }, (_, i) => {
    const shift = i + 2;
    const pairs = known.filter((t) => t >= shift && !isHidden[t - shift]);
    // With few pairs a high similarity may be chance.
    if (pairs.length < Math.max(3, known.length / 4)) return { shift, alike: -1 };
    return { shift, alike: 1 - variance(pairs.map((t) => at(t) - at(t - shift))) / (2 * spread) };
  });
  const highest = Math.max(...shifts.map(({ alike }) => alike));
  if (!(highest >= leastAlike)) return null;
  const found = shifts.find(
    ({ alike }, i) =>
      alike >= highest - 0.1 &&
      alike >= (shifts[i - 1]?.alike ?? -1) &&
      alike >= (shifts[i + 1]?.alike ?? -1),
  );
  return found?.shift ?? null;
}

/** For each hidden value the known values whole periods away. */
export function alikeIn(isHidden: readonly boolean[], period: number | null): Alignment {
  const places = [...isHidden.keys()];
  return isHidden.map((hidden, t) =>
    hidden && period !== null ? places.filter((s) => !isHidden[s] && (s - t) % period === 0) : [],
  );
}
