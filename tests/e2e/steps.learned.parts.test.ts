/** "Step by step" on a layer of our language model shows the model's own numbers. */
import { readFile } from "node:fs/promises";
import { type Heed, load } from "heed";
import type { CausalLanguageModel } from "heed/models";
import { nn } from "heed/nn";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { explanationText } from "#parts";
import { explainCell } from "../../web/src/rooms/steps/explain";
import { learnedModel } from "../../web/src/rooms/steps/learned";
import { read, write } from "../../web/src/rooms/steps/link";
import { loadPieces } from "../../web/src/rooms/steps/modelTokens";
import type { Problem } from "../../web/src/rooms/steps/problem";
import solve from "../../web/src/rooms/steps/solve";
import {
  allowed,
  initialState,
  learnedSizes,
  problemOf,
  type State,
  sentenceAttentionOf,
  withKind,
  withLearned,
  withRandom,
  withText,
} from "../../web/src/rooms/steps/state";
import { maxTokens, tokenize } from "../../web/src/rooms/steps/tokens";
import type { SolverContext } from "../../web/src/worker/solver";

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
  model = await learnedModel(heed, `${page}models/write`);
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
  const { signal } = new AbortController();
  const solution = await solve(problem, { heed, signal } as SolverContext<never>);
  return { state, attention, problem, solution };
}

/** What the model computes in a layer, with its own code. */
function computedBy(ids: readonly number[], layer: number) {
  const found: Record<string, Float32Array> = {};
  const copy = ({ data }: { data: unknown }) => (data as Float32Array).slice();
  heed.scope(() => {
    const run = () =>
      model.forward(heed.tensor(Int32Array.from(ids), [1, ids.length]), {
        receiveLayer: (i, parts) => {
          if (i !== layer) return;
          Object.assign(found, {
            input: copy(parts.attentionInput),
            joined: copy(parts.headOutputs),
            result: copy(parts.attention),
          });
        },
      });
    nn.captureAttention(
      model,
      (path, weights) => {
        if (path === `model.layers.${layer}.self_attn`) found.weights = copy(weights);
      },
      run,
    );
  });
  return found as Record<"input" | "joined" | "result" | "weights", Float32Array>;
}

const idsOf = ({ source }: Problem) => (source.kind === "learned" ? source.ids : []);

const farthest = (a: Float32Array, b: Float32Array) =>
  a.reduce((most, value, i) => Math.max(most, Math.abs(value - (b[i] as number))), 0);

describe("A layer of our language model", () => {
  test.each([0, 3, 5])("has the model's weights and outputs, layer %i", async (layer) => {
    const { problem, solution } = await solved({ layer });
    const { arrays, dims } = solution;
    const wanted = computedBy(idsOf(problem), layer);
    expect(dims).toEqual({ L: 14, S: 14, E: 192, H: 6, D: 32 });
    for (const name of ["input", "weights", "joined", "result"] as const) {
      const own = arrays[name] as Float32Array;
      expect(own.length, name).toBe(wanted[name].length);
      expect(farthest(own, wanted[name]), name).toBeLessThan(2e-5);
    }
  });

  test("has the sizes of its file", async () => {
    const { heads, headSize, size, layers } = model.config;
    expect(learnedSizes).toEqual({ layers, heads, headSize, size });
    expect(allowed.layer.max).toBe(layers);
    expect(model.config.context).toBe(maxTokens);
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
    const { arrays, running, frequencies } = solution;
    expect(frequencies).toBeNull();
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
