// The models of the repository as a table of their settings and the results in their reports.

import { readFileSync } from "node:fs";
import { join } from "node:path";

const heads = [
  "model",
  "what differs",
  "parameters",
  "steps",
  "s",
  "held out",
  "more",
  "best head",
];

const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** The cells of a row. Without a report the row has only the settings of the plan. */
function rowOf({ name, taskOptions, options }, report) {
  const changes = Object.entries({ ...taskOptions, ...options });
  const what = changes.map(([option, value]) => `${option} ${value}`).join(", ") || "-";
  if (report === undefined) return [name, what, "", "", "", "not trained yet", "", ""];
  const { parameters, steps, seconds, heldOut, probes, alignment } = report;
  const more = Object.entries(probes).map(([words, { exact }]) => `${words} ${percent(exact)}`);
  if (heldOut.error !== undefined)
    more.push(`error ${heldOut.error}, of straight lines ${heldOut.lineError}`);
  const best = [...alignment].sort((a, b) => b.largest - a.largest)[0];
  const head =
    best === undefined
      ? "-"
      : `${best.path} ${best.head + 1}: ${percent(best.largest)}, mass ${percent(best.mass)} (even: ${percent(best.chance)})`;
  const reached =
    heldOut.error === undefined ? percent(heldOut.exact) : `R² > 0.9: ${percent(heldOut.exact)}`;
  return [
    name,
    what,
    `${parameters}`,
    `${steps}`,
    `${seconds}`,
    reached,
    more.join(", ") || "-",
    head,
  ];
}

/** The table in Markdown, aligned for reading as plain text. */
export function tableOf(plans, folder) {
  const rows = [heads, ...plans.map((plan) => rowOf(plan, reportIn(join(folder, plan.name))))];
  const widths = heads.map((_, i) => Math.max(...rows.map((row) => row[i].length)));
  const line = (cells) => `| ${cells.map((cell, i) => cell.padEnd(widths[i])).join(" | ")} |\n`;
  const rule = line(widths.map((width) => "-".repeat(width)));
  const [first, ...others] = rows.map(line);
  return [first, rule, ...others].join("");
}

/** The fields of a report that rowOf reads. */
const parts = ["parameters", "steps", "seconds", "heldOut", "probes", "alignment"];

function reportIn(folder) {
  const file = join(folder, "report.json");
  try {
    const report = JSON.parse(readFileSync(file, "utf8"));
    const missing = parts.find((part) => report?.[part] === undefined);
    if (missing) throw new SyntaxError(`expected ${missing}, got none`);
    return report;
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    if (!(error instanceof SyntaxError)) throw error;
    throw Object.assign(new Error(`${file}: ${error.message}`, { cause: error }), {
      code: "format",
    });
  }
}
