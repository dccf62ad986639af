/** Formats figures with three digits and a unit. */

/** Three significant digits. */
export function threeDigits(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value >= 100) return value.toFixed(0);
  if (value >= 10) return value.toFixed(1);
  return value >= 1 ? value.toFixed(2) : String(Number(value.toPrecision(3)));
}

export const mebibytes = (bytes: number) => `${threeDigits(bytes / 2 ** 20)} MiB`;

export const kibibytes = (bytes: number) => `${threeDigits(bytes / 2 ** 10)} KiB`;

/** The browser's name and version, from its user agent. */
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
