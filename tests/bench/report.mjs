// Reports as Markdown: the tables, and the text around them.

import { readFileSync, writeFileSync } from "node:fs";

const none = "-";
const mebibyte = 2 ** 20;

function milliseconds(value) {
  if (value === undefined) return none;
  return value < 1 ? value.toPrecision(2) : value.toFixed(value < 100 ? 1 : 0);
}

const ratio = (value) => (value === undefined ? none : `${value.toFixed(value < 10 ? 2 : 0)}x`);
const percent = (value) => (value === undefined ? none : `${(100 * value).toFixed(0)} %`);
const mebibytes = (value) => (value > 0 ? (value / mebibyte).toFixed(0) : none);

/** Tokens per second, of a call that computes some in some milliseconds. */
function rateOf(tokens, ms) {
  const rate = (1000 * tokens) / ms;
  return rate.toFixed(rate < 100 ? 1 : 0);
}

/** A Markdown table, without its empty columns. */
function table(allColumns, rows) {
  const columns = allColumns.filter(([, cell]) => rows.some((row) => cell(row) !== none));
  const cells = [
    columns.map(([title]) => title),
    ...rows.map((row) => columns.map(([, cell]) => `${cell(row)}`)),
  ];
  const widths = columns.map((_, i) => Math.max(...cells.map((line) => line[i].length)));
  const line = (texts) =>
    `| ${texts.map((text, i) => (i === 0 ? text.padEnd(widths[i]) : text.padStart(widths[i]))).join(" | ")} |`;
  const rule = `| ${widths.map((width, i) => (i === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  return [line(cells[0]), rule, ...cells.slice(1).map(line)].join("\n");
}

/** One column for each of our variants: the binaries, or the native build. */
const each = (variants, title, figure) =>
  variants.map((variant) => [
    variants.length > 1 ? `${title} ${variant}` : title,
    (row) => figure(row, variant),
  ]);

/**
 * For language models: the limit of a case, so that a reader sees how near to it both libraries
 * are.
 */
function limitColumns(variant) {
  const ofLanguage = (figure) => (row) => (row.isLanguage ? figure(row) : none);
  const peerTime = (row) => row.contenders[row.bestPeer]?.ms;
  const shareOfPeer = (row) => peerTime(row) && row.least[variant] / peerTime(row);
  return [
    ["peer of limit", ofLanguage((row) => percent(shareOfPeer(row)))],
    ["limit ms", ofLanguage((row) => milliseconds(row.least?.[variant]))],
    ["MB read", ofLanguage(({ bytes }) => (bytes ? (bytes / 1e6).toFixed(0) : none))],
  ];
}

function columnsFor(variants) {
  const [best] = variants;
  return [
    ["case", (row) => row.case],
    ...each(variants, "ms", (row, variant) => milliseconds(row.contenders[variant].ms)),
    ["peer ms", (row) => milliseconds(row.contenders[row.bestPeer]?.ms)],
    ...each(variants, "ratio", (row, variant) => ratio(row.ratio?.[variant])),
    ...each(variants, "of limit", (row, variant) => percent(row.share?.[variant])),
    ...limitColumns(best),
    ["outside operations", (row) => percent(row.contenders[best].outside)],
    ["MiB", (row) => mebibytes(row.contenders[best].memory)],
    ["peer MiB", (row) => mebibytes(row.contenders[row.bestPeer]?.memory)],
    ["error", (row) => row.contenders[best].error.toExponential(0)],
    ["best peer", (row) => row.bestPeer ?? none],
    [
      "beside our own",
      (row) => row.besides.map((other) => `${ratio(other.ratio)} ${other.name}`).join(", ") || none,
    ],
  ];
}

/** A line for each contender and each reason for which it could not run some cases. */
function failures(rows) {
  const cases = new Map();
  for (const row of rows)
    for (const [name, { failure }] of Object.entries(row.contenders)) {
      if (!failure) continue;
      const line = `${name} fails: ${failure}`;
      cases.set(line, [...(cases.get(line) ?? []), row.case]);
    }
  const all = [...cases].map(([line, names]) => `- ${line} (${names.join("; ")})`);
  return all.length > 0
    ? `\n\nCases that other libraries cannot compute:\n\n${all.join("\n")}`
    : "";
}

/** For language models, every contender, ours first. The limit is the time that it allows. */
function contendersTable(rows) {
  const lines = rows.flatMap((row) => {
    const [best] = Object.keys(row.ours);
    const names = Object.keys(row.contenders).filter(
      (name) =>
        row.contenders[name].ms !== undefined && !row.besides.some((own) => own.name === name),
    );
    return names.map((name) => {
      const { ms, error, memory } = row.contenders[name];
      const isOurs = name in row.ours;
      return {
        ...{ case: row.case, ms, error, memory, name: isOurs ? `Heed ${name}` : name },
        rate: rateOf(row.tokens, ms),
        takes: isOurs ? undefined : ms / row.ours[best],
        share: row.least?.[isOurs ? name : best] / ms,
      };
    });
  });
  const columns = [
    ["case", (line) => line.case],
    ["contender", (line) => line.name],
    ["ms", (line) => milliseconds(line.ms)],
    ["tokens/s", (line) => line.rate],
    ["takes", (line) => ratio(line.takes)],
    ["of limit", (line) => percent(line.share)],
    ["error", (line) => line.error.toExponential(0)],
    ["MiB", (line) => mebibytes(line.memory)],
  ];
  return table(columns, lines);
}

const threadCount = (threads) => (threads === 1 ? "One thread" : `${threads} threads`);

function limitsLine(limits) {
  const units = { read: "GB/s", "peak of bytes": "GOP/s" };
  const unit = (name) => units[name] ?? "GFLOP/s";
  const all = Object.entries(limits).map(
    ([name, value]) => `${name} ${value.toFixed(1)} ${unit(name)}`,
  );
  return `Limits: ${all.join(", ")}.`;
}

function group({ threads, limits, rows }) {
  const variants = Object.keys(rows[0].ours);
  return [
    [`**${threadCount(threads)}.**`, ...(limits ? [limitsLine(limits)] : [])].join(" "),
    table(columnsFor(variants), rows) + failures(rows),
    ...(rows[0].isLanguage ? ["Every contender:", contendersTable(rows)] : []),
  ].join("\n\n");
}

function startTable(rows) {
  const columns = [
    ["binary", (row) => row.variant],
    ["gzipped KB", (row) => (row.bytes / 1000).toFixed(0)],
    ["ready ms", (row) => milliseconds(row.ready)],
    ["first call ms", (row) => milliseconds(row.first)],
    ["later calls ms", (row) => milliseconds(row.later)],
  ];
  return table(columns, rows);
}

/** The report of a run, as Markdown. */
function report({ date, machine, runtime, versions, quick, start, groups }) {
  const packages = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    `${date}, ${machine.cpu}, ${machine.cores} cores (load ${machine.load} before), ${runtime}; ` +
      `${packages.join(", ")}.`,
    ...(quick ? ["A quick run shows that the bench works; its figures mean nothing."] : []),
    ...groups.map(group),
    ...(start
      ? ["**Start.** From nothing to an engine, and calls of the first case.", startTable(start)]
      : []),
  ].join("\n\n");
}

/** The cases in the README, by the name of the run, and the mark of their table. */
const excerpts = {
  Chromium: {
    mark: "excerpt",
    cases: [
      "H12 L1024 D64",
      "H12 L1024 D64 causal",
      "H8 L4096 D64",
      "decode H32/8 D128, 4096 cached, f32 cache",
      "one call: H2 L5 D8",
      "linear [512,768] x [768,3072]",
    ],
  },
  "Chromium, models": {
    mark: "excerpt of models",
    cases: [
      ...["prompt of 128, float32", "prompt of 128, int8"].map((words) => `SmolLM2 135M, ${words}`),
      ...["float32", "float16", "int8", "int4"].map(
        (dtype) => `SmolLM2 135M, a token after 128, ${dtype}`,
      ),
      ...["float32", "int8"].map((dtype) => `MiniLM L6, 32 texts of 128, ${dtype}`),
    ],
  },
};

/** The excerpt of a run for the README: some cases, one thread, the best of our variants. */
function excerpt({ date, machine, runtime, groups }, cases) {
  const { rows } = groups.find(({ threads }) => threads === 1);
  const [best] = Object.keys(rows[0].ours);
  const columns = [
    ["case", (row) => row.case],
    ["ms", (row) => milliseconds(row.contenders[best].ms)],
    ["tokens/s", (row) => (row.tokens ? rateOf(row.tokens, row.contenders[best].ms) : none)],
    ["best other library", (row) => row.bestPeer ?? none],
    ["takes", (row) => ratio(row.ratio?.[best])],
    ["of the machine's limit", (row) => percent(row.share?.[best])],
  ];
  const shown = cases.map((name) => rows.find((row) => row.case === name));
  return `${table(columns, shown)}\n\n${date}, ${machine.cpu}, ${runtime}.`;
}

/**
 * Replaces the text between its marks in a file. If they do not exist, they are added before the mark `more`, because
 * each machine has its own section.
 */
function replace(path, name, text, more) {
  const file = new URL(`../../${path}`, import.meta.url);
  const [begin, end] = [`<!-- bench: ${name} -->`, `<!-- end of bench: ${name} -->`];
  let content = readFileSync(file, "utf8");
  if (more && !content.includes(begin))
    content = content.replace(more, `${begin}\n\n${end}\n\n${more}`);
  const [from, to] = [content.indexOf(begin), content.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${path}: expected ${more ?? begin}`);
  writeFileSync(file, `${content.slice(0, from)}${begin}\n\n${text}\n\n${content.slice(to)}`);
}

export const say = (text) => process.stderr.write(`bench: ${text}\n`);

/** Prints the report, and writes the requested files. */
export function publish(results, { json, models, readme, revectorize, train }) {
  const text = report(results);
  console.log(text);
  if (json) writeFileSync(json, `${JSON.stringify(results, null, 2)}\n`);
  if (!readme) return;
  const runtime = results.runtime.split(" ")[0];
  const topics = [revectorize && "256 bits", train && "training", models && "models"];
  const name = [runtime, ...topics].filter(Boolean).join(", ");
  const { cpu, cores } = results.machine;
  replace(
    "tests/bench/RESULTS.md",
    `${name}, ${cpu}, ${cores} cores`,
    text,
    `<!-- more: ${name} -->`,
  );
  const { mark, cases } = excerpts[name] ?? {};
  if (mark) replace("README.md", mark, excerpt(results, cases));
}
