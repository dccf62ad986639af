// Measures a case: checks the answer of every contender, then times them.

import { boundOf } from "./cases.mjs";
import { errorOf, expectedRows } from "./oracle.mjs";
import { timeInRounds } from "./timing.mjs";

/**
 * A library or build that can compute a case. With `reason`, a failure becomes a line of the
 * report; without it, the run ends. `sample` is for a contender that measures itself, warm-up
 * included. It resolves to the milliseconds of a call and takes `lasts` milliseconds. `outside`
 * returns the share of a call's time outside the operations.
 * @typedef {{ name: string, reason?: (error: Error) => string,
 *   prepare: (one: object, inputs: object) => Promise<{ answer: () => Float32Array, run?: () => unknown, sample?: () => Promise<number>, lasts?: number, outside?: () => number }> }} Contender
 */

/** Prepares a contender and checks its answer. Returns the calls to time, or the reason of a failure. */
async function prepare({ name, reason, prepare: begin }, one, inputs, rows, memoryBytes) {
  const before = memoryBytes();
  let call;
  let answer;
  let first;
  try {
    call = await begin(one, inputs);
    const start = performance.now();
    answer = await call.answer();
    first = performance.now() - start;
  } catch (error) {
    if (!reason) throw error;
    return { failure: reason(error) };
  }
  const error = errorOf(rows, answer);
  // Negated, so that NaN counts as a wrong answer.
  if (!(error <= one.tolerance))
    throw new Error(
      `wrong answer: ${one.name}: ${name}: expected a relative error up to ${one.tolerance}, ` +
        `got ${error}`,
    );
  return { call: { name, first, ...call }, error, memory: memoryBytes() - before };
}

/** Our own contenders that a case is compared with, and their cases. */
function besidesOf(one, threads, ownContender) {
  const all = [];
  if (one.beside) {
    const { name, ...fields } = one.beside;
    all.push([ownContender(name, threads), { ...one, ...fields }]);
  }
  if (threads > 1) all.push([ownContender("one thread", 1), one]);
  return all;
}

/** Whether two cases have the same answer: the type of weights changes only its error. */
const isSame = (one, other) => one === other || one.isLanguage === true;

/**
 * Checks all answers, times all contenders and compares them.
 *
 * @param {object} given
 * @param {string[]} given.variants names of our own builds, the best first
 * @param {(name: string, threads: number, variant?: string) => Contender} given.ownContender by default
 *   of the best variant
 * @param {Contender[]} given.peers
 * @param {{ name: string, variant?: string, operations?: number, bytes?: number, run: () => void }[]} given.limits
 *   each for one variant or for all
 * @param {[number, Float64Array][]} [given.rows] the right answer as `expectedRows` returns it, if it is known
 * @param {number} given.budget milliseconds
 * @param {() => number} given.memoryBytes the size of all WebAssembly memories
 */
export async function measureCase(given) {
  const { one, inputs, threads, variants, ownContender, peers, limits, budget } = given;
  const calls = [];
  const contenders = {};
  const add = async (contender, ofCase, rows) => {
    const prepared = await prepare(contender, ofCase, inputs, rows, given.memoryBytes);
    const { call, ...facts } = prepared;
    contenders[contender.name] = facts;
    if (call) calls.push(call);
  };
  const rows = given.rows ?? expectedRows(one, inputs);
  for (const variant of variants) await add(ownContender(variant, threads, variant), one, rows);
  const besides = besidesOf(one, threads, ownContender);
  for (const [contender, other] of besides)
    await add(contender, other, isSame(one, other) ? rows : expectedRows(other, inputs));
  for (const peer of peers) await add(peer, one, rows);

  const times = await timeInRounds([...calls, ...limits], budget);
  // The rounds of a language model are few and long: the best one is least affected by other work.
  const shown = one.isLanguage ? "least" : "median";
  const ms = (name) => times[name]?.[shown];
  for (const [name, facts] of Object.entries(contenders))
    Object.assign(facts, { time: times[name], ms: ms(name) });
  const ours = Object.fromEntries(variants.map((variant) => [variant, ms(variant)]));
  const compare = (other) =>
    Object.fromEntries(variants.map((variant) => [variant, other(variant) / ours[variant]]));
  const bound = boundOf(one);
  const { name: title, isLanguage = false, tokens } = one;
  const row = { case: title, isLanguage, tokens, threads, ...bound, contenders, ours };
  for (const { name, outside } of calls) if (outside) contenders[name].outside = outside();
  const ran = peers.map(({ name }) => name).filter((name) => times[name]);
  ran.sort((a, b) => ms(a) - ms(b));
  if (ran.length > 0) {
    row.bestPeer = ran[0];
    row.ratio = compare(() => ms(ran[0]));
  }
  row.besides = besides.map(([{ name }]) => ({
    ...{ name, ratio: ms(name) / ours[variants[0]] },
  }));
  if (limits.length > 0) {
    // The minimum time that the limit allows, in milliseconds.
    const least = (variant) => {
      const limit = limits.find((each) => (each.variant ?? variant) === variant);
      const amount = bound.bytes ? bound.bytes / limit.bytes : bound.operations / limit.operations;
      return amount * ms(limit.name);
    };
    row.share = compare(least);
    row.least = Object.fromEntries(variants.map((variant) => [variant, least(variant)]));
  }
  return row;
}
