// node tests/conformance/run.mjs [--browser | --firefox] PATH...
// Runs case files through the public API of the built package, in Node, or in Chromium or Firefox with all binaries.
// Prints each case and a closing line. Exits with 1 if a case failed.

import { load } from "../../dist/index.js";
import * as models from "../../dist/models.js";
import * as nn from "../../dist/nn.js";
import { findCases } from "./cases.mjs";
import { runCase } from "./compare.mjs";

const arguments_ = process.argv.slice(2);
const browser = ["browser", "firefox"].find((name) => arguments_.includes(`--${name}`));
const paths = arguments_.filter((argument) => argument !== `--${browser}`);
const unknown = paths.find((path) => path.startsWith("--"));
if (unknown || paths.length === 0) {
  console.error(unknown ? `unknown option ${unknown}` : "conformance: no cases given");
  console.error("usage: conformance [--browser | --firefox] FOLDER_OR_FILE...");
  process.exit(2);
}

async function runInNode(cases) {
  const heed = await load({ threads: 2 });
  const reports = [];
  for (const testCase of cases) reports.push(await runCase({ heed, nn, models }, testCase));
  heed.dispose();
  return reports;
}

const cases = await findCases(paths).catch((error) => {
  console.error(`conformance: ${error.message}`);
  process.exit(2);
});
const reports = browser
  ? await (await import("./browser.mjs")).runInBrowser(cases, browser)
  : await runInNode(cases);
for (const { name, verdict, detail } of reports) console.log(`${verdict} ${name}: ${detail}`);
const count = (verdict) => reports.filter((report) => report.verdict === verdict).length;
const skipped = count("skipped");
console.log(
  `${count("passed")} passed, ${count("failed")} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`,
);
process.exitCode = count("failed") > 0 ? 1 : 0;
