// Orders the functions of a binary so that similar ones are neighbours: compression refers back at most 32 KB.
// The code stays the same. Called by bindings/wasm.cmake with the file's name and the path of wasm-opt.

import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";

const [file, wasmOpt] = process.argv.slice(2);
const wasm = readFileSync(file);

let at = 8; // after the magic number and the version

/** Reads a number in LEB128. */
function number() {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = wasm[at++];
    value |= (byte & 127) << shift;
    if (byte < 128) return value;
  }
}

function leb(value) {
  return value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)];
}

/** The code of each function. */
const bodies = [];
while (at < wasm.length) {
  const id = wasm[at++];
  const size = number();
  const end = at + size;
  if (id === 10) {
    for (let count = number(); count > 0; --count) {
      const length = number();
      bodies.push(wasm.subarray(at, at + length));
      at += length;
    }
  }
  at = end;
}
const imports = WebAssembly.Module.imports(new WebAssembly.Module(wasm));
const first = imports.filter(({ kind }) => kind === "function").length;

/** Each group of three bytes that occurs in a function, as a number. */
const groups = bodies.map((body) => {
  const found = new Set();
  for (let i = 2; i < body.length; ++i)
    found.add((body[i - 2] << 16) | (body[i - 1] << 8) | body[i]);
  return found;
});

/** The share of the groups of two functions that both have. */
function similarity(a, b) {
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  let common = 0;
  for (const group of few) common += many.has(group);
  return common / (few.size + many.size - common);
}

/**
 * The names of the functions are their places in the new order: next is always the one that is most similar to the
 * last, and less so to the one before.
 */
const shareOfPrevious = 0.5;
const names = [];
const left = new Set(groups.keys());
let previous = new Set();
let current = [...left].reduce((a, b) => (groups[b].size > groups[a].size ? b : a));
while (left.size > 0) {
  left.delete(current);
  names[current] = String(bodies.length - left.size).padStart(6, "0");
  let best = -1;
  let next = current;
  for (const i of left) {
    const value =
      similarity(groups[current], groups[i]) + shareOfPrevious * similarity(previous, groups[i]);
    if (value > best) [best, next] = [value, i];
  }
  previous = groups[current];
  current = next;
}

const entries = names.flatMap((name, i) => [
  ...leb(first + i),
  ...leb(name.length),
  ...Buffer.from(name),
]);
const list = [...leb(names.length), ...entries];
const section = [4, ...Buffer.from("name"), 1, ...leb(list.length), ...list];
const named = `${file}.named`; // not the file itself, which a failure would leave changed
writeFileSync(named, Buffer.concat([wasm, Buffer.from([0, ...leb(section.length), ...section])]));
execFileSync(wasmOpt, [
  "--all-features",
  "--reorder-functions-by-name",
  "--strip-debug",
  // As the last step of the linker, which chooses the shortest form of each instruction.
  "--optimize-level=3",
  "--optimize-stack-ir",
  ...["-o", file, named],
]);
rmSync(named);
