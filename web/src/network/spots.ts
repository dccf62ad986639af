/** Numbers of the network in links. */
import { oneOf } from "../shared/linkReaders";
import { look, setting } from "../shared/settings";
import { partNames, type RowName, rowNames, type Spot } from "./messages";

/** The kinds of rows that may occur several times in one part. */
const severalRows: ReadonlySet<RowName> = new Set([
  ...(["key", "score", "weight", "value", "head", "map", "row", "logit", "share"] as const),
]);

/** A number in the link: "attention.key.3.5" is entry 5 of key 3, "feed-forward.unit.6" is unit 6. */
export function textOfSpot({ part, of, row, col }: Spot): string {
  return [part, of, ...(severalRows.has(of) ? [row + 1] : []), col + 1].join(".");
}

/** Reads a number from a link. */
export function spotFrom(text: string): Spot {
  const [part = "", kind = "", ...places] = text.split(".");
  const of = oneOf(...rowNames)(kind);
  const count = severalRows.has(of) ? 2 : 1;
  const isPlace = (place: string) => /^[1-9]\d{0,5}$/.test(place);
  if (places.length !== count || !places.every(isPlace))
    throw new RangeError("a part, a row and an entry, such as feed-forward.unit.6");
  const [row, col] = [count === 2 ? Number(places[0]) - 1 : 0, Number(places.at(-1)) - 1];
  return { part: oneOf(...partNames)(part), of, row, col };
}

/** The setting of the locked number. */
export const spotSetting = setting<Spot | null>(null, spotFrom, {
  ...look,
  write: (spot) => spot && textOfSpot(spot),
});

export function isSameSpot(a: Spot | null, b: Spot | null): boolean {
  return a?.part === b?.part && a?.of === b?.of && a?.row === b?.row && a?.col === b?.col;
}
