// heed/worker: modules, optimisers and models in a worker.

import { load } from "heed";
import { ByteTokenizer, CausalLanguageModel, writeText } from "heed/models";
import { safetensors } from "heed/nn";
import { loadInWorker, type RemoteHeed } from "heed/worker";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isNode, refusalOf } from "../engine.js";

const sizes = { hidden_size: 32, intermediate_size: 64, num_hidden_layers: 2 };
const heads = { num_attention_heads: 4, num_key_value_heads: 2 };
const config = {
  ...{ model_type: "llama", vocab_size: 64, max_position_embeddings: 4096 },
  ...{ tie_word_embeddings: true, ...sizes, ...heads },
};

let heed: RemoteHeed;
beforeAll(async () => {
  heed = await loadInWorker({ threads: 1 });
});
afterAll(() => heed?.dispose());

test("a module computes, trains with an optimiser and returns its weights", async () => {
  const layer = await heed.nn.Linear(heed, 2, 1, { seed: 3 } as never).catch(() => null);
  expect(layer).toBeNull(); // an option that Linear does not have
  const encoder = await heed.nn.TransformerEncoderLayer(heed, 8, 2, { dropout: 0 });
  const x = await heed.normal([1, 5, 8], { seed: 1 });
  const seen: [string, readonly number[]][] = [];
  const y = await encoder.forward(x, {
    onWeights: (path, weights) => {
      seen.push([path, weights.shape]);
      weights.dispose();
    },
  });
  expect(y.shape).toEqual([1, 5, 8]);
  expect(seen).toEqual([["self_attn", [1, 2, 5, 5]]]);
  expect(await encoder.training).toBe(true);
  await encoder.eval();
  expect(await encoder.training).toBe(false);
  const parameters = await encoder.parameters();
  const before = (await parameters[0]?.data) as Float32Array;
  const adam = await heed.optim.Adam(encoder, { learningRate: 0.1 });
  await adam.step(await Promise.all(parameters.map(({ shape }) => heed.ones(shape))));
  const after = (await parameters[0]?.data) as Float32Array;
  expect(after.every((value, i) => Math.abs(value - (before[i] as number) + 0.1) < 1e-5)).toBe(
    true,
  );
  const saved = await heed.safetensors.write(await encoder.stateDict());
  expect(saved).toBeInstanceOf(Uint8Array);
});

test("a trainer of a task learns step by step, on the page's side of the loop", async () => {
  const { models } = heed;
  const task = await models.tasks.copy({ letters: 3, maxLength: 4 });
  const model = await models.createModel(
    heed,
    await models.configOf(task, "transformer", { size: 16, layers: 1 }),
  );
  const { recipe } = await models.recipeOf("copy", "transformer");
  const trainer = await models.Trainer(model, task, {
    recipe: { ...recipe, steps: 5, warmupSteps: 1 },
  });
  const losses: number[] = [];
  while (!(await trainer.finished)) losses.push((await trainer.step()).loss);
  expect(losses.length).toBe(5);
  expect(losses[4]).toBeLessThan(losses[0] as number);
  const error = await refusalOf(trainer.step());
  expect([error.code, error.message]).toEqual([
    "option",
    "step: expected at most 5 steps, got one more",
  ]);
});

test("a language model generates as it does on the page, tells each token, and its weights", async () => {
  const own = await load({ threads: 1, variant: heed.info.variant });
  const start = [[1, 2, 3, 4]];
  const model = new CausalLanguageModel(own, config, { seed: 7 });
  const want = await model.generate(start, { maxLength: 6 });
  own.dispose();
  const remote = await heed.models.CausalLanguageModel(heed, config, { seed: 7 });
  const tokens: (number | undefined)[] = [];
  const shapes: (readonly number[])[] = [];
  const got = await remote.generate(start, {
    maxLength: 6,
    onTokens: (each) => void tokens.push(each[0]),
    receive: (_, weights) => {
      shapes.push(weights.shape);
      weights.dispose();
    },
  });
  expect(got).toEqual(want);
  expect(tokens).toEqual(want[0]);
  expect(shapes).toEqual(
    Array.from({ length: 12 }, (_, i) => [1, 4, i < 2 ? 4 : 1, 4 + Math.floor(i / 2)]),
  );
  const { logits } = await remote.forward(await heed.tensor(start, undefined, "int32"));
  expect(logits.shape).toEqual([1, 4, 64]);
  expect((await remote.config).layers).toBe(2);
  remote.dispose();
});

test("a language model and its tokenizer come from Files, and write together", async () => {
  const own = await load({ threads: 1, variant: heed.info.variant });
  const model = new CausalLanguageModel(own, { ...config, vocab_size: 260 }, { seed: 7 });
  const tokenizer = ByteTokenizer.learn(["the cat and the hat"], 260);
  const options = { maxLength: 6, temperature: 1 };
  const want = await writeText(model, tokenizer, "the", options);
  const parts: [string, BlobPart][] = [
    ["config.json", JSON.stringify({ ...config, vocab_size: 260 })],
    ["model.safetensors", safetensors.write(model.stateDict())],
    ["tokenizer.json", tokenizer.toFile()],
  ];
  own.dispose();
  const list = parts.map(([name, part]) => new File([part], name));
  const named = Object.fromEntries(list.map((file) => [file.name, file]));
  // Node 20 sends a File without its name.
  for (const source of isNode ? [named] : [named, list]) {
    const loaded = await heed.models.loadModel(heed, source, { tokenizer: true });
    const pieces: string[] = [];
    const got = await heed.models.writeText(loaded.model, loaded.tokenizer, "the", {
      ...options,
      onText: (piece) => void pieces.push(piece),
    });
    expect(got).toEqual(want);
    expect(pieces.join("")).toBe(want.text);
    const alone = await heed.models.loadTokenizer(list[2] as File);
    expect(await alone.encode("the hat")).toEqual(tokenizer.encode("the hat"));
    loaded.model.dispose();
  }
});

test("lists of texts are computed as on the page, and refused by the names of their entries", async () => {
  const own = await load({ threads: 1, variant: heed.info.variant });
  const model = new CausalLanguageModel(own, { ...config, vocab_size: 260 }, { seed: 7 });
  const tokenizer = ByteTokenizer.learn(["the cat and the hat"], 260);
  const prompts = ["the", "a cat and", "hat"];
  const options = { maxLength: 6, temperature: 1, batchSize: 2, endToken: [] };
  const want = await writeText(model, tokenizer, prompts, options);
  own.dispose();
  const { models } = heed;
  const far = await models.loadTokenizer(new Blob([tokenizer.toFile()]));
  const remote = await models.CausalLanguageModel(
    heed,
    { ...config, vocab_size: 260 },
    { seed: 7 },
  );
  const pieces = prompts.map(() => "");
  const counts: number[] = [];
  const got = await models.writeText(remote, far, prompts, {
    ...options,
    onText: (piece, i) => {
      pieces[i] += piece;
    },
    onProgress: (done) => void counts.push(done),
  });
  expect(got).toEqual(want);
  expect(pieces).toEqual(want.map(({ text }) => text));
  expect(counts).toEqual([2, 3]);
  const controller = new AbortController();
  const { signal } = controller;
  const stopped = models.writeText(remote, far, prompts, {
    ...{ ...options, maxLength: 4000, signal },
    onText: () => controller.abort("enough"),
  });
  expect((await refusalOf(stopped)).cause).toBe("enough");
  await expect.poll(async () => (await heed.memory()).caches.count).toBe(0);

  const masked = { ...config, vocab_size: 260, model_type: "bert", tie_word_embeddings: true };
  const encoder = (name: string) =>
    models.MaskedLanguageModel(heed, { ...masked, architectures: [name] });
  const filler = await encoder("BertForMaskedLM");
  const answerer = await encoder("BertForQuestionAnswering");
  const live = new AbortController();
  expect(await models.fillMasks(filler, far, [], { signal: live.signal })).toEqual([]);
  expect(await models.answerQuestion(answerer, far, [], { signal: live.signal })).toEqual([]);
  const refused = [
    models.fillMasks(filler, far, ["the"], { signal: live.signal }),
    models.fillMasks(filler, far, "the", { signal: live.signal }),
    models.answerQuestion(answerer, far, "the", 3 as never, { signal: live.signal }),
  ].map(async (call) => (await refusalOf(call)).message);
  expect(await Promise.all(refused)).toEqual([
    'texts[0]: expected a text with a mask, got "the"',
    'text: expected a text with a mask, got "the"',
    "context: expected a text, got 3",
  ]);
});

test("a generation that is cancelled ends, and frees its cache", async () => {
  const model = await heed.models.CausalLanguageModel(heed, config, { seed: 7 });
  const controller = new AbortController();
  let count = 0;
  const call = model.generate([[1, 2]], {
    maxLength: 4000,
    endToken: [],
    signal: controller.signal,
    onTokens: () => {
      if (++count === 5) controller.abort("enough");
    },
  });
  const error = await refusalOf(call);
  expect([error.code, error.cause]).toEqual(["cancelled", "enough"]);
  expect(count).toBe(5);
  await expect.poll(async () => (await heed.memory()).caches.count).toBe(0);
});

test("a cache of a model is as before when a long step is cancelled", async () => {
  const wide = { ...config, num_hidden_layers: 12 };
  const model = await heed.models.CausalLanguageModel(heed, wide, { seed: 7 });
  const cache = await model.createCache({ capacity: 4096 });
  const ids = (length: number) => heed.tensor(new Int32Array(length), [1, length]);
  await model.forward(await ids(3), { cache });
  const [short, long] = [await ids(1), await ids(3000)];
  let cancelled = 0;
  for (let delay = 1; delay < 400 && cancelled < 3; delay *= 1.7) {
    const controller = new AbortController();
    const call = model.forward(long, { cache, onlyLast: true, signal: controller.signal });
    setTimeout(() => controller.abort(), delay);
    const outcome = await call.then(
      () => "done",
      ({ code }) => code as string,
    );
    if (outcome === "done") {
      await cache.rewind(3000);
    } else {
      ++cancelled;
      expect(outcome).toBe("cancelled");
    }
    expect(await cache.lengths).toEqual([3]);
    await model.forward(short, { cache });
    await cache.rewind(1);
  }
  expect(cancelled).toBeGreaterThan(0);
});

test("what a class or a function refuses arrives as its error", async () => {
  const error = await refusalOf(heed.models.CausalLanguageModel(heed, { model_type: "gpt9" }));
  expect(error.code).toBe("option");
  expect(error.message).toContain("model_type");
});
