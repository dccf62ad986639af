// Configs of the hub that no model can have. A config is not trusted, so each must be refused before anything is
// allocated.

import { CausalLanguageModel, type HubConfig, loadModel, VisionTransformer } from "heed/models";
import { describe, expect, test } from "vitest";
import { bert, type Checkpoint, distilbert, filesOf, gpt2, llama, vit } from "../checkpoints.js";
import { engine, refusal, refusalOf } from "../engine.js";

describe("a config of the hub", () => {
  const heed = engine({ threads: 1 });

  async function messageOf({ config, tensors }: Checkpoint, more: HubConfig): Promise<string> {
    const files = filesOf({ config: { ...config, ...more }, tensors });
    const error = await refusalOf(loadModel(heed(), files));
    expect(error.code).toBe("format");
    expect(heed().memory().tensors.count).toBe(0);
    return error.message;
  }

  test.each<[string, Checkpoint, string]>([
    ["GPT-2", gpt2(), "n_layer"],
    ["Llama", llama(), "num_hidden_layers"],
    ["BERT", bert("bert"), "num_hidden_layers"],
    ["RoBERTa", bert("roberta"), "num_hidden_layers"],
    ["DistilBERT", distilbert(), "n_layers"],
    ["ViT", vit("ViTModel"), "num_hidden_layers"],
  ])("%s has at most 4096 layers", async (_, checkpoint, name) => {
    expect(await messageOf(checkpoint, { [name]: 4097 })).toBe(
      `config.json: config.${name}: expected a whole number from 1 to 4096, got 4097`,
    );
  });

  test.each([
    ["an object without a text", [{ toString: 1, valueOf: 1 }]],
    ["lists in lists", JSON.parse(`${"[".repeat(20000)}${"]".repeat(20000)}`)],
  ])("has no parts for an architecture that is %s", (_, architectures) => {
    const config = { ...vit("ViTModel").config, architectures };
    using model = new VisionTransformer(heed(), config);
    expect([model.pooler, model.classifier]).toEqual([undefined, undefined]);
  });

  test("has heads that are small enough for a table of their rotation", () => {
    const config = { ...llama().config, head_dim: 2 ** 16 + 2 };
    expect(refusal(() => new CausalLanguageModel(heed(), config)).message).toBe(
      "config.head_dim: expected an even size of a head up to 65536, got 65538",
    );
  });

  test.each([1e39, 1e-50, 0])("has an eps that is a positive float32 number, unlike %d", (eps) => {
    const config = { ...vit("ViTModel").config, layer_norm_eps: eps };
    expect(refusal(() => new VisionTransformer(heed(), config)).message).toBe(
      `config.layer_norm_eps: expected a positive float32 number, got ${eps}`,
    );
  });

  test("with layers that the file does not have: the error names 50 tensors and counts the others", async () => {
    const message = await messageOf(llama(), { num_hidden_layers: 100 });
    const [, count, listed = "", more] =
      /^weights: .* got (\d+) missing: (.*) and (\d+) more$/.exec(message) ?? [];
    expect([count, more]).toEqual([`${98 * 9}`, `${98 * 9 - 50}`]);
    const names = listed.split(", ");
    expect(names.length).toBe(50);
    expect(names[0]).toBe("model.layers.2.input_layernorm.weight");
  });
});
