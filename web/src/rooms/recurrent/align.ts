/** Aligns a written answer with the right one, so that one character too many or too few shifts no marks. */

/** The right token's place for each written one, by the fewest edits (Levenshtein, 1966); null for an extra one. */
export function placesOf(written: readonly string[], right: readonly string[]): (number | null)[] {
  const [rows, columns] = [written.length, right.length];
  // edits[i][j] is the distance between written.slice(i) and right.slice(j).
  const edits = Array.from({ length: rows + 1 }, (_, i) =>
    Array.from({ length: columns + 1 }, (_, j) => rows - i + columns - j),
  );
  const at = (i: number, j: number) => edits[i]?.[j] as number;
  const replacing = (i: number, j: number) => at(i + 1, j + 1) + Number(written[i] !== right[j]);
  for (let i = rows - 1; i >= 0; --i)
    for (let j = columns - 1; j >= 0; --j)
      (edits[i] as number[])[j] = Math.min(replacing(i, j), 1 + at(i + 1, j), 1 + at(i, j + 1));
  const places: (number | null)[] = [];
  for (let [i, j] = [0, 0]; i < rows; ) {
    if (j < columns && replacing(i, j) === at(i, j)) {
      places.push(j++);
      ++i;
    } else if (at(i + 1, j) + 1 === at(i, j)) {
      places.push(null);
      ++i;
    } else ++j;
  }
  return places;
}
