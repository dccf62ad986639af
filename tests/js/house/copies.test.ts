// The package as a bundler may leave it: minified, and evaluated more than once. WebKit evaluates a worker's entry
// again if another module imports it.

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { version } from "../../../package.json";
import { engineFiles } from "../engine.js";

type Package = typeof import("heed") & typeof import("heed/nn") & typeof import("heed/models");

const root = join(import.meta.dirname, "../../..");
const folder = join(root, "build/copies");
let first: Package;
let second: Package;
/** A copy that reports another version. */
let stranger: Package;
let heed: import("heed").Heed;

beforeAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const entry = join(folder, "entry.js");
  const names = ["index", "nn", "models"].map((name) => `export * from "../../dist/${name}.js";`);
  writeFileSync(entry, names.join("\n"));
  await build({
    root: folder,
    configFile: false,
    logLevel: "silent",
    build: {
      lib: { entry, formats: ["es"], fileName: "bundle" },
      rolldownOptions: { output: { minify: true, codeSplitting: false } },
      outDir: folder,
      emptyOutDir: false,
    },
  });
  for (const name of engineFiles) cpSync(join(root, "dist", name), join(folder, name));
  const text = readFileSync(join(folder, "bundle.js"), "utf8");
  writeFileSync(join(folder, "stranger.js"), text.replaceAll(version, "9.9.9"));
  const load = (file: string) => import(pathToFileURL(join(folder, file)).href);
  first = await load("bundle.js?copy=1");
  second = await load("bundle.js?copy=2");
  stranger = await load("stranger.js");
  heed = await first.load({ threads: 1, wasmUrl: pathToFileURL(join(root, "dist/")) });
});

afterAll(() => {
  heed?.dispose();
  rmSync(folder, { recursive: true, force: true });
});

test("two copies accept each other's objects", () => {
  expect(second.load).not.toBe(first.load);
  expect(Object.getOwnPropertySymbols(globalThis)).toContain(Symbol.for(`heed ${version}`));
  const { nn } = second;
  const linear = new nn.Linear(heed, 2, 3);
  expect(linear).toBeInstanceOf(first.nn.Linear);
  expect(linear).toBeInstanceOf(first.nn.Module);
  expect(linear).not.toBeInstanceOf(first.nn.Dropout);
  class Own extends first.nn.Linear {}
  expect(linear).not.toBeInstanceOf(Own);
  expect(new Own(heed, 2, 3)).toBeInstanceOf(nn.Linear);
  expect({}).not.toBeInstanceOf(nn.Module);
  expect(null).not.toBeInstanceOf(nn.Module);
  expect(Object.keys(linear.stateDict())).toEqual(["weight", "bias"]);
  const inTwo = new first.nn.TransformerEncoderLayer(heed, 4, 2, { dropout: 0 });
  const x = heed.ones([1, 3, 4]);
  let weights: number[] | undefined;
  nn.captureAttention(
    inTwo,
    (_, found) => {
      weights = found.shape as number[];
    },
    () => inTwo.forward(x),
  );
  expect(weights).toEqual([1, 2, 3, 3]);
});

test("one copy computes gradients through the operations of another", () => {
  const x = heed.tensor([1, 2, 3]);
  const sum = () => heed.sum(heed.multiply(x, x));
  for (const { valueAndGrad } of [first, second]) {
    const { gradients } = valueAndGrad([x], sum);
    expect([...(gradients[0]?.data ?? [])]).toEqual([2, 4, 6]);
  }
});

test("two copies share the default generator", () => {
  const weights = (copy: Package) => [...new copy.nn.Linear(heed, 4, 4).weight.data];
  first.nn.manualSeed(heed, 7);
  const [a, b] = [weights(first), weights(first)];
  second.nn.manualSeed(heed, 7);
  expect([weights(second), weights(first)]).toEqual([a, b]);
});

test("an error of one copy is an instance of the other's class", () => {
  const refused = () => heed.attention(heed.ones([2, 8]), heed.ones([2, 8]), heed.ones([2, 8]));
  expect(refused).toThrow(first.HeedError);
  expect(refused).toThrow(second.HeedError);
});

test("messages have the names of classes that the bundler has shortened", () => {
  const { nn, optim } = first;
  const linear = new nn.Linear(heed, 2, 2);
  expect(linear.constructor.name).not.toBe("Linear");
  const things = {
    Linear: linear,
    Heed: heed,
    Generator: new nn.Generator(),
    Adam: new optim.Adam(linear),
    KvCache: heed.createKvCache({ heads: 1, headSize: 4, capacity: 2 }),
    TransformerEncoder: new nn.TransformerEncoder(heed, 4, 1, 1),
  };
  for (const [name, thing] of Object.entries(things))
    expect(() => heed.softmax(thing as never), name).toThrow(
      new RegExp(`expected a tensor, got an? ${name}$`),
    );
  expect(() => new nn.Linear(heed.ones([1]) as never, 2, 2)).toThrow(
    "heed: expected an engine returned by load(), got a Tensor",
  );
  class Residual extends nn.Linear {}
  expect(() => heed.softmax(new Residual(heed, 2, 2) as never)).toThrow("got a Residual");
});

test("objects of another version are refused with the name of that version", () => {
  expect(() => new stranger.nn.Linear(heed as never, 2, 2)).toThrow(
    `heed: expected an engine returned by load(), got a Heed that another copy of heed (${version}) made`,
  );
  expect(() => heed.softmax(new stranger.nn.Generator() as never)).toThrow(
    "expected a tensor, got a Generator that another copy of heed (9.9.9) made",
  );
});
