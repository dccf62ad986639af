// Tests extreme values and wrong files that no other test covers. They are in plans of tasks, in configs of another
// model, in files with numbers that are not finite, and in training states that are not JSON.

import { type Heed, load } from "heed";
import {
  architectureOf,
  configOf,
  createModel,
  loadModel,
  MaskedLanguageModel,
  probesOf,
  recipeOf,
  saveModel,
  type TaskName,
  Trainer,
  tasks,
} from "heed/models";
import { safetensors } from "heed/nn";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refusal } from "../engine.js";

let heed: Heed;
beforeAll(async () => {
  heed = await load({ threads: 1 });
});
afterAll(() => heed.dispose());

describe("A task", () => {
  test.each([
    ["copy", "transformer"],
    ["dates", "transformer"],
    ["pronouns", "encoder"],
    ["brackets", "decoder"],
    ["series", "encoder"],
    ["shapes", "encoder"],
  ] as const)("%s is learned by the architecture %s unless another is given", (name, wanted) => {
    expect(architectureOf(tasks[name as TaskName]())).toBe(wanted);
  });

  test("has further options for evaluations where longer or other inputs exist", () => {
    expect(probesOf(tasks.dates())).toEqual({
      "short forms": { forms: "short" },
      "long forms": { forms: "long" },
    });
    expect(probesOf(tasks.copy({ maxLength: 8 }))).toEqual({
      "length 8": { minLength: 8 },
      "length 10": { minLength: 10, maxLength: 10 },
      "length 12": { minLength: 12, maxLength: 12 },
    });
    expect(probesOf(tasks.shapes())).toEqual({});
    expect(refusal(() => probesOf(1 as never)).code).toBe("option");
  });

  test("has the plan of its shipped model, or a default one", () => {
    expect(recipeOf("dates", "bahdanau").options).toEqual({ layers: 1 });
    expect(recipeOf("shapes", "rnn")).toMatchObject({ name: "shapes-rnn", options: {} });
    expect(refusal(() => recipeOf(1 as never, "rnn")).code).toBe("option");
  });
});

describe("A model that fills masks", () => {
  const sizes = { vocab_size: 9, max_position_embeddings: 8, hidden_size: 4, num_hidden_layers: 1 };

  test("is not made from the config of a decoder", () => {
    const config = {
      model_type: "gpt2",
      vocab_size: 9,
      n_positions: 8,
      n_embd: 4,
      n_head: 2,
      n_layer: 1,
    };
    const { code, message } = refusal(() => new MaskedLanguageModel(heed, config));
    expect([code, message]).toEqual([
      "option",
      expect.stringContaining("config.model_type: expected an arch"),
    ]);
  });

  test("without token types refuses some", () => {
    const config = {
      ...sizes,
      model_type: "distilbert",
      dim: 4,
      n_layers: 1,
      n_heads: 2,
      hidden_dim: 8,
    };
    using model = new MaskedLanguageModel(heed, config);
    using ids = heed.tensor([[1, 2]], undefined, "int32");
    const { code, message } = refusal(() => model.forward(ids, { typeIds: ids }));
    expect([code, message]).toEqual(["option", expect.stringContaining("typeIds: expected none")]);
  });
});

describe("Files of a model", () => {
  const config = () =>
    configOf(tasks.copy({ maxLength: 4 }), "transformer", { size: 8, layers: 1, heads: 2 });

  test.each([
    ["bfloat16", (length: number) => new Uint16Array(length).fill(0x7fc0)],
    ["float16", (length: number) => new Uint16Array(length).fill(0x7c00)],
    ["float32", (length: number) => new Float32Array(length).fill(Number.NaN)],
  ] as const)("with %s numbers that are not finite are refused", (dtype, fill) => {
    using model = createModel(heed, config());
    const files = saveModel(model, { dtype: "float32" });
    const { tensors, metadata } = safetensors.read(files.weights);
    const [name] = Object.keys(tensors) as [string];
    const { shape, data } = tensors[name] as safetensors.SafetensorsEntry;
    const weights = safetensors.write(
      { ...tensors, [name]: { dtype, shape, data: fill(data.length) } },
      metadata,
    );
    const { code, message } = refusal(() => loadModel(heed, { ...files, weights }));
    expect(code).toBe("format");
    expect(message).toContain(name);
    expect(message).toContain("finite");
  });

  test("a state of a training whose progress is not JSON, or not all of it, is refused", () => {
    const task = tasks.copy({ maxLength: 4 });
    using model = createModel(heed, config());
    const { recipe } = recipeOf("copy", "transformer");
    using trainer = new Trainer(model, task, {
      recipe: { ...recipe, steps: 2, warmupSteps: 1, batch: 2 },
    });
    const { tensors, metadata } = safetensors.read(trainer.state());
    for (const progress of ["{", "{}"]) {
      const bytes = safetensors.write(tensors, { ...metadata, progress });
      expect(refusal(() => trainer.resume(bytes)).code).toBe("format");
    }
    expect(trainer.stepCount).toBe(0);
  });
});
