/**
 * Prints the lines and branches that the tests run, by folder, and the places that they do not run.
 *
 *   node tests/harness/coverage.mjs CPP.json LCOV.info..
 *
 * The first file is the output of `llvm-cov export`. The others are Vitest's coverage of dist/*.js:
 * one for each place where tests run. A line counts as run if one of the files counts it.
 */
import { readFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * @typedef {object} Counted
 * @property {string} file
 * @property {Map<number, number>} lines how often each line with code ran
 * @property {Map<string, [line: number, count: number]>} branches each way of each condition, by a
 * unique name
 */

/**
 * The lines of a file from the segments of llvm-cov. Each begins a region with a count, which lasts
 * until the next segment.
 *
 * @param {[line: number, column: number, count: number, hasCount: boolean, isEntry: boolean, isGap: boolean][]} segments
 */
function linesOf(segments) {
  const lines = new Map();
  const [first] = segments[0] ?? [0];
  const last = segments.at(-1)?.[0] ?? -1;
  let [next, around] = [0, null];
  for (let line = first; line <= last; ++line) {
    const here = [];
    while (next < segments.length && segments[next][0] === line) here.push(segments[next++]);
    // As in llvm-cov, a line has code if a region with a count covers it or begins on it. Its count
    // is the largest count of the regions that begin on it, and of the one around it.
    const begun = here.filter(([, , , hasCount, isEntry, isGap]) => hasCount && isEntry && !isGap);
    const isSkipped = here[0] !== undefined && !here[0][3] && here[0][4];
    const covered = (around?.[3] ?? false) || begun.length > 0;
    if (covered && !isSkipped) {
      const outer = around?.[3] ? around[2] : 0;
      lines.set(line, Math.max(outer, ...begun.map(([, , count]) => count)));
    }
    around = here.at(-1) ?? around;
  }
  return lines;
}

/** @returns {Counted[]} */
export function fromLlvm(json, root) {
  return JSON.parse(json).data[0].files.map(({ filename, segments, branches = [] }) => {
    const found = new Map();
    // A template has each branch once for each type; a way counts as taken if one of them takes it.
    for (const [line, column, endLine, endColumn, yes, no] of branches) {
      for (const [way, count] of Object.entries({ yes, no })) {
        const name = `${line}:${column}-${endLine}:${endColumn} ${way}`;
        found.set(name, [line, (found.get(name)?.[1] ?? 0) + count]);
      }
    }
    return { file: relative(root, filename), lines: linesOf(segments), branches: found };
  });
}

/** @returns {Counted[]} */
export function fromLcov(text, root) {
  return text
    .split("end_of_record")
    .filter((record) => record.includes("SF:"))
    .map((record) => {
      const lines = new Map();
      const branches = new Map();
      for (const [, key, value] of record.matchAll(/^(DA|BRDA):(.*)$/gm)) {
        const [line, ...rest] = value.split(",");
        if (key === "DA") lines.set(Number(line), Number(rest[0]));
        else branches.set(`${line},${rest[0]},${rest[1]}`, [Number(line), Number(rest[2]) || 0]);
      }
      const [, path] = /^SF:(.*)$/m.exec(record);
      return { file: path.startsWith("/") ? relative(root, path) : path, lines, branches };
    });
}

/**
 * The sums of the counts of several runs. When Vite serves a file to a page, only the names of
 * modules in its imports change. So line numbers are the same in all runs.
 *
 * @param {Counted[]} counted
 * @returns {Counted[]}
 */
export function merged(counted) {
  /** @type {Map<string, Counted>} */
  const files = new Map();
  for (const { file, lines, branches } of counted) {
    const sum = files.get(file) ?? { file, lines: new Map(), branches: new Map() };
    files.set(file, sum);
    for (const [line, count] of lines) sum.lines.set(line, (sum.lines.get(line) ?? 0) + count);
    for (const [name, [line, count]] of branches)
      sum.branches.set(name, [line, (sum.branches.get(name)?.[1] ?? 0) + count]);
  }
  return [...files.values()];
}

/** "3-5, 9" for lines 3, 4, 5 and 9. */
export function ranges(lines) {
  const found = [];
  for (const line of [...new Set(lines)].sort((a, b) => a - b)) {
    const last = found.at(-1);
    if (last?.[1] === line - 1) last[1] = line;
    else found.push([line, line]);
  }
  return found.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(", ");
}

const share = (done, all) =>
  `${String(done).padStart(6)} of ${String(all).padStart(6)} ${all === 0 ? "      -" : `${((100 * done) / all).toFixed(1).padStart(5)} %`}`;

/** @param {Counted[]} files */
export function report(files) {
  const totals = new Map();
  for (const { file, lines, branches } of files) {
    for (const name of [dirname(file), file.startsWith("dist") ? "TypeScript" : "C++"]) {
      const sum = totals.get(name) ?? { lines: [0, 0], branches: [0, 0] };
      totals.set(name, sum);
      const add = (pair, counts) => {
        pair[0] += counts.filter((count) => count > 0).length;
        pair[1] += counts.length;
      };
      add(sum.lines, [...lines.values()]);
      add(
        sum.branches,
        [...branches.values()].map(([, count]) => count),
      );
    }
  }
  const table = [...totals]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, { lines, branches }]) =>
        `${name.padEnd(28)} ${share(...lines)}   ${share(...branches)}`,
    );
  const left = files.flatMap(({ file, lines, branches }) => {
    const missed = ranges([...lines].filter(([, count]) => count === 0).map(([line]) => line));
    // A branch on a line that did not run adds no information.
    const halves = [...branches.values()].filter(
      ([line, count]) => count === 0 && lines.get(line) !== 0,
    );
    const ways = ranges(halves.map(([line]) => line));
    if (missed === "" && ways === "") return [];
    return `${file}: ${[missed && `lines ${missed}`, ways && `branches on ${ways}`].filter(Boolean).join("; ")}`;
  });
  const head = `${"".padEnd(28)} ${"lines".padStart(24)}   ${"branches".padStart(24)}`;
  return [head, ...table, "", "Not run:", ...left.sort()].join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [cpp, ...js] = process.argv.slice(2).map((path) => readFileSync(path, "utf8"));
  const files = merged(js.flatMap((text) => fromLcov(text, process.cwd())));
  console.log(report([...fromLlvm(cpp, process.cwd()), ...files]));
}
