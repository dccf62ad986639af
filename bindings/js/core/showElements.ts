// The elements of a tensor as text, in numpy's format.

/** With more elements than this, or a longer axis, some are left out. */
const mostShown = 100;

/** An index along an axis, or a gap. */
type Place = number | "...";

/** The indices of an axis that are shown. */
function placesOf(size: number, isCut: boolean, edge: number): Place[] {
  if (!isCut || size <= 2 * edge) return Array.from({ length: size }, (_, i) => i);
  const first = Array.from({ length: edge }, (_, i) => i);
  return [...first, "...", ...first.map((i) => size - edge + i)];
}

/** A number with 6 digits; whole numbers with all digits. */
function showValue(value: number | boolean): string {
  if (typeof value === "boolean") return String(value);
  if (Object.is(value, -0)) return "-0";
  const isWhole = Number.isInteger(value) && Math.abs(value) < 1e9;
  return String(isWhole ? value : Number(value.toPrecision(6)));
}

/** Elements in row-major order, with all numbers padded to one width. */
export function showElements(
  shape: readonly number[],
  elementAt: (index: number) => number | boolean,
): string {
  const rank = shape.length;
  const size = shape.reduce((product, axis) => product * axis, 1);
  // Keeps the amount of text similar for all ranks.
  const edge = rank <= 2 ? 3 : rank === 3 ? 2 : 1;
  const isCut = size > mostShown || shape.some((axis) => axis > mostShown);
  let width = 0;
  const read = (axis: number, index: number): Shown => {
    if (axis === rank) {
      const text = showValue(elementAt(index));
      width = Math.max(width, text.length);
      return text;
    }
    const step = shape[axis] as number;
    return placesOf(step, isCut, edge).map((place) =>
      place === "..." ? null : read(axis + 1, index * step + place),
    );
  };
  const write = (shown: Shown, depth: number): string => {
    if (shown === null) return "...";
    if (typeof shown === "string") return shown.padStart(width);
    const isRow = depth === rank - 1;
    const between = isRow ? ", " : `,\n${" ".repeat(depth + 1)}`;
    return `[${shown.map((part) => write(part, depth + 1)).join(between)}]`;
  };
  return write(read(0, 0), 0);
}

/** Null is a gap. */
type Shown = string | null | Shown[];
