/** The numbers of the open row that another number is computed from. They are highlighted while it is active. */
import type { PartName, Place, Spot } from "./messages";

/** The names of the pictures, which are unique within a part. */
export type PictureName =
  | "start"
  | "norm"
  | "keys"
  | "scores"
  | "weights"
  | "values"
  | "maps"
  | "units"
  | "add"
  | "rows"
  | "logits"
  | "shares";

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
  const place = (of: Place["of"], row = 0): Place => ({ part, of, row });
  switch (of) {
    case "norm":
      return [{ picture: "norm", col }];
    case "output":
      return [{ picture: "add", col }];
    case "stream":
      return part === "start" ? [{ picture: "start", col }] : [];
    case "unit":
      return [{ picture: "units", col }];
    case "query":
    case "gate":
    case "up":
      return [{ picture: "norm", place: place("norm") }];
    case "score":
      return [
        { picture: "keys", place: place("key", row) },
        { picture: "keys", place: place("query") },
      ];
    case "weight":
      return [{ picture: "scores", col: 0 }];
    case "sum":
      return [
        { picture: "weights", col: 0 },
        { picture: "values", col },
      ];
    case "head":
      return [{ picture: "values", place: place("sum") }];
    case "added":
      return part === "feed-forward" ? [{ picture: "units", place: place("unit") }] : [];
    case "logit":
      return [
        { picture: "rows", place: place("row", row) },
        { picture: "norm", place: place("norm") },
      ];
    case "share":
      return [{ picture: "logits", col: 0 }];
    default:
      return [];
  }
}
