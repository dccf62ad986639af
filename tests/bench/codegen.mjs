// The machine code of V8's optimising compiler for the inner loops of the binaries' products:
// `./dev bench --codegen`. Counts are the same on every x86-64 processor, unlike times.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recentNode, revectorize } from "../harness/v8.mjs";
import { parse } from "./options.mjs";

const flags = ["--no-liftoff", "--no-wasm-lazy-compilation", "--print-wasm-code"];

/** The disassembly of each optimised function of a module, given as bytes: lists of { address, text }. */
function functionsOf(bytes, ...more) {
  const folder = mkdtempSync(join(tmpdir(), "heed-codegen-"));
  try {
    const [program, binary] = ["compile.mjs", "module.wasm"].map((name) => join(folder, name));
    writeFileSync(binary, bytes);
    writeFileSync(
      program,
      'import { readFileSync } from "node:fs"; new WebAssembly.Module(readFileSync(process.argv[2]));',
    );
    const printed = execFileSync(recentNode(), [...flags, ...more, program, binary], {
      encoding: "utf8",
      maxBuffer: 2 ** 30,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return printed
      .split("--- WebAssembly code ---")
      .filter((code) => code.includes("compiler: TurboFan"))
      .map((code) =>
        Array.from(code.matchAll(/^0x([0-9a-f]+) +[0-9a-f]+ +[0-9a-f]+ +(.*)$/gm), (line) => ({
          address: line[1],
          text: line[2].trim(),
        })),
      );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The loops of a function that contain no other loop: the texts of their instructions. */
function innerLoops(instructions) {
  const indices = new Map(instructions.map(({ address }, index) => [address, index]));
  const loops = instructions.flatMap(({ text }, end) => {
    const target = /^j[a-z]+ 0x([0-9a-f]+)/.exec(text)?.[1];
    const begin = target === undefined ? undefined : indices.get(target);
    return begin === undefined || begin > end ? [] : [{ begin, end }];
  });
  return loops
    .filter(
      (outer) =>
        !loops.some((loop) => loop !== outer && loop.begin >= outer.begin && loop.end <= outer.end),
    )
    .map(({ begin, end }) => instructions.slice(begin, end + 1).map(({ text }) => text));
}

const loops = new Map();

/**
 * The texts of the instructions of every inner loop in a binary of the package. Compiling it takes seconds, so the
 * result is kept.
 *
 * @param {"simd" | "relaxed" | "wide"} variant
 */
export function loopsOf(variant) {
  if (!loops.has(variant)) {
    const bytes = readFileSync(join(import.meta.dirname, `../../dist/heed-${variant}.wasm`));
    const more = variant === "wide" ? [revectorize] : [];
    loops.set(variant, functionsOf(bytes, ...more).flatMap(innerLoops));
  }
  return loops.get(variant);
}

/**
 * The inner loops of the products of floats: each number of the left factor, loaded into all lanes, is
 * multiplied by two vectors. A loop may be unrolled.
 *
 * @param {"simd" | "relaxed" | "wide"} variant whose vectors have 128 bits, or 256 in wide
 * @returns {{ rows: number, steps: number, instructions: number, multiplyAdds: number, stack: number }[]}
 */
export function productLoops(variant) {
  const register = variant === "wide" ? "ymm" : "xmm";
  return loopsOf(variant).flatMap((all) => {
    const texts = all.filter((text) => text.includes(register));
    const count = (pattern) => texts.filter((text) => pattern.test(text)).length;
    const splats = count(/^vbroadcastss/);
    const fused = count(/^vfn?m(?:add|sub)\d+ps/);
    const multiplyAdds = fused + Math.min(count(/^vmulps/), count(/^vaddps/));
    const loads = count(/^vmov(?:dq|[au]p?[sd])\w* .mm\d+,\[/);
    const steps = loads / 2;
    const rows = splats / steps;
    if (![rows, steps].every(Number.isInteger) || multiplyAdds !== 2 * splats || rows === 0)
      return [];
    const stack = all.filter((text) => /[xy]mm/.test(text) && /\[r[bs]p/.test(text)).length;
    return [{ rows, steps, instructions: all.length, multiplyAdds, stack }];
  });
}

/** The texts of the instructions of every inner loop in a module, as an engine compiles it that merges vectors. */
export const mergedLoops = (bytes) =>
  functionsOf(bytes, revectorize)
    .flatMap(innerLoops)
    .filter((texts) => !texts.at(-1).startsWith("jmp")); // back from rare code behind the function

/** A line for each kind of loop. */
function report(variant) {
  const counts = new Map();
  for (const loop of productLoops(variant)) {
    const { rows, steps, instructions, multiplyAdds, stack } = loop;
    const ratio = (instructions / multiplyAdds).toFixed(2);
    const line = [rows, steps, instructions, multiplyAdds, ratio, stack].join("\t");
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  const order = new Intl.Collator("en", { numeric: true }).compare;
  return [...counts].sort(([a], [b]) => order(b, a)).map(([line, count]) => `${line}\t${count}`);
}

if (import.meta.filename === process.argv[1]) {
  parse();
  for (const variant of ["wide", "relaxed", "simd"]) {
    console.log(`${variant}: inner loops of products of floats`);
    console.log("rows\tsteps\tinstructions\tmultiply-adds\tratio\tstack\tloops");
    for (const line of report(variant)) console.log(line);
  }
}
