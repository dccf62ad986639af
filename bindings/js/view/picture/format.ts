/** Formats numbers: with a fixed number of decimals, a true minus sign, and a symbol for infinity. */

export function format(value: number, decimals = 3): string {
  if (value === Number.NEGATIVE_INFINITY) return "−∞";
  if (value === Number.POSITIVE_INFINITY) return "∞";
  const size = Math.abs(value);
  const text =
    size >= 1e5
      ? size.toExponential(1)
      : size.toFixed(size >= 100 ? Math.max(0, decimals - 2) : decimals);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/** A short form of a number, for places with little room such as the ends of a legend. */
export function formatShort(value: number): string {
  if (value === 0 || value === 1) return String(value);
  return format(value, Math.abs(value) < 10 ? 2 : 1);
}

/** Formats a weight. Small weights are common, so they have two significant digits instead of two decimals. */
export function formatWeight(weight: number): string {
  if (weight <= 0 || weight >= 0.1) return formatShort(weight);
  const text = weight < 0.0001 ? weight.toExponential(1) : String(Number(weight.toPrecision(2)));
  return text.replace("-", "−");
}

/** The decimal sign of a language; "." for "". */
export function pointOf(locale: string): string {
  if (locale === "") return ".";
  const parts = new Intl.NumberFormat(locale, { numberingSystem: "latn" }).formatToParts(0.5);
  return parts.find(({ type }) => type === "decimal")?.value ?? ".";
}

/** Replaces the decimal sign in a text that this file made. */
export function withPoint(text: string, point = "."): string {
  return point === "." ? text : text.replace(/(\d)\.(?=\d)/g, `$1${point}`);
}

/** Shortens a text to at most `limit` graphemes. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const graphemes = [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)];
  if (graphemes.length <= limit) return text;
  return `${graphemes
    .slice(0, limit - 1)
    .map(({ segment }) => segment)
    .join("")}…`;
}
