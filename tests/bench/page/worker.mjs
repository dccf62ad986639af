// Answers the three questions of the bench: start, compare, measure.

import { casesFor, inputsOf, operations } from "./cases.mjs";
import { copies, startHeed } from "./heed.mjs";
import { startOnnxRuntime } from "./onnxruntime.mjs";
import { compareRows, largestDifference } from "./oracle.mjs";
import { startPeak } from "./peak.mjs";
import { timeInRounds } from "./timing.mjs";

const tolerance = 1e-4;
const variants = ["relaxed", "simd"];

let options;
let heeds; // one engine a variant
let peers;
let peaks; // what one thread can do at most, one a variant
let cases;
const prepared = new Map(); // by case: the calls that gave the right answer, and why others failed

async function start(given) {
  options = given;
  heeds = [];
  for (const variant of variants) heeds.push(await startHeed(variant, options.threads));
  peers = await startOnnxRuntime(options.threads);
  peaks = variants.map(startPeak);
  cases = new Map(casesFor(options).map((one) => [one.name, one]));
  return [...cases.keys()];
}

function check(who, difference) {
  // Written so that a NaN is a wrong answer too.
  if (!(difference <= tolerance))
    throw new Error(`wrong answer: ${who} differ by ${difference}, more than ${tolerance}`);
}

/** Whether everyone gives the same, right answer. Resolves to a line that says so. */
async function compare(name) {
  const one = cases.get(name);
  const inputs = inputsOf(one);
  const calls = heeds.map((heed) => heed.prepare(one, inputs));
  const failures = {};
  const said = [];
  const answers = [];
  for (const call of calls) {
    const answer = call.answer();
    const difference = compareRows(one, inputs, answer);
    check(`${name}: ${call.name} and the oracle`, difference);
    said.push(`${call.name} within ${difference.toExponential(0)} of the oracle`);
    answers.push(answer);
  }
  for (const peer of peers) {
    try {
      const call = await peer.prepare(one, inputs);
      const theirs = await call.answer();
      const differences = answers.map((answer) => largestDifference(answer, theirs));
      differences.forEach((difference, i) => {
        check(`${name}: ${variants[i]} and ${peer.name}`, difference);
      });
      said.push(`${peer.name} within ${Math.max(...differences).toExponential(0)} of both`);
      calls.push(call);
    } catch (error) {
      if (error.message.startsWith("wrong answer")) throw error;
      failures[peer.name] = peer.reason(error);
      said.push(`${peer.name} fails`);
    }
  }
  calls.push(copies(heeds[0], one, inputs));
  prepared.set(name, { calls, failures });
  return said.join(", ");
}

const byVariant = (figure) =>
  Object.fromEntries(variants.map((variant) => [variant, figure(variant)]));

async function measure(name) {
  const one = cases.get(name);
  const { calls, failures } = prepared.get(name);
  const counted = operations(one);
  // A share of the limit says something where the arithmetic is what takes the time.
  const limits = one.isSmall ? [] : peaks;
  const times = await timeInRounds([...calls, ...limits], options.quick ? 60 : 4000);
  const row = { case: name, threads: options.threads, times, failures };
  const ran = peers.map((peer) => peer.name).filter((peer) => times[peer]);
  ran.sort((a, b) => times[a].median - times[b].median);
  if (ran.length > 0) {
    row.bestPeer = ran[0];
    row.ratio = byVariant((variant) => times[ran[0]].median / times[variant].median);
  }
  if (!one.isSmall) {
    row.gflops = byVariant((variant) => counted / times[variant].median / 1e6);
    row.peak = byVariant((variant) => {
      const peak = peaks.find((each) => each.variant === variant);
      return peak.operations / times[peak.name].median / 1e6;
    });
    row.share = byVariant((variant) => row.gflops[variant] / (row.peak[variant] * options.threads));
  }
  for (const call of calls) await call.end();
  prepared.delete(name);
  return row;
}

const methods = { start, compare, measure };

globalThis.onmessage = async ({ data: { method, argument } }) => {
  try {
    globalThis.postMessage({ result: await methods[method](argument) });
  } catch (error) {
    globalThis.postMessage({ error: error.message ?? String(error) });
  }
};
