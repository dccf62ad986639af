/** Formats figures with three digits and a unit. */
import { counted } from "../../shared/format";

export function threeDigits(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const rounded = Number(value.toPrecision(3));
  if (rounded >= 100) return value.toFixed(0);
  return rounded < 1 ? String(rounded) : rounded.toFixed(rounded >= 10 ? 1 : 2);
}

export const mebibytes = (bytes: number) => `${threeDigits(bytes / 2 ** 20)} MiB`;

export const kibibytes = (bytes: number) => `${threeDigits(bytes / 2 ** 10)} KiB`;

export const threadsOf = (count: number) => counted(count, "thread");
export const coresOf = (count: number) => counted(count, "core");
export const headsOf = (count: number) => counted(count, "head");

export function browserName(userAgent: string): string {
  const names: readonly (readonly [RegExp, string])[] = [
    [/Firefox\/(\d+)/, "Firefox"],
    [/Edg\/(\d+)/, "Edge"],
    [/OPR\/(\d+)/, "Opera"],
    [/Chrome\/(\d+)/, "Chromium"],
    [/Version\/([\d.]+).*Safari/, "Safari"],
  ];
  for (const [pattern, name] of names) {
    const version = pattern.exec(userAgent)?.[1];
    if (version) return `${name} ${version}`;
  }
  return "unknown browser";
}
