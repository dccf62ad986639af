/** Formats shares, sizes and counts, as heed/view formats numbers. */
import { format, formatShort } from "#parts";

export function percent(share: number, decimals = 0): string {
  return `${(100 * share).toFixed(decimals)} %`;
}

/** "1 head", "2 heads". */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 1e6) return `${formatShort(bytes / 1e3)} KB`;
  return bytes < 1e9 ? `${formatShort(bytes / 1e6)} MB` : `${formatShort(bytes / 1e9)} GB`;
}

/**
 * The formula of a weight as softmax computes it: e^score ÷ the row's sum, with the row's highest score subtracted
 * from all scores.
 */
export function softmaxOf(weight: number, largest: number): string {
  const below = Math.log(weight / largest);
  return `e^${below === 0 ? "0" : format(below)} ÷ ${format(1 / largest)}`;
}
