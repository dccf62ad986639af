/** Reads from a link how weights are coloured. */
import { colourCurves, colourRanges } from "#parts";
import { oneOf } from "./linkReaders";

export const colourReaders = {
  range: (text: string) => ({ range: oneOf(...colourRanges)(text) }),
  curve: (text: string) => ({ curve: oneOf(...colourCurves)(text) }),
};
