/** Our language model in the worker: the rooms that use it at the same time share it. */
import { type Heed, load } from "heed";
import { CausalLanguageModel } from "heed/models";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { News } from "../../web/src/shared/loading";
import { holdOurs } from "../../web/src/worker/ourModel";
import { fetchPublished, published } from "./published";

const folder = `${published}models/write`;

let heed: Heed;
beforeAll(async () => {
  fetchPublished();
  heed = await load({ threads: 1 });
});
afterAll(() => {
  vi.unstubAllGlobals();
  heed.dispose();
});

const holding = (signal = new AbortController().signal, heard: News[] = []) =>
  holdOurs(heed, folder, "float32", { signal, progress: (news) => void heard.push(news) });

const bytes = () => heed.memory().tensors.bytes;

test("Users at the same time share one model, which the last one frees", async () => {
  const before = bytes();
  const [heard, other]: News[][] = [[], []];
  const [first, second] = await Promise.all([holding(undefined, heard), holding(undefined, other)]);
  expect(second.model).toBe(first.model);
  const size = bytes() - before;
  expect(size).toBeGreaterThan(5e6);
  const third = await holding();
  expect(third.model).toBe(first.model);
  expect(bytes() - before).toBe(size);
  expect(heard?.at(-1)?.loaded).toBe(heard?.at(-1)?.total);
  expect(heard?.at(-1)?.total).toBeGreaterThan(5e6);
  expect(other?.at(-1)).toEqual(heard?.at(-1));
  first.free();
  third.free();
  expect(bytes() - before).toBe(size);
  second.free();
  expect(bytes()).toBe(before);
  const again = await holding();
  expect(again.model).not.toBe(first.model);
  again.free();
});

test("A user that cancels does not cancel the loading of another one", async () => {
  const before = bytes();
  const cancel = new AbortController();
  const [first, second] = [holding(cancel.signal), holding()];
  cancel.abort();
  await expect(first).rejects.toThrow(/abort/i);
  const { model, free } = await second;
  expect(model).toBeInstanceOf(CausalLanguageModel);
  free();
  expect(bytes()).toBe(before);
});
