// The command line of ./dev bench.

import { parseArgs } from "node:util";

const usage = `Usage: ./dev bench [--firefox | --webkit | --native] [--train | --models | --learn NAMES | --page | --view] [ARGS]
       ./dev bench --codegen

  --firefox     in Firefox instead of Chromium
  --webkit      in WebKitGTK, which has Safari's engine, instead of Chromium
  --revectorize in Chromium with --wasm-revectorize, which merges vectors into 256 bits for every contender
  --train       training instead: gradients, a whole step, and non-local means
  --models      language models instead, with random weights: prompts and tokens of two decoders, texts of an encoder
  --learn NAMES how long models of the repository take to learn in a page, such as reverse-transformer,dates-dot
  --page        how smoothly the Playground moves: longest frame and frames per second in every room
  --view        how soon the elements of heed/view show large attention, and how smoothly they follow the pointer
  --native      the native build beside onnxruntime-node, without a browser
  --codegen     what V8 makes of the inner loops of products: counts, without a browser
  --threads N   measure with N threads too, besides one; N may be a list: 2,4
  --only TEXT   only the cases that have TEXT in their name
  --json FILE   write every figure to a file
  --readme      write the tables into tests/bench/RESULTS.md, in a section of this machine's own, and of a
                run in Chromium an excerpt into README.md
  --quick       small cases and few rounds: shows that the bench works, not how fast anything is
`;

const maxThreads = 64;

export function parse() {
  try {
    const { values } = parseArgs({
      options: {
        firefox: { type: "boolean", default: false },
        webkit: { type: "boolean", default: false },
        revectorize: { type: "boolean", default: false },
        native: { type: "boolean", default: false },
        train: { type: "boolean", default: false },
        models: { type: "boolean", default: false },
        learn: { type: "string" },
        page: { type: "boolean", default: false },
        view: { type: "boolean", default: false },
        codegen: { type: "boolean", default: false },
        threads: { type: "string", default: "1" },
        only: { type: "string", default: "" },
        json: { type: "string" },
        readme: { type: "boolean", default: false },
        quick: { type: "boolean", default: false },
      },
    });
    const threads = values.threads.split(",").map(Number);
    if (!threads.every((count) => Number.isInteger(count) && count >= 1 && count <= maxThreads))
      throw new Error(
        `--threads: expected whole numbers from 1 to ${maxThreads}, got ${values.threads}`,
      );
    const places = ["firefox", "webkit", "native"].filter((name) => values[name]);
    if (places.length > 1) throw new Error(`--${places.join(", --")}: expected one of them`);
    if (values.native && values.train) throw new Error("--native, --train: expected one of them");
    const topics = ["native", "train", "learn", "page"].filter((name) => values[name]);
    if (values.models && topics.length > 0)
      throw new Error(`--models: expected no --${topics[0]} beside it`);
    if (values.learn !== undefined && (values.native || values.webkit || values.train))
      throw new Error("--learn: expected neither --native, --webkit nor --train beside it");
    if (
      values.page &&
      (values.native || values.webkit || values.train || values.learn !== undefined)
    )
      throw new Error("--page: expected neither --native, --webkit, --train nor --learn beside it");
    const others = ["firefox", "webkit", "native", "learn", "page"].filter((name) => values[name]);
    if (values.revectorize && others.length > 0)
      throw new Error(`--revectorize: expected no --${others[0]} beside it`);
    const given = Object.keys(values).filter((name) => values[name] === true && name !== "view");
    if (values.view && (given.length > 0 || values.learn !== undefined))
      throw new Error(
        `--view: expected nothing but --only beside it, got --${given[0] ?? "learn"}`,
      );
    if (values.codegen && process.argv.length > 3)
      throw new Error("--codegen: expected nothing beside it");
    if (values.readme && (values.quick || values.only))
      throw new Error("--readme: expected a whole run, not one with --quick or --only");
    return { ...values, threads: [...new Set([1, ...threads])] };
  } catch (error) {
    process.stderr.write(`bench: ${error.message}\n${usage}`);
    process.exit(2);
  }
}

/** The requested cases, at least one. */
export function chosen(cases, { only }) {
  const all = cases.filter(({ name }) => name.includes(only));
  if (all.length > 0) return all;
  const names = cases.map(({ name }) => `  ${name}`).join("\n");
  throw new Error(`--only: expected a part of one of these names, got ${only}\n${names}`);
}
