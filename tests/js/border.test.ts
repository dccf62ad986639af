// The border (bindings/js/core/border.ts) passes bare numbers. If C++ and TypeScript listed them in
// different orders, numbers would silently change their meaning. These tests read both lists from the
// sources and compare them.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { describeEngines, refusal } from "./engine.js";
import { expectWorks } from "./values.js";

const root = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** Returns the members of each struct that crosses the border, in the order of the C++ source. */
function membersIn(embind: string): Map<string, string[]> {
  const lists = embind.matchAll(/kMembers<([\w:]+)> =\s*std::tuple\(([^;]*)\);/g);
  return new Map(
    [...lists].map(([, struct, list]) => [
      struct as string,
      [...(list as string).matchAll(/&[\w:]+::(\w+)/g)].map(([, member]) => member as string),
    ]),
  );
}

/** Returns the array literals of a TypeScript source, each item as its source text. */
function listsIn(source: string): string[][] {
  const file = ts.createSourceFile("a.ts", source, ts.ScriptTarget.Latest, true);
  const lists: string[][] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isArrayLiteralExpression(node)) lists.push(node.elements.map((item) => item.getText()));
    ts.forEachChild(node, visit);
  };
  visit(file);
  return lists;
}

/** Returns the names under which results are read, in order. */
function resultsIn(source: string): string[] {
  const reads = source.matchAll(/(\w+)(?: =|:) engine\.(?:tensor|optional)\(\)/g);
  return [...reads].map(([, name]) => name as string);
}

/** The TypeScript expressions for members that have no option of the same name. */
const writtenAs: Readonly<Record<string, RegExp>> = {
  cache: /\bpast\.handle\b/,
  capture_capped: /"capped"/,
  capture_entropy: /"entropy"/,
  capture_masked: /"masked"/,
  capture_scores: /"scores"/,
  causal_alignment: /\bCausalAlignment\b/,
  cu_seqlens_k: /\bbounds\?\.k\b/,
  cu_seqlens_q: /\bbounds\?\.q\b/,
  dropout_seed: /\bseed\b/,
  format: /\bKvCacheFormat\b/,
  need_alibi_slopes: /\bneeds\("alibiSlopes"\)/,
  need_bias: /\bneeds\("bias"\)/,
  need_mask: /\bneeds\("mask"\)/,
  need_sinks: /\bneeds\("sinks"\)/,
  need_weight: /\bneeds\("weight"\)/,
  need_x: /\bneeds\("x"\)/,
  past_key: /\bpast(\.k|K)ey\b/,
  past_value: /\bpast(\.v|V)alue\b/,
  state: /\b(state|before)\b/,
  window_left: /\bwindow\?\.\[0\]/,
  window_right: /\bwindow\?\.\[1\]/,
};

const inTypeScript = (member: string) =>
  member.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const names = (item: string, member: string) =>
  (writtenAs[member] ?? new RegExp(`\\b${inTypeScript(member)}\\b`)).test(item);

/** Whether a list has items that name the members, in their order. */
const contains = (list: readonly string[], members: readonly string[]) =>
  list.some((_, first) => members.every((member, i) => names(list[first + i] ?? "", member)));

const structs = membersIn(read("bindings/members.hpp"));
const scripts = ["core", "ops"].flatMap((folder) =>
  readdirSync(join(root, "bindings/js", folder)).map((name) =>
    read(`bindings/js/${folder}/${name}`),
  ),
);

describe("C++ and TypeScript agree on the order of", () => {
  test("something at all", () => {
    expect(structs.size).toBeGreaterThan(10);
    expect(structs.get("AttentionOptions")).toContain("causal_offset");
  });

  for (const [struct, members] of structs) {
    test(struct, () => {
      const lists = /(Result|Gradients)$|^Partial/.test(struct)
        ? scripts.map(resultsIn)
        : scripts.flatMap(listsIn);
      expect(lists.filter((list) => contains(list, members))).not.toEqual([]);
    });
  }

  test("the element types", () => {
    const [, types] = /enum class DType[^{]*{([^}]*)}/.exec(read("include/heed/tensor.hpp")) ?? [];
    const inOrder = [...(types ?? "").matchAll(/k(\w+)/g)].map(([, type]) => type?.toLowerCase());
    const lists = listsIn(read("bindings/js/core/tensor.ts"));
    expect(lists).toContainEqual(inOrder.map((type) => JSON.stringify(type)));
  });
});

interface Engine {
  module: { sinusoidalEncoding: unknown };
  run(operation: unknown, args: readonly number[]): unknown;
}

describeEngines((heed) => {
  // The argument checks of the TypeScript code reject all of these.
  test.each([1e300, -1e300, 2 ** 63, Infinity, Number.NaN, 0.5])(
    "%d is refused where C++ reads a whole number",
    (given) => {
      const { engine } = heed() as unknown as { engine: Engine };
      const encode = () => engine.run(engine.module.sinusoidalEncoding, [2, given, 1e4, 0]);
      const error = refusal(encode);
      expect(error.message).toMatch(
        /^argument 2: expected a whole number from -9\.22\S+ to 9\.22\S+, got \S+$/,
      );
      expect(error.code).toBe("option");
      expectWorks(heed());
    },
  );
});

test("two members in each other's place are found, and one that is missing", () => {
  const members = ["kv_heads", "window_left", "window_right"];
  const fits = (source: string) => listsIn(source).some((list) => contains(list, members));
  expect(fits("f([q, o.kvHeads ?? 0, o.window?.[0] ?? -1, o.window?.[1] ?? -1])")).toBe(true);
  expect(fits("f([q, o.kvHeads ?? 0, o.window?.[1] ?? -1, o.window?.[0] ?? -1])")).toBe(false);
  expect(fits("f([q, o.kvHeads ?? 0, o.window?.[0] ?? -1])")).toBe(false);
  expect(resultsIn("const a = engine.tensor(); return { b: engine.optional() };")).toEqual([
    "a",
    "b",
  ]);
});
