// The page of the guide to GPT-2, which computes all heads, with a small GPT-2 in place of the hub's.

import { join } from "node:path";
import { ByteTokenizer } from "heed/models";
import type * as view from "heed/view";
import { expect, inject, test } from "vitest";
import { launchChromium } from "../../harness/chromium.mjs";
import { fileOf, gpt2, jsonOf } from "../checkpoints.js";
import * as oracle from "../language_oracle.js";
import { Parameters } from "../layer_oracle.js";
import { Random } from "../values.js";
import { recipesOf } from "./examples.js";
import { writeFiles } from "./places.js";
import { serve } from "./serve.js";

const { project } = inject("installed");
const recipes = recipesOf(join(project, "node_modules/heed"), "web/guides/gpt2.md");

const tokenizer = ByteTokenizer.learn(["the cat sat"], 260);
const [size, positions, heads] = [12, 64, 3];

/** A GPT-2 whose weights are not changed by a conversion to float16. */
function checkpoint() {
  const random = new Random(307);
  const { config, tensors } = gpt2({ vocab_size: tokenizer.size, n_positions: positions });
  const tables = {
    "transformer.wte.weight": random.array([tokenizer.size, size]),
    "transformer.wpe.weight": random.array([positions, size]),
  };
  const rounded = Object.entries({ ...tensors, ...tables }).map(
    ([name, { data, shape }]) =>
      [name, { data: data.map((value) => Math.round(256 * value) / 256), shape }] as const,
  );
  return { config, tensors: Object.fromEntries(rounded) };
}

test("The page computes and shows the weights of all heads of a GPT-2, for any sentence", async () => {
  const { config, tensors } = checkpoint();
  const files: Record<string, Uint8Array> = {
    "config.json": jsonOf(config),
    "model.safetensors": fileOf(tensors),
    "tokenizer.json": new TextEncoder().encode(tokenizer.toFile()),
  };
  writeFiles(project, { "gpt2.html": recipes["gpt2/gpt2.html"] as string });
  const [served, browser] = await Promise.all([serve(project, {}), launchChromium()]);
  try {
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    const headers = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "*" };
    const address = "https://huggingface.co/openai-community/gpt2/resolve/main/";
    await page.route("https://huggingface.co/**", (route) => {
      const file = files[route.request().url().replace(address, "")];
      if (!file) return route.fulfill({ status: 404, headers });
      return route.fulfill({ status: 200, headers, body: Buffer.from(file) });
    });
    await page.goto(`${served.url}gpt2.html`);
    const state = () => page.locator("#state").innerText();
    await expect.poll(state, { timeout: 30_000 }).toMatch(/^2 layers of 3 heads, \d+ tokens$/);

    const text = "the cat sat!";
    const { ids } = tokenizer.encode(text);
    await page.getByLabel("Sentence").fill(text);
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await expect.poll(state).toBe(`2 layers of 3 heads, ${ids.length} tokens`);
    const shown = await page.locator("heed-heads").evaluate(async (element: view.HeedHeads) => {
      await element.updateComplete;
      const layers = element.data as unknown as { data: Float32Array; shape: number[] }[];
      return {
        weights: layers.map(({ data, shape }) => ({ data: [...data], shape })),
        tokens: element.tokens,
        error: element.error?.message ?? null,
        thumbnails: element.shadowRoot?.querySelectorAll(".thumbnail").length,
      };
    });
    expect(shown).toMatchObject({ error: null, thumbnails: 2 * heads });
    expect(shown.tokens).toEqual(ids.map((id) => tokenizer.decode([id])));
    const answer = oracle.gpt2(new Parameters(tensors), config, {
      data: ids,
      shape: [1, ids.length],
    });
    for (const [layer, { data, shape }] of answer.weights.entries()) {
      expect(shown.weights[layer]?.shape).toEqual(shape);
      for (const [i, weight] of Array.from(data).entries())
        expect(shown.weights[layer]?.data[i]).toBeCloseTo(weight, 4);
    }
    expect(errors).toEqual([]);
  } finally {
    await browser.close();
    served.close();
  }
});
