/** Weights whose colours run from 0 to the largest of the picture, on a curve of one's choice. */
import { type Curve, type Palette, weightColour, weightShare } from "../../colour";
import { formatShort } from "../../format";

export const curves = [
  ["linear", "linear"],
  ["sqrt", "√"],
  ["log", "log"],
] as const satisfies readonly (readonly [Curve, string])[];

/** Small weights are common here: two digits of theirs are worth more than two decimals. */
export function formatWeight(weight: number): string {
  if (weight <= 0 || weight >= 0.1) return formatShort(weight);
  const text = weight < 0.0001 ? weight.toExponential(1) : String(Number(weight.toPrecision(2)));
  return text.replace("-", "−");
}

export function sharesPalette(largest: number, curve: Curve): Palette {
  const share = weightShare("row", curve);
  return {
    ends: [curve === "log" ? formatWeight(largest / 1000) : "0", formatWeight(largest)],
    place: (weight) => share(weight, largest),
    legend: weightColour,
  };
}
