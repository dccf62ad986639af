/** Which numbers of the open row another one is computed from, to be lit while it is pointed at. */
import type { Place } from "./explain";

/** A row or a column of a picture. */
export interface Source {
  readonly picture: string;
  readonly place?: Place;
  readonly col?: number;
}

/** The sources of the entry `i` at a place, in other pictures and in its own. */
export function sourcesOf(place: Place, i: number, picture: string): readonly Source[] {
  switch (place.of) {
    case "first norm":
    case "second norm":
    case "last norm":
    case "between":
    case "unit":
    case "output":
      return [{ picture, col: i }];
    case "query":
      return [{ picture: "first-norm", place: { of: "first norm" } }];
    case "score":
      return [
        { picture: "keys", place: { of: "key", token: place.token } },
        { picture: "keys", place: { of: "query" } },
      ];
    case "weight":
      return [{ picture: "scores", col: 0 }];
    case "sum":
      return [
        { picture: "attended", col: 0 },
        { picture: "values", col: i },
      ];
    case "gate":
    case "up":
      return [{ picture: "second-norm", place: { of: "second norm" } }];
    case "feed-forward":
      return [{ picture: "units", place: { of: "unit" } }];
    case "logit":
      return [
        { picture: "rows", place: { of: "row", rank: place.rank } },
        { picture: "last-norm", place: { of: "last norm" } },
      ];
    case "share":
      return [{ picture: "logits", col: 0 }];
    default:
      return [];
  }
}
