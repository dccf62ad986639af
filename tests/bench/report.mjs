// The words around the figures, and the table, in Markdown that reads well as plain text.

/** @param {ReturnType<typeof import("./chromium.mjs").environment>} where */
export function describe({ date, machine, browser, versions }) {
  const packages = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    `${date}, ${machine.cpu}, ${machine.cores} cores (load ${machine.load} before), ${browser}`,
    packages.join(", "),
  ].join("\n");
}

const none = "-";

function milliseconds(value) {
  if (value === undefined) return none;
  return value < 1 ? value.toPrecision(2) : value.toFixed(value < 100 ? 1 : 0);
}

const ratio = (value) => (value === undefined ? none : `${value.toFixed(2)}x`);

function peer(row) {
  if (row.bestPeer) return `${milliseconds(row.times[row.bestPeer].median)} (${row.bestPeer})`;
  const [reason] = Object.values(row.failures);
  return `fails: ${reason}`;
}

const columns = [
  ["case", (row) => row.case],
  ["threads", (row) => row.threads],
  ["relaxed ms", (row) => milliseconds(row.times.relaxed.median)],
  ["simd ms", (row) => milliseconds(row.times.simd.median)],
  ["copies ms", (row) => milliseconds(row.times.copies?.median)],
  ["best peer ms", peer],
  ["ratio relaxed", (row) => ratio(row.ratio?.relaxed)],
  ["ratio simd", (row) => ratio(row.ratio?.simd)],
  ["GFLOP/s relaxed", (row) => row.gflops?.relaxed.toFixed(1) ?? none],
  ["share of peak", (row) => (row.share ? `${(100 * row.share.relaxed).toFixed(0)} %` : none)],
];

function peaks(rows) {
  const known = rows.filter((row) => row.peak && row.threads === 1);
  if (known.length === 0) return "";
  const range = (variant) => {
    const values = known.map((row) => row.peak[variant]).sort((a, b) => a - b);
    return `${values[0].toFixed(1)} to ${values.at(-1).toFixed(1)}`;
  };
  return (
    `\n\nMultiply-add peak of one thread, GFLOP/s: relaxed ${range("relaxed")}, simd ${range("simd")}. ` +
    "Under a causal mask only the pairs that are seen count."
  );
}

export function table(rows) {
  const cells = [
    columns.map(([title]) => title),
    ...rows.map((row) => columns.map(([, cell]) => `${cell(row)}`)),
  ];
  const widths = columns.map((_, i) => Math.max(...cells.map((line) => line[i].length)));
  const line = (texts) =>
    `| ${texts.map((text, i) => (i === 0 ? text.padEnd(widths[i]) : text.padStart(widths[i]))).join(" | ")} |`;
  const rule = `| ${widths.map((width, i) => (i === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  return [line(cells[0]), rule, ...cells.slice(1).map(line)].join("\n") + peaks(rows);
}
