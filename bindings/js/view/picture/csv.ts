/**
 * Numbers as CSV (RFC 4180). Texts are in quotes, and a quote within them is doubled. A missing
 * number (NaN) is an empty field, which spreadsheets and pandas read as missing; infinite numbers
 * are "Infinity" and "-Infinity".
 */
import { at, type MatrixView } from "./view.js";

/** A number has the fewest digits that round-trip: to the same 32-bit float, if it is one. */
function fieldOf(value: string | number): string {
  if (typeof value === "string") return `"${value.replace(/"/g, '""')}"`;
  if (Number.isNaN(value)) return "";
  if (Number.isInteger(value) || Math.fround(value) !== value) return `${value}`;
  for (let digits = 6; ; ++digits) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return `${short}`;
  }
}

/** Rows of texts and numbers, the names of the columns first. */
export function rowsCsv(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((fields) => `${fields.map(fieldOf).join()}\r\n`).join("");
}

/** A matrix. Rows and columns without names have their numbers from 1. */
export function csvOf(
  view: MatrixView,
  rows: readonly string[] | undefined,
  cols: readonly string[] | undefined,
): string {
  const names = (count: number, labels: readonly string[] | undefined) =>
    Array.from({ length: count }, (_, i) => labels?.[i] ?? `${i + 1}`);
  const head = names(view.cols, cols);
  const lines = names(view.rows, rows).map((name, i) => [
    name,
    ...head.map((_, j) => at(view, i, j)),
  ]);
  return rowsCsv([["", ...head], ...lines]);
}

/** Numbers in named columns. The end of a column shorter than the first one is missing. */
export function columnsCsv(
  names: readonly string[],
  columns: readonly ArrayLike<number>[],
): string {
  const lines = Array.from(columns[0] ?? [], (_, i) =>
    columns.map((column) => column[i] ?? Number.NaN),
  );
  return rowsCsv([names, ...lines]);
}

/** A file in UTF-8. It begins with a byte order mark, without which Excel reads another encoding. */
export function csvBlob(csv: string): Blob {
  return new Blob(["\ufeff", csv], { type: "text/csv" });
}
