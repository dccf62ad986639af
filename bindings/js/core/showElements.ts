// The elements of a tensor as people read them, as numpy writes arrays.

/** More elements than this, in all or along an axis of an empty tensor, are cut. */
const mostShown = 100;

/** An index of an axis, or where some are left out. */
type Place = number | "...";

/** The places of an axis that are shown. */
function placesOf(size: number, isCut: boolean, edge: number): Place[] {
  if (!isCut || size <= 2 * edge) return Array.from({ length: size }, (_, i) => i);
  const first = Array.from({ length: edge }, (_, i) => i);
  return [...first, "...", ...first.map((i) => size - edge + i)];
}

/** A number with 6 digits, of a whole number all that double precision has. */
function showValue(value: number | boolean): string {
  if (typeof value === "boolean") return String(value);
  if (Object.is(value, -0)) return "-0";
  const isWhole = Number.isInteger(value) && Math.abs(value) < 1e9;
  return String(isWhole ? value : Number(value.toPrecision(6)));
}

/** Elements of a shape in row-major order, all numbers equally wide. */
export function showElements(
  shape: readonly number[],
  elementAt: (index: number) => number | boolean,
): string {
  const rank = shape.length;
  const size = shape.reduce((product, axis) => product * axis, 1);
  // So that what is shown stays about as much, whatever the rank.
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

/** Null is what was left out. */
type Shown = string | null | Shown[];
