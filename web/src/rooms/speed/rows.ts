/** A report as rows, for the table on the page, for Markdown and for CSV. */
import { rowsCsv } from "#parts";
import { percent } from "../../shared/format";
import {
  type Case,
  intensityOf,
  limitOf,
  measurementOf,
  ratioOf,
  type SpeedReport,
  speedOf,
} from "./report";
import { coresOf, headsOf, mebibytes, threadsOf, threeDigits } from "./units";

export type Row = ReturnType<typeof rowsOf>[number];

export function rowsOf(report: SpeedReport) {
  return report.cases.flatMap((one) => {
    const plain = report.contenders.find(({ variant }) => variant === null);
    const slow = plain && measurementOf(report, one, plain)?.timing;
    return report.contenders.map((contender) => {
      const measurement = measurementOf(report, one, contender);
      const { timing } = measurement ?? {};
      /** Billions of operations a second. */
      const speed = timing ? speedOf(one, timing.median) : null;
      const limit = limitOf(report, one, contender);
      return {
        ...{ one, contender, measurement, speed },
        /** The share of the limit. */
        share: speed !== null && limit ? speed / limit : null,
        /** The speedup over plain JavaScript. */
        ratio: timing && slow ? ratioOf(slow, timing) : null,
      };
    });
  });
}

const or = (value: number | null | undefined, write: (value: number) => string) =>
  value == null ? "" : write(value);

interface Column {
  readonly id: string;
  readonly head: string;
  text(row: Row): string;
}

const column = (id: string, head: string, text: Column["text"]): Column => ({ id, head, text });

/** The text of a row, column by column; empty if there is none. */
export const columns: readonly Column[] = [
  column("by", "computed by", ({ contender }) => contender.name),
  column("time", "ms", ({ measurement }) => or(measurement?.timing?.median, threeDigits)),
  column("ratio", "times as fast", ({ ratio }) => or(ratio, threeDigits)),
  column("speed", "GFLOP/s", ({ speed }) => or(speed, threeDigits)),
  column("share", "of the limit", ({ share }) => or(share, percent)),
  column("spread", "least to most", ({ measurement }) => {
    const timing = measurement?.timing;
    return timing ? `${threeDigits(timing.least)}–${threeDigits(timing.most)}` : "";
  }),
  column("difference", "differs by", ({ measurement }) =>
    or(measurement?.difference, (value) => value.toExponential(0)),
  ),
  column("memory", "memory", ({ measurement }) => or(measurement?.memory, mebibytes)),
];

export function describe({ sizes, kind }: Case): string {
  const { heads, size, causal, window } = sizes;
  const parts = [`${headsOf(heads)} of ${size} numbers`];
  if (kind !== "decode" && causal) parts.push("causal");
  if (kind !== "decode" && window > 0) parts.push(`window ${window}`);
  return parts.join(", ");
}

export function limitLines({ limits }: SpeedReport): string[] {
  return limits.map(({ kind, variant, threads, perSecond }) => {
    const what = kind === "memory" ? "reading memory" : `arithmetic, ${variant}`;
    const unit = kind === "memory" ? "GB/s" : "GFLOP/s";
    return `${what}, ${threadsOf(threads)}: ${threeDigits(perSecond / 1e9)} ${unit}`;
  });
}

export const seconds = ({ milliseconds }: SpeedReport) => `${(milliseconds / 1000).toFixed(1)} s`;

const dayOf = (date: number) => new Date(date).toISOString().slice(0, 16).replace("T", " ");

function facts(report: SpeedReport, browser: string): string[] {
  const { version, cores, isIsolated, clock, date, cases } = report;
  const [one] = cases;
  return [
    `Heed ${version}`,
    ...[browser, coresOf(cores)],
    isIsolated ? "isolated" : "not isolated",
    `clock of ${threeDigits(1000 * clock)} µs`,
    `${dayOf(date)} UTC`,
    ...(one ? [describe(one)] : []),
    `measured in ${seconds(report)}`,
  ];
}

/** The report in Markdown, for a bug report or a forum: the setup and all measurements. */
export function markdownOf(report: SpeedReport, browser: string): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rows = rowsOf(report).filter(({ measurement }) => measurement?.timing);
  return [
    `**Attention measured in the browser.** ${facts(report, browser).join("; ")}.`,
    "",
    `Limits: ${limitLines(report).join("; ")}.`,
    "",
    line(["case", ...columns.map(({ head }) => head)]),
    line(["---", "---", ...columns.slice(1).map(() => "---:")]),
    ...rows.map((row) => line([row.one.name, ...columns.map(({ text }) => text(row))])),
    "",
  ].join("\n");
}

/** The report as CSV, with all digits and all sizes. */
export function reportCsv(report: SpeedReport, browser: string): string {
  const head = [
    ...["case", "kind", "heads", "size", "queries", "keys", "causal", "window"],
    ...["operations", "bytes", "operations per byte", "variant", "threads"],
    ...["median ms", "least ms", "most ms", "rounds", "GFLOP/s", "limit GFLOP/s"],
    ...["difference", "memory bytes", "left out", "browser", "version", "cores", "date"],
  ];
  const lines = rowsOf(report).map(({ one, contender, measurement, speed }) => {
    const { heads, size, queries, keys, causal, window } = one.sizes;
    const { timing } = measurement ?? {};
    return [
      ...[one.name, one.kind, heads, size, queries, keys, causal ? "yes" : "no", window],
      ...[one.operations, one.bytes, intensityOf(one)],
      ...[contender.variant ?? "JavaScript", contender.threads],
      ...[timing?.median, timing?.least, timing?.most, timing?.samples.length],
      ...[speed, limitOf(report, one, contender)],
      ...[measurement?.difference, measurement?.memory, measurement?.reason ?? ""],
      ...[browser, report.version, report.cores, new Date(report.date).toISOString()],
    ].map((value) => value ?? Number.NaN);
  });
  return rowsCsv([head, ...lines]);
}
