// Runs the measurements of the bench: a case, the start of an engine, the limits, the training of a
// model. Each page has one worker and requests one measurement, so that its remains (memory,
// threads, a failure) cannot affect the next one.

import { boundOf, caseNamed, casesFor, inputsOf } from "./cases.mjs";
import { heedContender, timeStart } from "./heed.mjs";
import { javaScript } from "./javascript.mjs";
import { jax } from "./jax.mjs";
import { learn } from "./learn.mjs";
import { measureCase } from "./measure.mjs";
import { memoryBytes } from "./memory.mjs"; // first: it counts the memories that others make
import { onnxRuntimeWeb } from "./onnxruntime_web.mjs";
import { expectedRows } from "./oracle.mjs";
import { startBytePeak, startPeak } from "./peak.mjs";
import { startRead } from "./read.mjs";
import { tfjs } from "./tfjs.mjs";
import { timeInRounds } from "./timing.mjs";
import { wllama } from "./wllama.mjs";

/** Whether this browser has relaxed SIMD. */
const hasRelaxed = (() => {
  // (module (func (param v128) (drop (f32x4.relaxed_madd (local.get 0) (local.get 0) (local.get 0)))))
  const relaxed = [
    ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 1, 123, 0, 3, 2, 1, 0],
    ...[10, 14, 1, 12, 0, 32, 0, 32, 0, 32, 0, 253, 133, 2, 26, 11],
  ];
  return WebAssembly.validate(Uint8Array.from(relaxed));
})();

/** The binaries that this browser can run. */
const variantsHere = () => (hasRelaxed ? ["relaxed", "simd"] : ["simd"]);

/** An engine that merges vectors has one limit of arithmetic, for every binary. */
const peaksOf = (variants, threads) =>
  variants.includes("wide")
    ? [startPeak("wide", threads).then(({ variant, ...limit }) => limit)]
    : variants.map((variant) => startPeak(variant, threads));

function limitsOf({ operations, bytes, isOfBytes }, variants, threads) {
  const peaks = () =>
    isOfBytes && hasRelaxed ? [startBytePeak(threads)] : peaksOf(variants, threads);
  return Promise.all([
    ...(operations ? peaks() : []),
    ...(bytes ? [startRead(bytes, threads)] : []),
  ]);
}

/**
 * Checks the answers of one case and then times it.
 *
 * @param {[number, number[]][]} [given.expected] the right answer, if another page computed it
 * @returns the row of the report, and the right answer of a language model, which takes long
 */
async function measure({ name, threads, quick, variants: all, expected }) {
  const one = caseNamed(name, quick);
  // A page has no room for a large model in every binary.
  const variants = one.isLanguage && !quick ? all.slice(0, 1) : all;
  const inputs = inputsOf(one);
  const rows = expected ?? expectedRows(one, inputs);
  const row = await measureCase({
    ...{ one, inputs, threads, variants, rows, memoryBytes },
    ownContender: (called, count, variant = variants[0]) => heedContender(called, variant, count),
    peers: [onnxRuntimeWeb, tfjs, jax, wllama, javaScript]
      .flatMap((peersOf) => peersOf(threads, one, inputs))
      .filter((peer) => !one.without?.includes(peer.name)),
    limits: await limitsOf(boundOf(one), variants, threads),
    budget: quick ? 60 : one.isLanguage ? 20_000 : one.isTraining ? 10_000 : 5000,
  });
  const isNew = one.isLanguage && !expected;
  return { row, expected: isNew ? rows.map(([at, answer]) => [at, [...answer]]) : null };
}

/** Giga-operations and gigabytes per second, with no other contender in between. */
async function measureLimits({ threads, quick, variants, models }) {
  const bound = { operations: 1, bytes: 64 * 2 ** 20 };
  const all = await limitsOf(bound, variants, threads);
  if (models && hasRelaxed) all.push(await startBytePeak(threads));
  const times = await timeInRounds(all, quick ? 60 : 3000);
  return Object.fromEntries(
    all.map(({ name, operations, bytes }) => [
      name,
      (operations ?? bytes) / times[name].median / 1e6,
    ]),
  );
}

/** How long an engine takes to start, and its first call. */
function start({ variant, threads, quick }) {
  const one = casesFor({ quick })[0];
  return timeStart(variant, threads, one, inputsOf(one));
}

const methods = { learn, measure, limits: measureLimits, start, variants: variantsHere };

globalThis.onmessage = async ({ data: { method, argument } }) => {
  try {
    globalThis.postMessage({ result: await methods[method](argument) });
  } catch (error) {
    globalThis.postMessage({ error: error.message ?? String(error) });
  }
};
