// The side-by-side browser bench: `./dev bench`, once dist/ is built.
//
// Contenders: two of Heed's binaries through its TypeScript interface, and the libraries that
// compute the same in a browser on the CPU. These are onnxruntime-web with each operator that can
// (page/onnx_models.mjs), tfjs-backend-wasm, and jax-js on its wasm device. All run in one worker
// of a headless page with cross-origin isolation, with the same number of threads. The fastest of
// the others is the best peer.
//
// Method: each case has a separate page. First, every answer is compared with a double-precision
// oracle; a wrong answer ends the run with exit code 1. Then every contender is warmed up until the
// browser has compiled it fully, and timed in rounds. In a round each contender runs once, one
// after the other, so that a slow moment of the machine affects all of them. The report shows
// medians, and for language models the best round. A time includes a whole call from JavaScript,
// with allocation. Inputs are already in the memory of Heed, tfjs and jax-js; onnxruntime-web
// copies inputs in and outputs out on every run, and offers no other way. Weights are constants for
// all.
//
// The limits are timed in the same rounds with as many threads. For arithmetic, the limit is a loop
// of independent multiply-adds on registers (page/peak.mjs). For a decode step, it is a sum over as
// many bytes as the cache has (page/read.mjs). GFLOP/s counts a multiply-add as two operations, for
// pairs of a query and a key that it may see: half the square under a causal mask. Memory is all
// the WebAssembly memory of a contender after its first call: the engine with inputs, weights,
// cache, output and scratch memory.
//
// With --revectorize, Chromium merges pairs of vectors into vectors of 256 bits for every
// contender. Ours are then wide and relaxed, and the limit of both is a loop of multiply-adds that
// Chromium merges.
//
// With --train: gradients, a training step (the answer is the losses of the first steps), and
// non-local means compared with plain JavaScript. Only Heed's backward pass can be timed alone, so
// cases with peers run attention forward and backward. "Outside operations" is the share of our
// time in which no operation of the engine runs. It is measured in separate steps that read the
// clock before and after each operation.
//
// With --models: language models with random weights, the same numbers for all contenders. GPT-2
// small has a cache of random numbers; its logits are computed for all tokens. A decoder of
// SmolLM2-135M's shape reads a prompt, and then one token, and computes the logits of the last
// token, with weights in each of our types. An encoder of MiniLM-L6's shape reads a batch of texts.
// onnxruntime-web gets the graphs that exports for transformers.js have, in float32, "q8" and "q4".
// transformers.js is not measured separately: it runs these graphs in onnxruntime-web. wllama
// (llama.cpp) gets GGUF files of the types F32, F16, Q8_0 and Q4_0. It is version 2.3.1, because
// version 3 takes no ids and returns no logits. A page loads
// the best of our binaries only, and the best of its rounds counts, because they are few and long.
//
// Cases are in page/cases.mjs. Each contender has a file in page/.

import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { launchChromium } from "../harness/chromium.mjs";
import { launchFirefox } from "../harness/firefox.mjs";
import { serve } from "../harness/server.mjs";
import { WebKit } from "../harness/webkit.mjs";
import { measureLearning } from "./learn.mjs";
import { chosen, parse } from "./options.mjs";
import { casesFor } from "./page/cases.mjs";
import { environment, openBench } from "./page.mjs";
import { measurePage } from "./playground.mjs";
import { publish, say } from "./report.mjs";

const root = resolve(import.meta.dirname, "../..");
const peers = [
  "onnxruntime-web",
  "@tensorflow/tfjs-core",
  "@tensorflow/tfjs-backend-wasm",
  "@jax-js/jax",
  "@wllama/wllama",
];
// Addresses use the last part of the package's name.
const gradients = join(root, "build/bench");
const built = (name) => (name === "@wllama/wllama" ? "esm" : "dist");
const folders = {
  bench: join(import.meta.dirname, "page"),
  heed: join(root, "dist"),
  gradients,
  ...Object.fromEntries(
    peers.map((name) => [basename(name), join(root, "node_modules", name, built(name))]),
  ),
};
const starts = 7;

/**
 * Parts of tfjs that no file has in a form that a page can load. They access its engine by a global
 * name.
 */
const bundleGradients = () =>
  build({
    ...{ configFile: false, logLevel: "error", root },
    build: {
      ...{ outDir: gradients, minify: false },
      lib: {
        entry: join(folders["tfjs-core"], "register_all_gradients.js"),
        ...{ formats: ["es"], fileName: () => "gradients.js" },
      },
    },
  });

/** Gives WebKit the parts of playwright's browser that the bench needs; WebKit has one page here. */
async function launchWebKit() {
  const webkit = await WebKit.launch();
  return {
    version: () => webkit.version,
    newPage: () => ({
      on() {},
      goto: (url) => webkit.goto(url),
      evaluate: (call, argument) => webkit.evaluate(String(call), [argument]),
      close: () => webkit.goto("about:blank"),
    }),
    close: () => webkit.close(),
  };
}

const median = (samples) => samples.toSorted((a, b) => a - b)[samples.length >> 1];

/**
 * Measures the cases. `known` keeps the right answers, which cases that differ only in the type of
 * weights or in the number of threads share.
 */
async function measureAll(ask, cases, given, known) {
  const rows = [];
  for (const { name, answer = name } of cases) {
    say(`${name}, ${given.threads} thread(s)`);
    const argument = { name, ...given, expected: known.get(answer) };
    const { row, expected } = await ask("measure", argument);
    if (expected) known.set(answer, expected);
    rows.push(row);
  }
  return rows;
}

/** Measures the size and the start of each binary. */
async function measureStart(ask, variants, quick) {
  const rows = [];
  for (const variant of variants) {
    say(`starting ${variant}`);
    const samples = [];
    for (let i = 0; i < (quick ? 1 : starts); ++i)
      samples.push(await ask("start", { variant, threads: 1, quick }));
    const wasm = readFileSync(join(folders.heed, `heed-${variant}.wasm`));
    rows.push({
      variant,
      bytes: gzipSync(wasm, { level: 9 }).length,
      ready: median(samples.map(({ ready }) => ready)),
      first: median(samples.map(({ first }) => first)),
      later: median(samples.flatMap(({ later }) => later)),
    });
  }
  return rows;
}

async function main() {
  const options = parse();
  const { firefox, models, quick, revectorize, train, webkit } = options;
  if (options.learn !== undefined) return measureLearning(options);
  if (options.page) return measurePage(options);
  const cases = chosen(casesFor(options), options);
  await bundleGradients();
  const server = await serve(folders);
  let browser;
  try {
    const flags = revectorize ? ["--js-flags=--wasm-revectorize"] : [];
    const [browserName, launch] = firefox
      ? ["Firefox", launchFirefox]
      : webkit
        ? ["WebKitGTK", launchWebKit]
        : ["Chromium", () => launchChromium(...flags)];
    browser = await launch();
    const version = (await browser.version()).split("/").at(-1);
    // In a whole run, each case has a page of its own, so it meets no memory or code of another.
    let bench;
    const ask = async (method, argument) => {
      bench ??= await openBench(browser, server.url);
      try {
        return await bench.ask(method, argument);
      } finally {
        if (!quick) bench = await bench.close();
      }
    };
    const runtime = [browserName, version, ...(revectorize ? ["with --wasm-revectorize"] : [])];
    const where = environment(runtime.join(" "), peers);
    const variants = revectorize ? ["wide", "relaxed"] : await ask("variants");
    const start = train || models ? undefined : await measureStart(ask, variants, quick);
    const groups = [];
    const known = new Map();
    for (const threads of options.threads) {
      const limits = await ask("limits", { threads, quick, variants, models });
      const own = cases.filter(({ isLong }) => threads === 1 || !isLong);
      const rows = await measureAll(ask, own, { threads, quick, variants }, known);
      groups.push({ threads, limits, rows });
    }
    publish({ ...where, quick, start, groups }, options);
  } finally {
    await browser?.close();
    server.stop();
  }
}

try {
  await main();
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
