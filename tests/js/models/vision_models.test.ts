// Vision Transformers, loaded from files in the layout of Hugging Face's hub and created from configs: compared
// with the oracle in double precision.

import type { Heed, HeedError, Tensor } from "heed";
import {
  type HubConfig,
  type LoadProgress,
  loadModel,
  VisionTransformer,
  withoutHeads,
} from "heed/models";
import { nn, valueAndGrad } from "heed/nn";
import { describe, expect, test } from "vitest";
import { type Checkpoint, filesOf, parametersOf, vit } from "../checkpoints.js";
import { describeEngines, engine, refusal, refusalOf } from "../engine.js";
import { errorOf, expectStates, load, lossOf, seen, slopeAt, using } from "../loaded.js";
import { expectValues } from "../modules.js";
import type { Values } from "../oracle.js";
import { expectClose, Random } from "../values.js";
import { vit as oracle } from "../vision_oracle.js";

const [N, S, L] = [2, 12, 10];
const sizes = { layers: 2, heads: 3, eps: 1e-5 };
const images = new Random(401).array([N, 3, S, S]);
const pixelsIn = (heed: Heed) => heed.tensor(images.data, images.shape);
const { config: classes } = vit("ViTForImageClassification");

describeEngines((heed) => {
  test.each([
    ["with the prefix of its names and a head for classes", vit("ViTForImageClassification")],
    ["without a prefix, with a pooler", vit("ViTModel")],
    ["without biases of queries, keys and values", vit("ViTModel", { qkv_bias: false })],
  ])("ViT %s", async (_, checkpoint) => {
    const answer = oracle(parametersOf(checkpoint, "vit."), sizes, images);
    const model = await load(heed(), filesOf(checkpoint), VisionTransformer);
    using(heed(), model, () => {
      const weights: Values[] = [];
      const { output, pooled, logits, hiddenStates } = nn.captureAttention(
        model,
        seen(weights),
        () => model.forward(pixelsIn(heed()), { needHiddenStates: true }),
      );
      expectStates(answer, hiddenStates, weights);
      expectValues(output, answer.output);
      for (const [got, wanted] of [
        [pooled, answer.pooled],
        [logits, answer.logits],
      ] as const) {
        expect(got === undefined).toBe(wanted === undefined);
        if (got && wanted) expectValues(got, wanted);
      }
      expect((pooled === undefined) !== (logits === undefined)).toBe(true);
      // One image without the axis of a batch.
      const [first] = heed().split(pixelsIn(heed()), N);
      const one = model.forward(heed().reshape(first as Tensor, [3, S, S]));
      expectClose(one.output, [1, L, 12], Array.from(answer.output.data).slice(0, L * 12));
    });
  });

  test("gradients of the embedding of patches equal finite differences", async () => {
    const checkpoint = vit("ViTForImageClassification");
    const p = parametersOf(checkpoint, "vit.");
    const wanted = [2, 0];
    const loss = () => lossOf(oracle(p, sizes, images).logits as Values, wanted);
    const model = await load(heed(), filesOf(checkpoint), VisionTransformer);
    using(heed(), model, () => {
      const targets = heed().tensor(Int32Array.from(wanted));
      const { gradients, value } = valueAndGrad(model, () =>
        heed().crossEntropy(model.forward(pixelsIn(heed())).logits as Tensor, targets),
      );
      expect(value).toBeCloseTo(loss(), 5);
      const names = model.namedParameters().map(([name]) => name);
      expect(gradients.length).toBe(names.length);
      const random = new Random(402);
      for (const [own, name] of [
        ["model.class_token", "cls_token"],
        ["model.embed_positions.weight", "position_embeddings"],
        ["model.embed_patches.weight", "patch_embeddings.projection.weight"],
        ["model.embed_patches.bias", "patch_embeddings.projection.bias"],
      ] as const) {
        const gradient = gradients[names.indexOf(own)] as Tensor;
        for (let i = 0; i < 2; ++i) {
          const at = random.whole(0, gradient.size - 1);
          const slope = slopeAt(p.get(`embeddings.${name}`), at, loss);
          expect(gradient.data[at], `${name} at ${at}`).toBeCloseTo(slope, 5);
        }
      }
    });
  });
});

describe("a Vision Transformer", () => {
  const heed = engine({ threads: 1 });

  async function refusalOfFiles({ config, tensors }: Checkpoint): Promise<HeedError> {
    const error = await refusalOf(loadModel(heed(), filesOf({ config, tensors })));
    expect(error.code).toBe("format");
    expect(heed().memory().tensors.count).toBe(0);
    return error;
  }

  test.each([
    ["float16", 0.002],
    ["int8", 0.06],
  ] as const)("%s: logits are close, in less memory", async (dtype, most) => {
    const files = filesOf(vit("ViTForImageClassification"));
    const run = (model: VisionTransformer) =>
      heed().scope(() => (model.forward(pixelsIn(heed())).logits as Tensor).data.slice());
    const bytes = () => heed().memory().tensors.bytes + heed().memory().packedWeights.bytes;
    const exact = await load(heed(), files, VisionTransformer);
    const before = bytes();
    const rounded = await load(heed(), files, VisionTransformer, { dtype });
    expect(bytes() - before).toBeLessThan(0.7 * before);
    const error = errorOf(run(rounded), run(exact));
    expect(error).toBeLessThan(most);
    expect(error).toBeGreaterThan(0);
    for (const model of [exact, rounded]) model.dispose();
    expect(bytes()).toBe(0);
  });

  test("loads with progress through all of its tensors, and can be stopped", async () => {
    const checkpoint = vit("ViTModel");
    const told: LoadProgress[] = [];
    const onProgress = (progress: LoadProgress) => told.push(progress);
    const model = await load(heed(), filesOf(checkpoint), VisionTransformer, { onProgress });
    expect(told.map(({ tensor }) => tensor).sort()).toEqual(Object.keys(checkpoint.tensors).sort());
    expect(told.at(-1)?.loaded).toBe(told.at(-1)?.total);
    expect(model.training).toBe(false);
    model.dispose();
    const controller = new AbortController();
    const reason = new Error("enough");
    const options = { signal: controller.signal, onProgress: () => controller.abort(reason) };
    await expect(loadModel(heed(), filesOf(checkpoint), options)).rejects.toBe(reason);
    expect(heed().memory().tensors.count).toBe(0);
  });

  test("the same seed gives the same model, with the parts that its architectures name", () => {
    heed().scope(() => {
      const of = (architecture: string, seed: number) =>
        new VisionTransformer(heed(), { ...classes, architectures: [architecture] }, { seed });
      const logits = [1, 1, 2].map((seed) => {
        const { logits } = of("ViTForImageClassification", seed).forward(pixelsIn(heed()));
        return Array.from((logits as Tensor).data);
      });
      expect(logits[0]).toEqual(logits[1]);
      expect(logits[0]).not.toEqual(logits[2]);
      const { pooled, logits: none } = of("ViTModel", 1).forward(pixelsIn(heed()));
      expect([pooled?.shape, none]).toEqual([[N, 12], undefined]);
      const pooler = { pooler_output_size: 40, pooler_act: "relu", architectures: ["ViTModel"] };
      const other = new VisionTransformer(heed(), { ...classes, ...pooler });
      const { data, shape } = other.forward(pixelsIn(heed())).pooled as Tensor;
      expect(shape).toEqual([N, 40]);
      expect(Math.min(...data)).toBe(0);
    });
  });

  test("queries, keys, values and scores make the weights", async () => {
    const model = await load(heed(), filesOf(vit("ViTModel")), VisionTransformer);
    using(heed(), model, () => {
      const paths: string[] = [];
      nn.captureAttention(
        model,
        (path, weights, compared) => {
          paths.push(path);
          const { query, key, value, scores } = compared?.() ?? expect.fail("nothing to compare");
          for (const each of [query, key, value]) expect(each.shape).toEqual([N, 3, L, 4]);
          const again = heed().attention(query, key, value, { needWeights: true });
          expectClose(weights, [N, 3, L, L], again.weights.data);
          expectClose(heed().softmax(scores()), [N, 3, L, L], again.weights.data);
        },
        () => model.forward(pixelsIn(heed())),
      );
      expect(paths).toEqual(["model.layers.0.self_attn", "model.layers.1.self_attn"]);
    });
  });

  test("runs without heads as if their part of the output projection were zero", async () => {
    const checkpoint = vit("ViTForImageClassification");
    const model = await load(heed(), filesOf(checkpoint), VisionTransformer);
    const run = () =>
      heed().scope(() => Array.from((model.forward(pixelsIn(heed())).logits as Tensor).data));
    const without = await withoutHeads(model, [{ path: "model.layers.1.self_attn", head: 2 }], run);
    const p = parametersOf(checkpoint, "vit.");
    const projection = p.get("encoder.layer.1.attention.output.dense.weight").data as number[];
    for (let i = 0; i < projection.length; ++i) if (i % 12 >= 8) projection[i] = 0;
    const wanted = oracle(p, sizes, images).logits as Values;
    for (const [i, logit] of without.entries())
      expect(logit).toBeCloseTo(wanted.data[i] as number, 4);
    expect(without).not.toEqual(run());
    model.dispose();
  });

  test("has the labels of its config, or numbered ones", () => {
    heed().scope(() => {
      const labelsOf = (more: HubConfig) => {
        const { id2label: _, ...config } = classes;
        return new VisionTransformer(heed(), { ...config, ...more }).config.labels;
      };
      expect(labelsOf({ id2label: { 0: "owl", 1: "cat" } })).toEqual(["owl", "cat"]);
      expect(labelsOf({ num_labels: 3 })).toEqual(["LABEL_0", "LABEL_1", "LABEL_2"]);
      expect(labelsOf({})).toEqual(["LABEL_0", "LABEL_1"]);
    });
  });

  test.each([
    ["no labels", "ViTForImageClassification", { id2label: {} }],
    ["the number of labels 0", "ViTForImageClassification", { id2label: null, num_labels: 0 }],
    ["no architecture with a classifier", "ViTModel", { id2label: { 0: "cat" } }],
  ] as const)("with %s has no classifier, and no labels", async (_, kind, more) => {
    const { config, tensors } = vit(kind, more);
    const { "classifier.weight": __, "classifier.bias": ___, ...rest }: typeof tensors = tensors;
    const loaded = await load(heed(), filesOf({ config, tensors: rest }), VisionTransformer);
    for (const model of [loaded, new VisionTransformer(heed(), config)]) {
      heed().scope(() => expect(model.forward(pixelsIn(heed())).logits).toBe(undefined));
      expect([model.config.labels, model.classifier]).toEqual([[], undefined]);
      model.dispose();
    }
    expect(heed().memory().tensors.count).toBe(0);
  });

  test("an invalid config or input is refused, and nothing is left behind", () => {
    const messages: [HubConfig, string][] = [
      [{ patch_size: 5 }, "config.patch_size: expected a divisor of the image_size 12, got 5"],
      [
        { hidden_act: "quick_gelu" },
        'config.hidden_act: expected "gelu" or "gelu_new" or "gelu_fast" or "gelu_pytorch_tanh" or "relu" or "silu" or "swish" or "tanh", got "quick_gelu"',
      ],
      [
        { num_attention_heads: 5 },
        "config.num_attention_heads: expected a divisor of the size 12, got 5",
      ],
      [
        { image_size: [12, 24] },
        "config.image_size: expected a whole number from 1 to 2147483647, got [12, 24]",
      ],
      [
        { id2label: { 0: "a", 2: "c" } },
        "config.id2label[1]: expected a text for each of 2 classes, got undefined",
      ],
      [
        { id2label: ["a", "b"] },
        'config.id2label: expected an object with a text for each class, got ["a", "b"]',
      ],
      [
        { num_labels: 2 ** 40, id2label: null },
        `config.num_labels: expected a whole number from 0 to ${2 ** 20}, got ${2 ** 40}`,
      ],
    ];
    const refused = (config: HubConfig) =>
      refusal(() => new VisionTransformer(heed(), { ...classes, ...config })).message;
    for (const [config, message] of messages) expect(refused(config)).toBe(message);
    expect(refused({ model_type: "deit" })).toMatch(
      /^config.model_type: expected .* or "vit", got "deit"$/,
    );
    expect(refused({ model_type: "bert", vocab_size: 3 })).toBe(
      'config.model_type: expected "vit", got "bert"',
    );
    expect(refused({ image_size: 2 ** 20, patch_size: 1 })).toMatch(
      /^config: expected parameters of at most/,
    );

    using model = new VisionTransformer(heed(), classes);
    const { count } = heed().memory().tensors;
    const forward = (pixels: Tensor) => {
      const { message } = refusal(() => model.forward(pixels));
      pixels.dispose();
      return message;
    };
    const images = "[3, 12, 12], or [N, 3, 12, 12] with one image or more";
    for (const shape of [
      [3, 12, 16],
      [1, 12, 12],
      [12, 12, 3],
      [2, 3, 24, 24],
      [0, 3, 12, 12],
      [432],
    ])
      expect(forward(heed().zeros(shape))).toBe(
        `pixels: expected ${images}, got [${shape.join(", ")}]`,
      );
    expect(forward(heed().tensor(new Int32Array(432), [3, 12, 12]))).toBe(
      "pixels: expected float32, got int32",
    );
    expect(refusal(() => model.forward([1] as never)).message).toMatch(
      /^pixels: expected a tensor/,
    );
    expect(heed().memory().tensors.count).toBe(count);
  });

  test("files whose tensors are missing or do not fit are refused, all of them named", async () => {
    const { config, tensors } = vit("ViTForImageClassification");
    const weight = "vit.embeddings.patch_embeddings.projection.weight";
    const {
      "vit.embeddings.cls_token": _,
      "vit.encoder.layer.1.attention.attention.key.bias": __,
      "classifier.bias": ___,
      ...rest
    } = tensors;
    const flat = { data: new Float32Array(12 * 48), shape: [12, 48] };
    const places = { data: new Float32Array(5 * 12), shape: [1, 5, 12] };
    const positions = "vit.embeddings.position_embeddings";
    const { message } = await refusalOfFiles({
      config,
      tensors: { ...rest, [weight]: flat, [positions]: places },
    });
    expect(message).toBe(
      "weights: expected the tensors of vit, got 3 missing: vit.embeddings.cls_token, " +
        "vit.encoder.layer.1.attention.attention.key.bias, classifier.bias; 2 not fitting: " +
        `${weight} (expected [12, 3, 4, 4], got [12, 48]), ` +
        `${positions} (expected [1, 10, 12], got [1, 5, 12])`,
    );
    const labels = { id2label: { 0: "cat", 1: "dog" } };
    const { message: other } = await refusalOfFiles({ config: { ...config, ...labels }, tensors });
    expect(other).toMatch(/classifier.weight \(expected \[2, 12\], got \[3, 12\]\)/);
  });
});
