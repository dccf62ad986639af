// Model files: loading restores the saved model, and errors name the fault in a file.

import {
  configOf,
  createModel,
  loadModel,
  type ModelFiles,
  saveModel,
  type TaskModel,
  taskOf,
} from "heed/models";
import { safetensors } from "heed/nn";
import { describe, expect, test } from "vitest";
import { describeEngines, engine, refusal } from "../engine.js";
import { any } from "../refusals/case.js";
import { tinyModel, tinyTraining } from "../tiny_training.js";

describeEngines((heed) => {
  test.each([
    ...(["transformer", "decoder", "rnn", "bahdanau", "dot"] as const).map(
      (architecture) => ["reverse", architecture] as const,
    ),
    ["brackets", "decoder"],
    ["pronouns", "encoder"],
    ["series", "encoder"],
    ["shapes", "encoder"],
  ] as const)("a model is loaded, whatever it is made of: %s by %s", (name, architecture) => {
    const config = configOf(taskOf(name), architecture, { size: 8, layers: 3, dimFeedforward: 5 });
    const files = saveModel(createModel(heed(), config));
    expect(saveModel(loadModel(heed(), files))).toEqual(files);
  });

  test("a trained model is saved and loaded, and answers the same", async () => {
    const trainer = tinyTraining(heed());
    while (!trainer.finished) trainer.step();
    const examples = trainer.examples(1);
    const expected = await trainer.model.answer(examples);
    for (const dtype of ["float16", "float32"] as const) {
      const loaded = loadModel(heed(), saveModel(trainer.model, { dtype }));
      expect(loaded.config).toEqual(trainer.model.config);
      expect(loaded.training).toBe(false);
      expect(await loaded.answer(examples)).toEqual(expected);
    }
  });

  test("a model is loaded from its files by name, too", async () => {
    const { config, weights } = saveModel(tinyModel(heed()));
    const named = { "config.json": new TextEncoder().encode(config), "model.safetensors": weights };
    const model = (await loadModel(heed(), named)) as TaskModel;
    expect(saveModel(model)).toEqual({ config, weights });
    const { "config.json": json } = named;
    await expect(loadModel(heed(), { "config.json": json })).rejects.toThrow(
      "files: expected model.safetensors, got config.json",
    );
  });

  test("float16 takes half the bytes, and a loaded model computes with its numbers", () => {
    const model = tinyModel(heed());
    const [half, whole] = [saveModel(model), saveModel(model, { dtype: "float32" })];
    expect(half.weights.length).toBeLessThan(0.6 * whole.weights.length);
    const [rounded, exact] = [half, whole].map((files) => loadModel(heed(), files));
    expect(saveModel(rounded as TaskModel)).toEqual(half);
    expect(saveModel(exact as TaskModel, { dtype: "float32" })).toEqual(whole);
  });
});

describe("a model's files are refused", () => {
  const heed = engine({ threads: 1 });

  test.each([null, undefined, 3])("that are none: %o", async (files) => {
    await expect(loadModel(heed(), any(files))).rejects.toThrow(
      /^files: expected an address, a folder, a list of files, or files by name, got /,
    );
  });

  type Config = Record<string, unknown>;
  type Tensors = Record<string, safetensors.SafetensorsEntry>;

  /** Returns valid files with a change in the config or in the tensors. */
  function changed(change: (config: Config, tensors: Tensors) => object | undefined): ModelFiles {
    const { config: json, weights } = saveModel(tinyModel(heed()));
    const [config, { tensors }] = [JSON.parse(json), safetensors.read(weights)];
    const other = change(config, tensors);
    return { config: JSON.stringify(other ?? config), weights: safetensors.write(tensors) };
  }

  const bert = {
    architectures: ["BertForMaskedLM"],
    hidden_size: 768,
    num_attention_heads: 12,
  };
  const vocabulary = (...source: unknown[]) => ({ source, target: ["a"] });

  // models_transformers.test.ts has more configs that are refused.
  test.each(
    Object.entries<[files: () => ModelFiles, message: string | RegExp]>({
      "whose config is not JSON": [
        () => ({ ...changed(() => undefined), config: '{"format":' }),
        /^config: expected JSON, got .+/,
      ],
      "whose config is a list": [() => changed(() => []), "config: expected an object, got []"],
      "that are another kind of model": [
        () => changed(() => bert),
        'config: format: expected "heed-model", got undefined',
      ],
      "of another version of the format": [
        () => changed((config) => ({ ...config, version: 2 })),
        "config: version: expected 1, got 2",
      ],
      "whose config lacks something": [
        () => changed(({ heads, seed, ...rest }) => rest),
        "config: heads: expected a whole number of 1 or more, got undefined",
      ],
      "whose config has too much": [
        () => changed((config) => ({ ...config, colour: "red" })),
        /^config: colour: expected an option of a config \(task, .*\), got an unknown one$/,
      ],
      "with more layers than there are weights, before any is made": [
        () => changed((config) => ({ ...config, layers: 4096, size: 2 ** 20 })),
        /^weights: state dict: expected the entries of the module, got 122850 missing: encoder\.layers\.1\.self_attn\.in_proj_weight, .*, and 122750 more; \d+ not fitting: /,
      ],
      "with a special token": [
        () => changed((config) => ({ ...config, vocabulary: vocabulary("<end>") })),
        'config: vocabulary: expected each token once, got "<end>" twice',
      ],
      "with a token that is no text": [
        () => changed((config) => ({ ...config, vocabulary: vocabulary("a", 1) })),
        /^config: vocabulary: expected .*lists of tokens, got an Object$/,
      ],
      "whose weights are cut off": [
        () => {
          const { config, weights } = changed(() => undefined);
          return { config, weights: weights.subarray(0, weights.length - 2) };
        },
        /^\S+: data_offsets: expected \[begin, end\] within /,
      ],
      "whose weights are something else": [
        () => ({
          ...changed(() => undefined),
          weights: new TextEncoder().encode("<!doctype html>"),
        }),
        /^header: expected at most 7 bytes, got \d+ bytes$/,
      ],
      "with tensors missing, unknown and of another shape": [
        () =>
          changed((_, tensors) => {
            tensors.more = tensors["read_out.bias"] as safetensors.SafetensorsEntry;
            delete tensors["read_out.bias"];
            const name = "target_embedding.weight";
            const { dtype, data } = tensors[name] as safetensors.SafetensorsEntry;
            tensors[name] = { dtype, data, shape: [16, 7] };
            return undefined;
          }),
        "weights: state dict: expected the entries of the module, got 1 missing: read_out.bias; 1 unexpected: more; 1 not fitting: target_embedding.weight (expected [7, 16], got [16, 7])",
      ],
      "with a number that is not finite": [
        () =>
          changed((_, tensors) => {
            (tensors["read_out.bias"]?.data as Uint16Array)[3] = 0x7c00;
            return undefined;
          }),
        "read_out.bias: expected finite numbers, got another at place 3",
      ],
    }),
  )("%s", (_, [files, message]) => {
    const error = refusal(() => loadModel(heed(), files()));
    if (typeof message === "string") expect(error.message).toBe(message);
    else expect(error.message).toMatch(message);
    expect(error.code).toBe("format");
  });

  test("and a model with numbers that the file cannot hold is not saved", () => {
    const model = tinyModel(heed());
    const bias = model.stateDict()["read_out.bias"]?.data as Float32Array;
    bias[1] = 1e5;
    expect(refusal(() => saveModel(model)).message).toBe(
      "read_out.bias: expected numbers that are finite in float16, got 100000",
    );
    saveModel(model, { dtype: "float32" });
    bias[1] = Number.NaN;
    const error = refusal(() => saveModel(model, { dtype: "float32" }));
    expect(error.message).toBe(
      "read_out.bias: expected numbers that are finite in float32, got NaN",
    );
    expect(error.code).toBe("nan");
  });
});
