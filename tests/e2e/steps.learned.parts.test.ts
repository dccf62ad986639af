/** "Step by step" on a layer of our language model shows the model's own numbers. */
import { readFile } from "node:fs/promises";
import { type Heed, load, type Tensor } from "heed";
import type { CausalLanguageModel } from "heed/models";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Explanation, explanationText, format } from "#parts";
import { explainBlock } from "../../web/src/network/explain";
import type { BlockNumbers, PartName, RowName } from "../../web/src/network/messages";
import { explainCell } from "../../web/src/rooms/steps/explain";
import { learnedModel } from "../../web/src/rooms/steps/learned";
import { read, write } from "../../web/src/rooms/steps/link";
import { loadPieces } from "../../web/src/rooms/steps/modelTokens";
import type { Block, Problem } from "../../web/src/rooms/steps/problem";
import { initialState, type State } from "../../web/src/rooms/steps/settings";
import { ourShape } from "../../web/src/rooms/steps/shape";
import solve from "../../web/src/rooms/steps/solve";
import { stagesOf } from "../../web/src/rooms/steps/stageNames";
import {
  problemOf,
  sentenceAttentionOf,
  withKind,
  withLearned,
  withRandom,
  withText,
} from "../../web/src/rooms/steps/state";
import { maxTokens, tokenize } from "../../web/src/rooms/steps/tokens";
import { shapeOf } from "../../web/src/rooms/steps/walk";
import { computed, computedBy, expectClose } from "./layers";
import { contextOf } from "./solverContext";

const page = "http://page.test/";
const publicFile = (path: string) => readFile(new URL(`../../web/public/${path}`, import.meta.url));

let heed: Heed;
let model: CausalLanguageModel;
beforeAll(async () => {
  vi.stubGlobal("document", { baseURI: page });
  vi.stubGlobal(
    "fetch",
    async (address: string) => new Response(await publicFile(new URL(address).pathname)),
  );
  await loadPieces(async (name) => JSON.parse(`${await publicFile(`models/write/${name}`)}`));
  heed = await load({ threads: 1 });
  model = await learnedModel(heed, `${page}models/write`, contextOf(heed));
});
afterAll(() => {
  vi.unstubAllGlobals();
  heed.dispose();
});

const text = "The old man looked at the sea because he was tired.";

async function solved(change: Partial<State>) {
  const state: State = { ...initialState, ...withLearned(), text, ...change };
  const attention = sentenceAttentionOf(state);
  const problem = problemOf(state, attention) as Problem;
  const solution = await solve(problem, contextOf(heed));
  return { state, attention, problem, solution };
}

type Doubles = readonly number[];

/** A matrix [out, in] times a vector, in double precision. */
const times = (matrix: ArrayLike<number>, x: Doubles): Doubles =>
  Array.from({ length: matrix.length / x.length }, (_, out) =>
    x.reduce((sum, each, i) => sum + each * (matrix[out * x.length + i] as number), 0),
  );

/** RMS norm in double precision. */
function normed(x: Doubles, gain: ArrayLike<number>, eps: number): Doubles {
  const square = x.reduce((sum, each) => sum + each * each, 0) / x.length;
  return x.map((each, i) => (each / Math.sqrt(square + eps)) * (gain[i] as number));
}

const plus = (a: Doubles, b: ArrayLike<number>): Doubles =>
  a.map((each, i) => each + (b[i] as number));

/** The rest of a layer in double precision, from the stream before it and the output of its attention. */
function restOf(layer: number, stream: Doubles, attention: Doubles) {
  const { layers, norm } = model.model;
  const { postAttentionLayernorm: own, mlp } = layers[layer] as (typeof layers)[number];
  const weights = ({ weight }: { weight: unknown }) =>
    heed.scope(() => heed.cast(weight as Tensor, "float32").data.slice() as Float32Array);
  const between = plus(stream, attention);
  const read = normed(between, weights(own), own.eps);
  const [gate, up] = [mlp.gateProj as typeof mlp.upProj, mlp.upProj].map((each) =>
    times(weights(each), read),
  ) as [Doubles, Doubles];
  const units = gate.map((x, i) => (x / (1 + Math.exp(-x))) * (up[i] as number));
  const added = times(weights(mlp.downProj), units);
  const after = plus(between, added);
  const reader = layers[layer + 1]?.inputLayernorm ?? norm;
  return { between, read, units, added, after, next: normed(after, weights(reader), reader.eps) };
}

const rowOf = (data: Float32Array, row: number, size = 192): Doubles =>
  Array.from(data.subarray(row * size, (row + 1) * size));

const idsOf = ({ source }: Problem) => (source.kind === "learned" ? source.ids : []);

describe("A layer of our language model", () => {
  test.each([0, 3, 5])("has the model's weights and outputs, layer %i", async (layer) => {
    const { problem, solution } = await solved({ layer });
    const { arrays, dims } = solution;
    const wanted = computedBy(model, idsOf(problem), layer);
    expect(dims).toEqual({ L: 14, S: 14, E: 192, H: 6, D: 32 });
    for (const name of computed) expectClose(arrays[name] as Float32Array, wanted[name], name);
  });

  test("has the sizes of its file", async () => {
    expect(shapeOf(model, ourShape.name, ourShape.words.tokens)).toEqual(ourShape);
    const units = (model.model.layers[0]?.mlp.upProj.weight as Tensor | undefined)?.shape[0];
    expect(ourShape.units).toBe(units);
    expect(model.config.context).toBe(maxTokens);
  });

  test.each([
    { layer: 0, row: 1 },
    { layer: 3, row: 13, ablated: new Set([1, 4]) },
    { layer: 5, row: 7, scaled: false },
  ])("ends with its feed-forward network, as in double precision: $layer", async (change) => {
    const { solution } = await solved(change);
    const { arrays, block, problem } = solution;
    const { layer, row } = change;
    const { attention, feedForward, next, isLast } = block as BlockNumbers;
    const [stream, result] = [arrays.embedding, arrays.result as Float32Array].map((data) =>
      rowOf(data, row),
    ) as [Doubles, Doubles];
    const wanted = restOf(layer, stream, result);
    const near = (own: ArrayLike<number>, exact: Doubles, what: string) =>
      expectClose(own, exact, what, 5e-5);
    near(attention.norm.input, stream, "the stream before");
    near(attention.added, result, "what attention adds");
    near(attention.output, wanted.between, "the stream between");
    near(feedForward.norm.input, wanted.between, "what the norm reads");
    near(feedForward.norm.result, wanted.read, "the norm");
    near(feedForward.units, wanted.units, "the units");
    near(feedForward.added, wanted.added, "what the feed-forward network adds");
    near(feedForward.output, wanted.after, "the stream after");
    near(next.result, wanted.next, "the norm after the layer");
    near(rowOf(arrays.after as Float32Array, row), wanted.after, "the row of all streams");
    // The vectors of the heads sum to the output of attention. The vector of an ablated head is zero.
    const heads = Array.from({ length: 6 }, (_, head) => rowOf(attention.heads, head));
    near(heads.reduce(plus), result, "the sum of the heads");
    expect(heads.map((head) => head.every((each) => each === 0))).toEqual(
      heads.map((_, head) => problem.ablated.includes(head)),
    );
    expect(isLast).toBe(layer === 5);
    expect([feedForward.activation, next.kind]).toEqual(["silu", "rms"]);
  });

  test("explains the numbers after attention with all their terms", async () => {
    const { solution } = await solved({ layer: 1, row: 4, ablated: new Set([2]) });
    const block = solution.block as Block;
    const { attention, feedForward, next, matrices } = block;
    const facts = { numbers: { open: { layer: 1 }, ablated: ["2.3"] }, matrices };
    const said = (part: PartName, of: RowName, col: number, row = 0) =>
      explanationText(explainBlock({ part, of, col, row }, block, facts) as Explanation);
    const shown = (value: number | undefined) => format(value as number);
    expect(said("attention", "output", 7)).toMatch(
      /^The stream after attention, entry 8.*stream \+/s,
    );
    expect(said("attention", "head", 7, 2)).toContain("the head is ablated");
    expect(said("attention", "head", 7, 1)).toContain("W_O row 8 · its sum = ");
    expect(said("feed-forward", "unit", 5)).toContain(`= ${shown(feedForward.units[5])}`);
    expect(said("feed-forward", "gate", 5)).toContain("W_gate row 6 · input = ");
    expect(said("feed-forward", "added", 0)).toMatch(/W_down row 1 · input = .*\s×\s/);
    expect(said("feed-forward", "output", 9)).toMatch(
      new RegExp(`^The stream after layer 2, entry 10.* = ${shown(feedForward.output[9])}$`, "s"),
    );
    expect(said("next", "norm", 3)).toContain(`What the next layer reads, entry 4`);
    expect(said("next", "norm", 3)).toContain(`= ${shown(next.result[3])}`);
    expect(said("next", "stream", 3)).toContain("The stream after layer 2, entry 4");
    expect(explainBlock({ part: "cross", of: "norm", col: 0, row: 0 }, block, facts)).toBeNull();
    expect(attention.name).toBe("attention");
  });

  test("has stages after attention only with a trained model", async () => {
    const later = ["addnorm", "feedforward", "addnorm2"];
    const learned: State = { ...initialState, ...withLearned(), text, stage: "feedforward" };
    expect(stagesOf(learned).slice(-3)).toEqual(later);
    expect(stagesOf(initialState)).toHaveLength(9);
    const number = { part: "feed-forward", of: "unit", row: 0, col: 5 } as const;
    const params = write({ ...learned, number });
    expect(params.get("number")).toBe("feed-forward.unit.6");
    expect(read(params)).toEqual({ state: { ...learned, number }, notices: [] });
    // Other vectors, and links to them, end with the joined heads.
    const random = { ...learned, ...withRandom() };
    expect(write(random).get("step")).toBe("joined");
    expect(read(new URLSearchParams("step=addnorm")).state.stage).toBe("joined");
    expect(read(new URLSearchParams("cell=between.1.1")).notices).toHaveLength(1);
    const { solution } = await solved({ ...withRandom(), text });
    expect(solution.block).toBeNull();
  });

  test("gives back the memory of every answer", async () => {
    await solved({});
    const before = heed.memory().tensors.count;
    await solved({ layer: 2 });
    expect(heed.memory().tensors.count).toBe(before);
  });

  test("explains a rotated number by two products of its vector", async () => {
    const { state, attention, solution } = await solved({ layer: 1 });
    for (const [matrix, row, col] of [
      ["q", 3, 2],
      ["k", 5, 20],
      ["q", 0, 17],
    ] as const) {
      const cell = { matrix, row, col };
      const formula = explanationText(
        explainCell(cell, solution, state, attention) as NonNullable<
          ReturnType<typeof explainCell>
        >,
      );
      const number = "\\(?(−?[\\d.]+)\\)?";
      const wave = (name: string) => `${number}\\s×\\s${name}\\(\\((\\d+) − 1\\) × ([\\d.e−-]+)\\)`;
      const match = new RegExp(`${wave("cos")} \\+ ${wave("sin")} [=≈] (−?[\\d.]+)$`).exec(formula);
      expect(match, formula).not.toBeNull();
      const [a, place, frequency, b, , , value] = (match as RegExpExecArray)
        .slice(1)
        .map((each) => Number(each.replaceAll("−", "-"))) as [number, ...number[]];
      expect(place).toBe(row + 1);
      const angle = row * (frequency as number);
      const sum = a * Math.cos(angle) + (b as number) * Math.sin(angle);
      expect(Math.abs(sum - (value as number)), formula).toBeLessThan(0.01);
    }
    // The partial sums while playing end with the number itself.
    const { running, arrays } = solution;
    expect(running.q).toHaveLength(2);
    expect(running.q?.[1]).toBeCloseTo(arrays.q[state.row * 192] as number, 5);
  });

  test("is not rotated if the person turns positions off", async () => {
    const { solution } = await solved({ position: false });
    const { arrays, running, rotation } = solution;
    expect(rotation).toBeNull();
    expect(running.q).toHaveLength(192);
    // A row of X times a row of the projection.
    const at = (row: number, out: number) =>
      Array.from(
        { length: 192 },
        (_, n) => (arrays.input[row * 192 + n] as number) * (arrays.wq[out * 192 + n] as number),
      ).reduce((a, b) => a + b);
    expect(arrays.q[4 * 192 + 40]).toBeCloseTo(at(4, 40), 4);
  });

  test("reads a text that a person types, from its start", async () => {
    const typed = { ...initialState, ...withText(initialState, text) };
    expect(typed).toMatchObject({ vectors: "learned", mask: "causal", position: true });
    const { queries } = sentenceAttentionOf(typed);
    expect(queries.tokens.slice(0, 4)).toEqual(["start", "The", "old", "man"]);
    expect(queries.ids).toHaveLength(queries.tokens.length);
    // A person's random vectors stay random.
    const own = { ...typed, ...withRandom() };
    expect({ ...own, ...withText(own, "one") }.vectors).toBe("random");
    expect(tokenize("so tired, really", "pieces").tokens).toEqual(
      expect.arrayContaining(["start", "so", "t", "\u2011ired", ","]),
    );
    // Two sentences have random vectors, because this model reads one.
    expect({ ...typed, ...withKind(typed, "cross") }.vectors).toBe("random");
  });

  test("is not loaded for a person who saves data", () => {
    vi.stubGlobal("navigator", { connection: { saveData: true } });
    const change = withText(initialState, text);
    vi.stubGlobal("navigator", {});
    expect(change.vectors).toBe("random");
  });

  test("reads at most its context, and tells what was left out", () => {
    const { tokens, ids, kept, cut } = tokenize("again ".repeat(600), "pieces");
    expect(cut).toBe(true);
    expect(tokens).toHaveLength(maxTokens);
    expect(ids).toHaveLength(maxTokens);
    expect("again ".repeat(600).startsWith(kept)).toBe(true);
    for (const text of ["今天天气很好".repeat(60), "👩‍👩‍👧 é ".repeat(60)]) {
      const first = tokenize(text, "pieces");
      expect([first.cut, text.startsWith(first.kept)]).toEqual([true, true]);
      expect(tokenize(first.kept, "pieces").cut).toBe(false);
    }
    expect(tokenize(" ", "pieces").tokens).toEqual([]);
  });

  test("is restored by a link, with its parameters in any order", () => {
    const state: State = { ...initialState, ...withLearned(), text, layer: 2, head: 4 };
    const params = write(state);
    expect(read(params)).toEqual({ state, notices: [] });
    const reversed = new URLSearchParams([...params].reverse());
    expect(read(reversed)).toEqual({ state, notices: [] });
    expect(read(new URLSearchParams("layer=7")).notices).toHaveLength(1);
    // Nothing of the other origin remains that the link does not have.
    const changes = [
      { ...initialState, ...withRandom(), text, heads: 8, seed: "a", split: "characters" as const },
      { ...state, layer: 4 },
    ];
    for (const before of changes)
      for (const change of [withLearned(), withRandom(), withKind(before, "cross")]) {
        const after: State = { ...before, ...change };
        expect(read(write(after)).state).toEqual(after);
      }
  });
});
