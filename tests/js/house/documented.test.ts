// Every public symbol has a description, shapes, errors and an example. The examples compile, run and print the text of
// their comments. Examples of doc comments begin with an engine, `heed`, and may use all names that the entries export.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type ApiSymbol, readApi } from "../../../web/docs/api.mjs";
import { declarations, examplesOf, headers, namesIn } from "../../../web/docs/headers.mjs";
import { compile, succeed } from "../child.js";

const root = join(import.meta.dirname, "../../..");
const build = join(root, "build/examples");

const { symbols, warnings } = await readApi();

const callable = ["function", "method", "constructor"];
const withMembers = symbols.flatMap((symbol) => [symbol, ...symbol.members]);
const withOwner = symbols.flatMap((owner) => owner.members.map((member) => ({ owner, member })));

/** All words about a symbol. */
const wordsOf = ({ summary, parameters, returns }: ApiSymbol) =>
  [summary, ...parameters.map(({ text }) => text), returns].join("\n");

/** A shape such as [B, L, E], or words that say that there is none or that all are accepted. */
const shape =
  /\[[^\]]*\]|\bany shape\b|\bone number\b|\bone element\b|\bscalar\b|\bshape of\b|\bsame shape\b/;

const hasTensor = ({ code }: ApiSymbol) => /\bTensor\b/.test(code);

/** Names of the symbols to which a condition applies, for a list that a failing test shows. */
const namesOf = (list: readonly ApiSymbol[], fails: (symbol: ApiSymbol) => boolean) =>
  list.filter(fails).map(({ id }) => id);

test("the entries have symbols, and comments only links that lead somewhere", () => {
  expect(new Set(symbols.map(({ entry }) => entry)).size).toBeGreaterThanOrEqual(3);
  expect(symbols.length).toBeGreaterThan(200);
  expect(warnings).toEqual([]);
});

describe("Every public symbol", () => {
  test("has words", () => {
    // The description of a class is also the description of its constructor.
    const fails = ({ kind, summary }: ApiSymbol) => kind !== "constructor" && summary === "";
    expect(namesOf(withMembers, fails)).toEqual([]);
  });

  test("that takes or returns a tensor says its shape", () => {
    const list = withMembers.filter(({ kind }) => ["function", "method"].includes(kind));
    expect(namesOf(list, (one) => hasTensor(one) && !shape.test(wordsOf(one)))).toEqual([]);
  });

  test("that may throw says so: functions, and methods of an engine that take something", () => {
    const list = [
      ...symbols.filter(({ kind, code }) => kind === "function" && !/\(\)/.test(code)),
      ...symbols.filter(({ id }) => id === "heed.Heed").flatMap(({ members }) => members),
    ].filter(({ kind, code }) => callable.includes(kind) && !/\(\):/.test(code));
    expect(namesOf(list, ({ throws }) => throws.length === 0)).toEqual([]);
  });

  test("that computes has an example: functions, classes, values and methods of an engine", () => {
    const isValue = ({ kind }: ApiSymbol) => ["function", "class", "variable"].includes(kind);
    const methods = withOwner
      .filter(({ owner, member }) => owner.id === "heed.Heed" && member.kind === "method")
      .map(({ member }) => member);
    const list = [...symbols.filter(isValue), ...methods];
    expect(namesOf(list, ({ examples }) => examples.length === 0)).toEqual([]);
  });

  test("that is a type belongs to one with an example, by its declaration or by its members", () => {
    const codes = withMembers.map(({ id, code }) => ({ id, code }));
    const isUsed = (name: string, own: string) =>
      codes.some(
        ({ id, code }) => !`${id}.`.startsWith(`${own}.`) && RegExp(`\\b${name}\\b`).test(code),
      );
    const types = symbols.filter(({ kind }) => kind === "type");
    const fails = ({ id, name, examples, code }: ApiSymbol) =>
      examples.length === 0 &&
      !isUsed(name.split(".").at(-1) as string, id) &&
      !/\bError/.test(code);
    expect(namesOf(types, fails)).toEqual([]);
  });

  test("of the C++ headers has words", () => {
    const bare = headers().flatMap(({ name, text }) =>
      declarations(text)
        .filter((part) => "code" in part && part.comment === "")
        .map((part) => `${name}: ${"name" in part ? part.name : ""}`),
    );
    expect(bare).toEqual([]);
  });

  // The suite Example of tests/cpp has them: they are compiled and run with the other tests of C++.
  test("of the C++ headers is used in an example; a type may belong to a function that is", () => {
    const parts = headers()
      .flatMap(({ text }) => declarations(text))
      .flatMap((part) => ("code" in part ? [part] : []));
    const isUsed = (name: string) => examplesOf([name]).length > 0;
    const codes = parts.filter((part) => namesIn(part).some(isUsed)).map(({ code }) => code);
    const bare = parts.flatMap(({ name: own, code }) =>
      namesIn({ name: own, code }).filter((name) => {
        const isType = RegExp(`^(class|struct|enum class) ${name}\\b`, "m").test(code);
        const isPart = RegExp(`\\b${name}\\b`);
        const belongs = codes.some((other) => other !== code && isPart.test(other));
        return !isUsed(name) && !(isType && belongs);
      }),
    );
    expect(bare).toEqual([]);
    expect(parts.length).toBeGreaterThan(100);
  });
});

interface Example {
  id: string;
  code: string;
  /** The lines that it should print. */
  prints: string[];
}

const examples: Example[] = withMembers.flatMap(({ id, examples }) =>
  examples.map((code) => ({
    id,
    code,
    prints: [...code.matchAll(/\/\/ prints: (.*)$/gm)].map(([, line]) => line as string),
  })),
);

/** The imports of all names of the entries; a name that two entries have is the first one's. */
function imports(): string {
  const taken = new Set<string>();
  const entries = [...new Set(symbols.map(({ entry }) => entry))];
  return entries
    .map((entry) => {
      const names = symbols
        .filter((symbol) => symbol.entry === entry)
        .map(({ name }) => name.split(".")[0] as string)
        .filter((name) => !taken.has(name) && taken.add(name));
      return `import { ${[...new Set(names)].join(", ")} } from "${entry}";`;
    })
    .join("\n");
}

/** One program of all examples, each a function, because to compile and load one takes seconds. */
function program(): string {
  const functions = examples.map(({ code }, i) => `async function example${i}() {\n${code}\n}`);
  return `${imports()}
import { writeFileSync } from "node:fs";
import { formatWithOptions } from "node:util";

const heed = await load();
let printed: string[] = [];
console.log = (...words: unknown[]) => {
  printed.push(...formatWithOptions({ colors: false }, ...words).split("\\n"));
};
const results: { lines: string[]; error: string | null }[] = [];
async function run(example: () => Promise<void>) {
  printed = [];
  const error = await example().then(() => null, (error) => String(error?.stack ?? error));
  results.push({ lines: printed, error });
}
${functions.join("\n\n")}
${functions.map((_, i) => `await run(example${i});`).join("\n")}
writeFileSync("results.json", JSON.stringify(results));
heed.dispose();
`;
}

describe("The example of", () => {
  let results: { lines: string[]; error: string | null }[] = [];

  beforeAll(async () => {
    rmSync(build, { recursive: true, force: true });
    mkdirSync(build, { recursive: true });
    writeFileSync(join(build, "examples.mts"), program());
    await compile([join(build, "examples.mts")], ["--skipLibCheck", "--module", "NodeNext"]);
    await succeed(process.execPath, ["examples.mjs"], { cwd: build, limit: 240_000 });
    results = JSON.parse(readFileSync(join(build, "results.json"), "utf8"));
  }, 500_000);

  test.for(examples.map(({ id }, i) => [id, i] as const))("%s prints what it says", ([, i]) => {
    const { prints } = examples[i] as Example;
    expect(prints).not.toEqual([]);
    expect(results[i]).toEqual({ lines: prints, error: null });
  });
});
