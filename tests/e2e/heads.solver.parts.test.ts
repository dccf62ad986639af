/** Tests the solver of task models without a page. */
import { readFile } from "node:fs/promises";
import { type Heed, load } from "heed";
import { EncoderModel } from "heed/models";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { HeadsAnswer, HeadsRequest } from "../../web/src/rooms/models/tasks/answer";
import { exhibitIds } from "../../web/src/rooms/models/tasks/catalogue";
import {
  answerSentenceOf,
  placesWords,
  selectionOf,
  withoutWords,
} from "../../web/src/rooms/models/tasks/selection";
import solve from "../../web/src/rooms/models/tasks/solve";
import { firstOf, initialState } from "../../web/src/rooms/models/tasks/state";
import { Reference } from "./heads";

const text = "Anna praised Clara so she imitated her.";
/** The positions of its pronouns. */
const [she, her] = [4, 6];

let heed: Heed;
beforeAll(async () => {
  heed = await load({ threads: 1 });
  vi.stubGlobal("fetch", async (address: string) => {
    const path = `../../web/public/${new URL(address).pathname}`;
    return new Response(await readFile(new URL(path, import.meta.url)));
  });
});
afterAll(() => {
  vi.unstubAllGlobals();
  heed.dispose();
});

const context = () => ({
  ...{ heed, signal: new AbortController().signal },
  progress() {},
  async pause() {},
});

async function ask(change: Partial<HeadsRequest> = {}): Promise<HeadsAnswer> {
  const request: HeadsRequest = {
    ...{ kind: "ask", base: "http://page.test/", exhibit: "pronouns", text, seed: 1, ablated: [] },
    ...change,
  };
  const answer = await solve(request, context());
  if (answer?.kind !== "answer") throw new Error(`${request.text} is not answered`);
  return answer;
}

const leave = () => solve({ kind: "leave" }, context());

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
  expect(await runsOf({ ablated: ["encoder.1.3"] })).toEqual({ needed: first.needed, count: 2 });
  expect(await runsOf({})).toEqual({ needed: first.needed, count: 1 });
  expect((await runsOf({ text: other })).count).toBe(1 + headCount);
  // A drawn example is not the same input as a text, and each seed draws another example.
  for (const seed of [1, 2]) expect((await runsOf({ text: null, seed })).count).toBe(1 + headCount);
  await leave();
  expect((await runsOf({ text: null, seed: 2 })).count).toBe(1 + headCount);
  runs.mockRestore();
});

test("Texts about ablated heads name the heads of the answer, not the ones just selected", async () => {
  const chosen = { ...initialState, text, ablated: ["encoder.1.3", "encoder.9.9"] };
  const before = selectionOf(await ask(), chosen);
  expect(withoutWords(before)).toBeNull();
  const after = selectionOf(await ask({ ablated: chosen.ablated }), { ...chosen, ablated: [] });
  expect(withoutWords(after)).toBe("without layer 1, head 3");
  // The outlined places are still the places of the answer with all heads.
  expect(placesWords(before)).toBe("Outlined: the answer.");
  expect(placesWords(after)).toBe("Outlined: the answer with all heads.");
});
