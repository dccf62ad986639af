// The layers of the code (CONTRIBUTING.md), checked by reading includes and imports. Each rule has an example of
// a file that breaks it, which proves that the rule can fail.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { exports as entries } from "../../../package.json";
import { run } from "../child.js";

const root = join(import.meta.dirname, "../../..");

interface Source {
  /** The path from the root of the repository. */
  path: string;
  text: string;
}

function sourcesIn(folder: string): Source[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/node_modules|dist/.test(entry.parentPath))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => /\.(cpp|hpp|h|ts|tsx|js|mjs|css)$/.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

const sources = ["include", "src", "bindings", "web"].flatMap(sourcesIn);

/** Returns the includes of a C++ file, with their quotes or brackets. */
function includes({ text }: Source): string[] {
  return [...text.matchAll(/^\s*#\s*include\s*(["<][^">]*[">])/gm)].map(
    ([, name]) => name as string,
  );
}

/** The conditions of conditional compilation. */
function conditions({ text }: Source): string[] {
  return [...text.matchAll(/^\s*#\s*(?:el)?if(?:n?def)?\b(.*)$/gm)].map(([line]) => line.trim());
}

/**
 * Returns the imports of a TypeScript file, without imports in examples of comments. Relative ones are resolved to
 * paths.
 */
function imports({ path, text }: Source): string[] {
  // A text "from" is no import.
  const specifier =
    /(?:(?<!["'])\bfrom\s*|\bimport\s*\(?\s*|\bnew\s+URL\s*\(\s*)(["'])([^"'\n]+)\1/g;
  const code = text.replace(/^\s*(\*|\/\/).*$/gm, "");
  return [...code.matchAll(specifier)].map(([, , name]) =>
    name?.startsWith(".") ? normalize(join(dirname(path), name)) : (name as string),
  );
}

/** Returns the selectors and at-rules of a style sheet that are nested in no other. */
function outermostRules({ text }: Source): string[] {
  let depth = 0;
  return text
    .replace(/\/\*.*?\*\//gs, "")
    .split(/(?<=[{}])/)
    .flatMap((part) => {
      const isOutermost = depth === 0 && part.endsWith("{");
      depth += part.endsWith("{") ? 1 : part.endsWith("}") ? -1 : 0;
      return isOutermost ? [part.slice(0, -1).trim()] : [];
    });
}

interface Rule {
  says: string;
  /** The files to which the rule applies. */
  about: RegExp;
  reads(source: Source): string[];
  allows(found: string, path: string): boolean;
  brokenBy: Source;
}

function breaches(rule: Rule, files: readonly Source[]): string[] {
  return files
    .filter(({ path }) => rule.about.test(path))
    .flatMap((source) =>
      rule
        .reads(source)
        .filter((found) => !rule.allows(found, source.path))
        .map((found) => `${source.path}: ${found}`),
    );
}

const isStandard = (name: string) => /^<[a-z_]+>$/.test(name);
const isOneOf =
  (...patterns: RegExp[]) =>
  (name: string) =>
    isStandard(name) || patterns.some((pattern) => pattern.test(name));

const instructionSet =
  /__(wasm|x86_64|i386|aarch64|arm|ARM|AVX|SSE|FMA|F16C|NEON)|_M_(X64|IX86|ARM)|HEED_ISA|XSIMD_/;

/** The names by which users import the package: "heed" and every other entry that exports code. */
const publicEntries = Object.keys(entries)
  .filter((name) => !/\.(wasm|mjs|json)$/.test(name))
  .map((name) => name.replace(/^\./, "heed"));

/** Returns the room of the page to which a file belongs; null outside the rooms. */
const roomOf = (path: string) => /^web\/src\/rooms\/([^/]+)\//.exec(path)?.[1] ?? null;

const rules: Rule[] = [
  {
    says: "include/heed knows the standard library and itself",
    about: /^include\//,
    reads: includes,
    allows: isOneOf(/^"heed\//),
    brokenBy: { path: "include/heed/a.hpp", text: '#include "runtime/arena.hpp"\n' },
  },
  {
    says: "simd knows xsimd and the instruction sets' own headers",
    about: /^src\/simd\//,
    reads: includes,
    allows: isOneOf(/^<xsimd\//, /^<(wasm_simd128|immintrin|arm_neon)\.h>$/, /^"simd\//),
    brokenBy: { path: "src/simd/a.hpp", text: '#include "kernels/product/pack.hpp"\n' },
  },
  {
    says: "kernels know simd",
    about: /^src\/kernels\//,
    reads: includes,
    allows: isOneOf(/^"simd\//, /^"kernels\//),
    brokenBy: {
      path: "src/kernels/a.hpp",
      text: '#include <cmath>\n  # include "heed/heed.hpp"\n',
    },
  },
  {
    says: "ops know the table of kernels, elementary functions, the runtime and include/heed",
    about: /^src\/ops\//,
    reads: includes,
    allows: isOneOf(/^"ops\//, /^"kernels\/(table|elementary)\.hpp"$/, /^"runtime\//, /^"heed\//),
    brokenBy: { path: "src/ops/a.cpp", text: '#include "kernels/attention/flash_attention.hpp"\n' },
  },
  {
    says: "the runtime knows the table of kernels and include/heed",
    about: /^src\/runtime\//,
    reads: includes,
    allows: (name, path) =>
      isOneOf(/^"runtime\//, /^"kernels\/table\.hpp"$/, /^"heed\//)(name) ||
      (/thread_pool/.test(path) && name === "<pthread.h>") ||
      (path === "src/runtime/memory.cpp" && name === "<sanitizer/asan_interface.h>") ||
      // This file chooses the instruction set.
      (path === "src/runtime/context.cpp" && name === '"simd/isa.hpp"'),
    brokenBy: { path: "src/runtime/arena.cpp", text: '#include "simd/isa.hpp"\n' },
  },
  {
    says: "the reference knows include/heed",
    about: /^src\/reference\//,
    reads: includes,
    allows: isOneOf(/^"reference\//, /^"heed\//),
    brokenBy: { path: "src/reference/a.hpp", text: '#include "simd/vector.hpp"\n' },
  },
  {
    says: "only embind.cpp knows Emscripten",
    about: /^(include|src|bindings)\/.*\.[ch]pp$/,
    reads: includes,
    allows: (name, path) => path === "bindings/embind.cpp" || !/emscripten/.test(name),
    brokenBy: { path: "src/runtime/a.cpp", text: "#include <emscripten/threading.h>\n" },
  },
  {
    says: "the border knows Emscripten and its allocator, itself and include/heed",
    about: /^bindings\/.*\.[ch]pp$/,
    reads: includes,
    allows: isOneOf(
      /^<emscripten\//,
      /^<malloc\.h>$/,
      /^"(border|operations|reflection)\.hpp"$/,
      /^"heed\//,
    ),
    brokenBy: { path: "bindings/embind.cpp", text: '#include "runtime/runtime.hpp"\n' },
  },
  {
    says: "only simd tells instruction sets apart",
    about: /^(include|src|bindings)\/.*\.[ch]pp$/,
    reads: conditions,
    allows: (condition, path) => path.startsWith("src/simd/") || !instructionSet.test(condition),
    brokenBy: { path: "src/kernels/a.hpp", text: "#ifdef __AVX2__\n#endif\n" },
  },
  {
    says: "bindings/js knows itself and the types of the generated module",
    about: /^bindings\/js\//,
    reads: imports,
    allows: (name) =>
      // The module is loaded at run time, from the folder of the entry.
      /^bindings\/js\/(([a-z]+\/)*[\w-]+\.js|heed-(simd|relaxed|wide)\.(mjs|wasm))$/.test(name),
    brokenBy: { path: "bindings/js/a.ts", text: 'import { page } from "../../web/src/page.js";' },
  },
  {
    says: "operations know no modules, optimisers or files",
    about: /^bindings\/js\/((core|load|ops)\/.*|addresses|heed|index|methods)\.ts$/,
    reads: imports,
    allows: (name) => !/^bindings\/js\/(nn|models)(\/.*)?\.js$/.test(name),
    brokenBy: { path: "bindings/js/ops/a.ts", text: 'import { Linear } from "../nn/layers.js";' },
  },
  {
    says: "files of attention weights are read without an engine",
    about: /^bindings\/js\/(view\/files\/.*|core\/(objects|safetensorsHeader))\.ts$/,
    reads: imports,
    allows: (name) =>
      /^bindings\/js\/(view\/files\/\w+|core\/(error|objects|safetensorsHeader))\.js$/.test(name),
    brokenBy: {
      path: "bindings/js/view/files/a.ts",
      text: 'import { isRecord } from "../../core/validate.js";',
    },
  },
  {
    says: "the drawing of pictures knows itself",
    about: /^bindings\/js\/view\/picture\//,
    reads: imports,
    allows: (name) => /^bindings\/js\/view\/picture\//.test(name),
    brokenBy: {
      path: "bindings/js/view/picture/a.ts",
      text: 'import { Legend } from "../parts/legend.js";',
    },
  },
  {
    says: "the parts of the elements know the drawing of pictures and what of the core needs no engine",
    about: /^bindings\/js\/view\/parts\//,
    reads: imports,
    allows: (name) =>
      /^bindings\/js\/(view\/(parts|picture)\/.*|core\/(copies|error|objects|safetensorsHeader))\.js$/.test(
        name,
      ),
    brokenBy: {
      path: "bindings/js/view/parts/a.ts",
      text: 'import { HeedElement } from "../elements/element.js";',
    },
  },
  {
    says: "pictures know what of the core needs no engine, and no operations, modules and models",
    about: /^bindings\/js\/(view|viewParts|viewPage)(\/.*)?\.ts$/,
    reads: imports,
    allows: (name) =>
      /^bindings\/js\/(view\/.*|core\/(copies|error|objects|safetensorsHeader))\.js$/.test(name),
    brokenBy: {
      path: "bindings/js/view/elements/a.ts",
      text: 'import type { Tensor } from "../../core/tensor.js";',
    },
  },
  {
    says: "the page knows itself, the package's public entries and #parts",
    about: /^web\//,
    reads: imports,
    allows: (name) =>
      [...publicEntries, "#parts"].includes(name) ||
      name.startsWith("web/") ||
      name === "build/web" || // the page as built, which its server serves
      // Any other package, tool or address, but no other way into this one.
      !/^(#|(\.\.|bindings|dist|build|src|heed)(\/|$))/.test(name),
    brokenBy: { path: "web/src/a.ts", text: 'const m = await import("../../dist/index.js");' },
  },
  {
    says: "a room of the page knows no other room and not the app",
    about: /^web\/src\/rooms\//,
    reads: imports,
    allows: (name, path) =>
      !name.startsWith("web/src/app/") && [null, roomOf(path)].includes(roomOf(name)),
    brokenBy: {
      path: "web/src/rooms/models/tasks/View.tsx",
      text: 'import { Sound } from "../../learn/state";\nimport type { State } from "./state";',
    },
  },
  {
    says: "a style sheet of a room applies in that room alone",
    about: /^web\/src\/rooms\/.*\.css$/,
    reads: outermostRules,
    allows: (selector, path) => selector === `main.${roomOf(path)}`,
    brokenBy: {
      path: "web/src/rooms/models/tasks/tasks.css",
      text: "/* main.models { */\nmain.models {\n  .a {}\n}\n@media print {\n  main.models {}\n}\n",
    },
  },
  {
    says: "the style sheet of the whole network applies there alone",
    about: /^web\/src\/network\/.*\.css$/,
    reads: outermostRules,
    allows: (selector) => selector === ".network",
    brokenBy: { path: "web/src/network/network.css", text: ".network {}\n.part {}\n" },
  },
  {
    says: "what the rooms share knows neither rooms nor the app, but for the worker's list of solvers",
    about: /^web\/src\/(network|picture|shared|worker)\//,
    reads: imports,
    allows: (name, path) =>
      !/^web\/src\/(app|rooms)\//.test(name) || path === "web/src/worker/solvers.ts",
    brokenBy: { path: "web/src/shared/a.ts", text: 'import type { Link } from "../app/link";' },
  },
  {
    says: "no file imports the entry of the page's worker",
    about: /^web\/src\//,
    reads: ({ path, text }) => imports({ path, text: text.replace(/new URL\([^)]*\)/g, "") }),
    allows: (name) => !/\.worker(\.ts)?$/.test(name),
    brokenBy: { path: "web/src/app/a.ts", text: 'import { x } from "../worker/engine.worker";' },
  },
];

/** The names of #parts that none of the files imports. */
function unusedBy(files: readonly Source[], names: readonly string[]): string[] {
  const lists = files.flatMap(({ text }) =>
    [...text.matchAll(/import \{([^}]*)\} from "#parts"/g)].map(([, list]) => list),
  );
  return names.filter((name) => !lists.some((list) => list?.match(/\w+/g)?.includes(name)));
}

describe("the layers", () => {
  for (const rule of rules) {
    test(rule.says, () => {
      expect(sources.some(({ path }) => rule.about.test(path))).toBe(true);
      expect(breaches(rule, sources)).toEqual([]);
    });

    test(`${rule.says}: a file that breaks this is found`, () => {
      expect(breaches(rule, [rule.brokenBy])).toHaveLength(1);
    });
  }

  test("the page reaches the package by its name", () => {
    const used = sources.filter(({ path }) => path.startsWith("web/")).flatMap(imports);
    expect(used.filter((name) => publicEntries.includes(name))).not.toEqual([]);
  });

  test("the page uses each value of #parts", async () => {
    const page = sources.filter(({ path }) => path.startsWith("web/src/"));
    expect(unusedBy(page, Object.keys(await import("#parts")))).toEqual([]);
    expect(unusedBy(page, ["format", "neverUsed"])).toEqual(["neverUsed"]);
  });

  test("all ways to write an import are read", () => {
    const text = `
      import a, { type B } from "./a.js";
      export * from './b.js';
      import "../c.js";
      const d = await import( "d/e" );
      const f = new Worker(new URL("./f.ts", import.meta.url));
      /**
       * const g = await import("./g.js");
       */
      // import h from "./h.js";
      type Way = "from" | "to";
    `;
    const found = imports({ path: "web/src/x.ts", text });
    expect(found).toEqual(["web/src/a.js", "web/src/b.js", "web/c.js", "d/e", "web/src/f.ts"]);
  });
});

describe("the map in CONTRIBUTING.md", () => {
  const text = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
  const house = text.slice(text.indexOf("## The house"), text.indexOf("## Adding"));

  test.each(["src", "bindings/js", "web", "web/src", "tests"])(
    "has all folders of %s",
    (parent) => {
      const folders = readdirSync(join(root, parent), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name);
      expect(folders.length).toBeGreaterThan(3);
      for (const name of folders) expect(house).toMatch(new RegExp(`\\b${name}(/|,| )`));
    },
  );
});

/** The relative paths that a file imports or exports; imports of types alone only `withTypes`. */
const statements =
  (withTypes: boolean) =>
  ({ path, text }: Source): string[] => {
    const statement = /^(?:import|export)\b(\s+type\b)?[^"';]*?\bfrom\s+"(\.[^"]+)"/gm;
    return [...text.matchAll(statement)]
      .filter(([, type]) => withTypes || type === undefined)
      .map(([, , name]) => normalize(join(dirname(path), name as string)));
  };

/** The groups of files each of which depends on all others of its group. */
function circles(files: readonly Source[], read: (file: Source) => string[]): string[][] {
  const paths = new Set(files.map(({ path }) => path));
  const dependencies = (file: Source) =>
    read(file)
      .flatMap((name) => [name.replace(/\.js$/, ".ts"), `${name}.ts`, `${name}.tsx`])
      .filter((path) => paths.has(path));
  const direct = new Map(files.map((file) => [file.path, dependencies(file)]));
  const reached = new Map(
    files.map(({ path }) => {
      const seen = new Set<string>();
      const open = [...(direct.get(path) ?? [])];
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        if (seen.has(next)) continue;
        seen.add(next);
        open.push(...(direct.get(next) ?? []));
      }
      return [path, seen];
    }),
  );
  const groups = files.map(({ path }) =>
    [...(reached.get(path) ?? [])].filter((other) => reached.get(other)?.has(path)).sort(),
  );
  const different = new Set(groups.filter((group) => group.length > 0).map(String));
  return [...different].map((group) => group.split(","));
}

describe("import circles", () => {
  const files = sources.filter(({ path }) => /^bindings\/js\/.*\.ts$/.test(path));

  test("of values in the package: none", () => {
    expect(circles(files, statements(false))).toEqual([]);
  });

  test("of the page, of values or of types: none", () => {
    const page = sources.filter(({ path }) => path.startsWith("web/src/"));
    expect(page.flatMap(imports)).toContain("web/src/picture/Matrix");
    expect(circles(page, imports)).toEqual([]);
  });

  test("of types in the package: a tensor knows its engine, which makes tensors that a tape may record", () => {
    const core = ["engine", "owned", "tape", "tensor", "validate"];
    expect(circles(files, statements(true))).toEqual([
      core.map((name) => `bindings/js/core/${name}.ts`),
    ]);
  });

  test("a circle is found, and whether it is of types or of calls alone", () => {
    const files = [
      { path: "main.tsx", text: 'import { c } from "./c";' },
      { path: "a/b.ts", text: 'import { type C, c } from "../c.js";' },
      { path: "c.ts", text: 'export * from "./d";\nimport { g } from "./g";' },
      { path: "d.tsx", text: 'import type {\n  B,\n} from "./a/b.js";\nimport { c } from "c-d";' },
      { path: "e.ts", text: 'const f = await import("./f");' },
      { path: "f.ts", text: 'import { e } from "./e";' },
      { path: "g.ts", text: "" },
    ];
    const ofTypes = ["a/b.ts", "c.ts", "d.tsx"];
    expect(circles(files, statements(false))).toEqual([]);
    expect(circles(files, statements(true))).toEqual([ofTypes]);
    expect(circles(files, imports)).toEqual([ofTypes, ["e.ts", "f.ts"]]);
  });
});

describe("the length of a file", () => {
  const tooLong = (list: readonly Source[]) =>
    list.filter(({ path, text }) => !/\.css$/.test(path) && text.split("\n").length > 401);

  test("is at most 400 lines", () => {
    const printed = ["bindings/js/core/members.ts", "bindings/js/methods.ts"]; // by the build
    const found = tooLong(sources)
      .map(({ path }) => path)
      .filter((path) => !printed.includes(path));
    expect(found).toEqual([]);
  });

  test("is noticed", () => {
    const file = (lines: number) => ({ path: "a.ts", text: "a();\n".repeat(lines) });
    expect(tooLong([file(400)])).toEqual([]);
    expect(tooLong([file(401)])).toHaveLength(1);
  });
});

describe("the suites of the package", () => {
  const config = readFileSync(join(root, "tests/js/vitest.config.ts"), "utf8");
  const [, listed] = /"tests\/js\/\{([a-z,]+)\}\/\*\.test\.ts"/.exec(config) ?? [];
  const folders = [...(listed as string).split(","), "package", "package/matrix"];

  /** The suites that no project of vitest.config.ts includes: they would not run, and no test would fail. */
  const outside = (paths: readonly string[]) =>
    paths.filter((path) => /\.test\.ts$/.test(path) && !folders.includes(dirname(path)));

  test("stand in a folder that a project includes", () => {
    const paths = readdirSync(join(root, "tests/js"), { recursive: true, encoding: "utf8" });
    expect(outside(paths)).toEqual([]);
  });

  test("a suite in another place is found", () => {
    expect(outside(["new.test.ts", "calls/new.test.ts", "nn/new.test.ts"])).toEqual([
      "new.test.ts",
      "calls/new.test.ts",
    ]);
  });
});

describe("the objects of the kernels", () => {
  // The type by which xsimd knows each instruction set of CMakeLists.txt.
  const tags: Record<string, string> = {
    sse42: "xsimd::sse4_2",
    avx2: "xsimd::fma3<xsimd::avx2>",
    avx2vnni: "heed::simd::Avx2Vnni",
    avx512: "xsimd::avx512bw",
    avx512vnni: "xsimd::avx512vnni<xsimd::avx512bw>",
    neon64: "xsimd::neon64",
    neon64dot: "heed::simd::Neon64Dot",
  };

  /**
   * The functions of an object file that other files may call, from the output of `nm -C`: the linker sees them, and
   * their names do not contain the instruction set that they need.
   */
  function sharedFunctions(symbols: string, tag: string): string[] {
    return symbols
      .split("\n")
      .map((line) => /^[0-9a-f]* +([TWi]) (.*)$/.exec(line))
      .flatMap((match) => (match === null || match[2]?.includes(tag) ? [] : [match[2] as string]));
  }

  const folder = join(root, "build/native/CMakeFiles");
  const sets = (existsSync(folder) ? readdirSync(folder) : [])
    .map((name) => /^heed_kernels_(\w+)\.dir$/.exec(name)?.[1])
    .filter((name) => name !== undefined);

  test("define no function with their instructions that other files share", async ({ skip }) => {
    if (sets.length === 0) skip("build/native is not there: ./dev build native makes it");
    if ((await run("nm", ["--version"]).catch(() => null)) === null) skip("there is no nm");
    for (const set of sets) {
      const source = /(vnni|dot)$/.test(set) ? "byte_table" : "table";
      const object = join(folder, `heed_kernels_${set}.dir/src/kernels/${source}.cpp.o`);
      const { status, output } = await run("nm", ["-C", "--defined-only", object]);
      expect(status).toBe(0);
      const tag = tags[set];
      if (tag === undefined) expect.fail(`${set}: an instruction set this test does not know`);
      expect(output).toContain(`kernel_table<${tag}`);
      expect(sharedFunctions(output, tag)).toEqual([]);
    }
  });

  test("a shared function is found", () => {
    const symbols = [
      "0000000000000000 W bool heed::kernels::pack_columns<xsimd::avx512bw>(float const*, long)",
      "0000000000000010 W float const& std::max<float>(float const&, float const&)",
      "0000000000000020 t heed::kernels::(anonymous namespace)::own()",
      "0000000000000000 V DW.ref.__gxx_personality_v0",
      "0000000000000030 T heed::kernels::open(long)",
      "0000000000000000 u heed::kernels::kernel_table<xsimd::avx512bw>()::kTable",
    ].join("\n");
    expect(sharedFunctions(symbols, "xsimd::avx512bw")).toEqual([
      "float const& std::max<float>(float const&, float const&)",
      "heed::kernels::open(long)",
    ]);
  });
});
