/** The numbers of the open row that another number is computed from. They are highlighted while it is active. */
import type { PartName, Place, RowName, Spot } from "./messages";

/** The names of the pictures, which are unique within a part. */
export type PictureName =
  | ("start" | "norm" | "keys" | "scores" | "weights" | "values")
  | ("maps" | "units" | "add" | "rows" | "logits" | "shares");

/** A row or a column of a picture of the same part. */
interface Source {
  readonly picture: PictureName;
  readonly place?: Place;
  readonly col?: number;
}

/** The unique name of a picture in the code, in tests and in file names. */
export function pictureName(part: PartName, picture: PictureName): string {
  return part === picture ? part : `${part}-${picture}`;
}

/** The sources of a number. */
export function sourcesOf({ part, of, row, col }: Spot): readonly Source[] {
  const inColumn = (picture: PictureName, col: number): Source => ({ picture, col });
  const inRow = (picture: PictureName, of: RowName, row = 0): Source => ({
    ...{ picture, place: { part, of, row } },
  });
  switch (of) {
    case "norm":
      return [inColumn("norm", col)];
    case "output":
      return [inColumn("add", col)];
    case "stream":
      return part === "start" ? [inColumn("start", col)] : [];
    case "unit":
      return [inColumn("units", col)];
    case "query":
    case "gate":
    case "up":
      return [inRow("norm", "norm")];
    case "score":
      return [inRow("keys", "key", row), inRow("keys", "query")];
    case "weight":
      return [inColumn("scores", 0)];
    case "sum":
      return [inColumn("weights", 0), inColumn("values", col)];
    case "head":
      return [inRow("values", "sum")];
    case "added":
      return part === "feed-forward" ? [inRow("units", "unit")] : [];
    case "logit":
      return [inRow("rows", "row", row), inRow("norm", "norm")];
    case "share":
      return [inColumn("logits", 0)];
    default:
      return [];
  }
}
