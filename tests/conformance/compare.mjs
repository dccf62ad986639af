// Runs one case through the public API and compares. Works in Node and in a page.

import { adapters } from "./adapters.mjs";

const special = { inf: Infinity, "-inf": -Infinity, nan: NaN };
const numbers = (data) =>
  data.map((value) => (typeof value === "string" ? special[value] : Number(value)));

/** A case's tensors as plain arrays of numbers. */
function decode(tensors) {
  return Object.fromEntries(
    Object.entries(tensors).map(([name, t]) => [name, { ...t, data: numbers(t.data) }]),
  );
}

function difference(got, want, tolerance) {
  if (got.shape.join() !== want.shape.join())
    return `shape [${got.shape}] instead of [${want.shape}]`;
  for (let i = 0; i < want.data.length; ++i) {
    const [g, w] = [got.data[i], want.data[i]];
    if (Object.is(g, w) || g === w) continue;
    // Written so that NaN on one side only fails.
    if (!(Math.abs(g - w) <= tolerance.abs + tolerance.rel * Math.abs(w))) {
      return `[${i}] is ${g} instead of ${w}`;
    }
  }
  return null;
}

/**
 * @returns {{ name: string, verdict: "passed" | "failed" | "skipped", detail: string }}
 */
export function runCase(heed, testCase) {
  const adapter = adapters[testCase.kind];
  const report = (verdict, detail) => ({ name: testCase.name, verdict, detail });
  if (adapter === undefined) return report("skipped", `kind ${testCase.kind} is not covered yet`);
  try {
    return heed.scope(() => {
      const got = adapter(heed, { ...testCase, inputs: decode(testCase.inputs) });
      if (typeof got === "string") return report("skipped", got);
      const wanted = Object.entries(decode(testCase.outputs));
      const isGradient = ([name]) => name.startsWith("d") && testCase.inputs[name.slice(1)];
      const gradients = wanted.filter((output) => isGradient(output) && !got[output[0]]);
      for (const [name, want] of wanted) {
        if (gradients.some(([gradient]) => gradient === name)) continue;
        if (got[name] === undefined) return report("failed", `${name} is missing`);
        const problem = difference(got[name], want, testCase.tolerance);
        if (problem) return report("failed", `${name}${problem}`);
      }
      const names = wanted.map(([name]) => name).filter((name) => got[name]);
      const rest = gradients.length > 0 ? "; gradients are not compared yet" : "";
      return report("passed", names.join(", ") + rest);
    });
  } catch (error) {
    return report("failed", `${error.name}: ${error.message}`);
  }
}
