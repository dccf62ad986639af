/** Tests the solver of task models without a page. */
import { type Heed, load } from "heed";
import {
  EncoderModel,
  type LabelledWeights,
  type Translation,
  taskOf,
  withoutHeads,
} from "heed/models";
import { nn } from "heed/nn";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { HeadsAnswer, HeadsRequest } from "../../web/src/rooms/models/tasks/answer";
import {
  answerSentenceOf,
  placesWords,
  selectionOf,
  withoutWords,
} from "../../web/src/rooms/models/tasks/selection";
import solve from "../../web/src/rooms/models/tasks/solve";
import { firstOf, initialState, referenceExamples } from "../../web/src/rooms/models/tasks/state";
import { exhibitIds } from "../../web/src/shared/catalogue";
import { Reference } from "./heads";
import { meanOutput } from "./means";
import { fetchPublished, published } from "./published";
import { contextOf } from "./solverContext";

const text = "Anna praised Clara so she imitated her.";
/** The positions of its pronouns. */
const [she, her] = [4, 6];

let heed: Heed;
beforeAll(async () => {
  heed = await load({ threads: 1 });
  fetchPublished();
});
afterAll(() => {
  vi.unstubAllGlobals();
  heed.dispose();
});

async function ask(change: Partial<HeadsRequest> = {}): Promise<HeadsAnswer> {
  const request: HeadsRequest = {
    ...{ kind: "ask", base: published, exhibit: "pronouns", text, seed: 1 },
    ...{ ablated: [], ablation: "zero" },
    ...change,
  };
  const answer = await solve(request, contextOf(heed));
  if (answer?.kind !== "answer") throw new Error(`${request.text} is not answered`);
  return answer;
}

const leave = () => solve({ kind: "leave" }, contextOf(heed));

test("A model that the person leaves is freed after the request that still uses it", async () => {
  const before = heed.memory().tensors.count;
  const [answer] = await Promise.all([ask({ exhibit: "dates", text: null, seed: 3 }), leave()]);
  expect(answer.asked.length).toBeGreaterThan(0);
  await Promise.resolve();
  expect(heed.memory().tensors.count).toBe(before);
});

test("The offered head is the one whose ablation changes the shown answer", async () => {
  const reference = await Reference.of("pronouns-encoder");
  const heads = [0, 1, 2].flatMap((layer) =>
    [0, 1, 2, 3].map((head) => ({ path: `encoder.layers.${layer}.self_attn`, layer, head })),
  );
  const likeliest = (shares: Map<string, number>) =>
    [...shares].reduce((best, each) => (each[1] > best[1] ? each : best));
  const answer = await ask();
  const found = new Set<string>();
  for (const row of [she, her]) {
    const [said, share] = likeliest(await reference.shares(text, row));
    let [needed, most] = ["", 0];
    for (const { path, layer, head } of heads) {
      const without = await reference.shares(text, row, [{ path, head }]);
      const lost = share - (without.get(said) as number);
      if (likeliest(without)[0] === said || lost <= most) continue;
      [needed, most] = [`encoder.${layer + 1}.${head + 1}`, lost];
    }
    const selection = selectionOf(answer, { ...initialState, text, row });
    expect(selection.needed?.head.key).toBe(needed);
    found.add(needed);
  }
  expect(found.size).toBe(2);
});

test.each(exhibitIds)("Ablating the offered head changes the answer to “%s”", async (exhibit) => {
  const { text, seed } = firstOf(exhibit);
  const state = { ...initialState, ...firstOf(exhibit) };
  const { needed } = selectionOf(await ask({ exhibit, text, seed }), state);
  if (!needed) throw new Error("no head is offered");
  const ablated = [needed.head.key];
  const sentence = answerSentenceOf(
    selectionOf(await ask({ exhibit, text, seed, ablated }), state),
  );
  expect(sentence?.whole?.text).toBeTruthy();
  expect(sentence?.now.text).not.toBe(sentence?.whole?.text);
});

test("A head that changes only the end of a continuation is found", async () => {
  const change = { exhibit: "brackets", text: "(" } as const;
  const answer = await ask(change);
  const { needed } = selectionOf(answer, { ...initialState, ...change });
  if (!needed) throw new Error("no head is offered");
  const without = await ask({ ...change, ablated: [needed.head.key] });
  const next = ({ candidates }: HeadsAnswer["asked"][number], by: "probability" | "without") =>
    [...candidates].sort((a, b) => (b[by] ?? 0) - (a[by] ?? 0))[0]?.token;
  const [asked] = without.asked;
  expect(asked && next(asked, "without")).toBe(asked && next(asked, "probability"));
  expect(without.written?.whole).toBe(answer.written?.whole);
  expect(without.written?.without).not.toBe(answer.written?.whole);
});

test("The search for heads runs once per input, for any ablated heads, and again after the room was left", async () => {
  const runs = vi.spyOn(EncoderModel.prototype, "attentions");
  const runsOf = async (change: Partial<HeadsRequest>) => {
    runs.mockClear();
    const { needed } = await ask(change);
    return { needed, count: runs.mock.calls.length };
  };
  const [headCount, other] = [12, "Alice helped Clara because she was kind."];
  await leave();
  const first = await runsOf({});
  expect(first.count).toBe(1 + headCount);
  expect(await runsOf({ ablated: ["encoder.1.3"] })).toEqual({ needed: first.needed, count: 1 });
  expect(await runsOf({})).toEqual({ needed: first.needed, count: 0 });
  expect((await runsOf({ ablation: "mean" })).count).toBe(headCount);
  expect((await runsOf({ ablation: "mean", ablated: ["encoder.1.3"] })).count).toBe(1);
  expect((await runsOf({ text: other })).count).toBe(1 + headCount);
  // A drawn example is not the same input as a text, and each seed draws another example.
  for (const seed of [1, 2]) {
    const { count } = await runsOf({ text: null, seed });
    expect(count % (1 + headCount)).toBe(0);
    expect(count).toBeGreaterThan(0);
    expect((await runsOf({ text: null, seed })).count).toBe(0);
  }
  runs.mockRestore();
});

test("Texts about ablated heads name the heads of the answer, not the ones just selected", async () => {
  const chosen = { ...initialState, text, ablated: ["encoder.1.3", "encoder.9.9"] };
  const before = selectionOf(await ask(), chosen);
  expect(withoutWords(before)).toBeNull();
  const after = selectionOf(await ask({ ablated: chosen.ablated }), { ...chosen, ablated: [] });
  expect(withoutWords(after)).toBe("without layer 1, head 3");
  for (const selection of [before, after])
    expect(placesWords(selection)).toBe("Outlined: the answer.");
  const mean = await ask({ ablated: ["encoder.1.3", "encoder.2.1"], ablation: "mean" });
  expect(withoutWords(selectionOf(mean, chosen))).toBe("without 2 heads (mean)");
});

test("A mean in place of a head's output is over all positions of unseen examples", async () => {
  const reference = await Reference.of("pronouns-encoder");
  const { model } = reference;
  const task = taskOf("pronouns");
  const random = new nn.Generator(1);
  const place = { path: "encoder.layers.1.self_attn", head: 2 };
  const output = meanOutput(model, place, () => {
    for (let i = 0; i < referenceExamples; ++i)
      reference.heed.scope(() => model.forward([task.generate(random, "test")]));
  });
  const ablated = ["encoder.2.3"];
  const [mean, zero] = [
    await ask({ ablated, ablation: "mean" }),
    await ask({ ablated, ablation: "zero" }),
  ];
  for (const [answer, head] of [
    [mean, { ...place, output }],
    [zero, place],
  ] as const)
    for (const { row, candidates } of answer.asked) {
      const wanted = await reference.shares(text, row, [head]);
      for (const { token, without } of candidates)
        expect(without).toBeCloseTo(wanted.get(token) as number, 4);
    }
  expect(mean.asked).not.toEqual(zero.asked);
});

test("The candidates for a pronoun are words of its sentence", async () => {
  for (const ablated of [[], ["encoder.1.1"]]) {
    const { asked } = await ask({ ablated });
    expect(asked).toHaveLength(2);
    for (const { candidates } of asked) {
      expect(candidates.length).toBeGreaterThan(1);
      for (const { token } of candidates) expect(["Anna", "Clara"]).toContain(token);
    }
  }
});

test("Without a head that changes the written answer, all heads are shown as they read the new one", async () => {
  const seed = firstOf("dates").seed;
  const asked = { exhibit: "dates", text: null, seed, ablated: ["decoder.1.1"] } as const;
  const answer = await ask(asked);
  const { whole, without } = answer.written as NonNullable<HeadsAnswer["written"]>;
  expect(without).not.toBe(whole);
  const decoders = answer.attentions.filter(({ name }) => name !== "encoder");
  expect(decoders).toHaveLength(4);
  const { heed: own, model } = await Reference.of("dates-transformer");
  const task = taskOf("dates");
  const input = task.generate(new nn.Generator(seed), "test") as Translation;
  const [seen = []] = await withoutHeads(
    model,
    [{ path: "decoder.layers.0.self_attn", head: 0 }],
    () => model.attentions([{ ...input, target: [...(without as string)] }]),
  );
  for (const { path, rows, shares } of decoders) {
    expect(rows.map((row) => row.split(" ")[0])).toEqual([...(without as string), "end"]);
    const { weights } = seen.find((each) => each.path === path) as LabelledWeights;
    for (const [i, weight] of shares.weights.entries())
      expect(weight).toBeCloseTo(weights[i] as number, 4);
  }
  own.dispose();
});

test.each(exhibitIds)(
  "Most drawn examples of “%s” have an answer that one head changes",
  async (exhibit) => {
    let count = 0;
    for (let seed = 1; seed <= 6; ++seed) {
      const state = { ...initialState, ...firstOf(exhibit), text: null, seed };
      const { needed } = selectionOf(await ask({ exhibit, text: null, seed }), state);
      if (!needed) continue;
      ++count;
      const ablated = [needed.head.key];
      const after = answerSentenceOf(
        selectionOf(await ask({ exhibit, text: null, seed, ablated }), state),
      );
      expect(after?.now.text, `${seed}`).not.toBe(after?.whole?.text);
    }
    expect(count).toBeGreaterThanOrEqual(5);
  },
);
