// Modules: names, state dicts, modes, disposal, and errors that report the path of a module.

import { type Heed, HeedError, type Tensor } from "heed";
import { nn, safetensors, valueAndGrad } from "heed/nn";
import { describe, expect, test } from "vitest";
import { engine, refusal } from "../engine.js";
import { randomise } from "../modules.js";
import { Random } from "../values.js";

const heed = engine({ threads: 1 });
const namesOf = (module: nn.Module) => Object.keys(module.stateDict());
const linear = (name: string, bias = true) =>
  bias ? [`${name}.weight`, `${name}.bias`] : [`${name}.weight`];
const attention = (name: string) => [
  `${name}.in_proj_weight`,
  `${name}.in_proj_bias`,
  ...linear(`${name}.out_proj`),
];
// The order is torch's too: the order of registration.
const encoderLayer = [
  ...attention("self_attn"),
  ...["linear1", "linear2", "norm1", "norm2"].flatMap((name) => linear(name)),
];
const decoderLayer = [
  ...attention("self_attn"),
  ...attention("multihead_attn"),
  ...["linear1", "linear2", "norm1", "norm2", "norm3"].flatMap((name) => linear(name)),
];
const within = (prefix: string, names: string[]) => names.map((name) => `${prefix}.${name}`);

describe("the state dict has PyTorch's names in PyTorch's order:", () => {
  const cases: [name: string, make: (heed: Heed) => nn.Module, names: string[]][] = [
    ["Linear", (h) => new nn.Linear(h, 3, 2), ["weight", "bias"]],
    ["Linear without a bias", (h) => new nn.Linear(h, 3, 2, { bias: false }), ["weight"]],
    ["Embedding", (h) => new nn.Embedding(h, 3, 2), ["weight"]],
    ["LayerNorm", (h) => new nn.LayerNorm(h, 3), ["weight", "bias"]],
    ["LayerNorm without a bias", (h) => new nn.LayerNorm(h, 3, { bias: false }), ["weight"]],
    [
      "LayerNorm without parameters",
      (h) => new nn.LayerNorm(h, 3, { elementwiseAffine: false }),
      [],
    ],
    ["RMSNorm", (h) => new nn.RMSNorm(h, 3), ["weight"]],
    ["RMSNorm without parameters", (h) => new nn.RMSNorm(h, 3, { elementwiseAffine: false }), []],
    ["Dropout", (h) => new nn.Dropout(h), []],
    ["PositionalEncoding", (h) => new nn.PositionalEncoding(h, 4), []],
    [
      "SwiGLU",
      (h) => new nn.SwiGLU(h, 4, 6),
      ["gate_proj", "up_proj", "down_proj"].flatMap((name) => linear(name, false)),
    ],
    [
      "MultiHeadAttention",
      (h) => new nn.MultiHeadAttention(h, 4, 2),
      ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"],
    ],
    [
      "MultiHeadAttention without biases",
      (h) => new nn.MultiHeadAttention(h, 4, 2, { bias: false }),
      ["in_proj_weight", "out_proj.weight"],
    ],
    [
      "MultiHeadAttention with keys of another size",
      (h) => new nn.MultiHeadAttention(h, 4, 2, { kdim: 3 }),
      [
        "q_proj_weight",
        "k_proj_weight",
        "v_proj_weight",
        "in_proj_bias",
        "out_proj.weight",
        "out_proj.bias",
      ],
    ],
    [
      "TransformerEncoderLayer",
      (h) => new nn.TransformerEncoderLayer(h, 4, 2, { dimFeedforward: 6 }),
      encoderLayer,
    ],
    [
      "TransformerDecoderLayer",
      (h) => new nn.TransformerDecoderLayer(h, 4, 2, { dimFeedforward: 6 }),
      decoderLayer,
    ],
    [
      "TransformerEncoder",
      (h) => new nn.TransformerEncoder(h, 4, 2, 2, { dimFeedforward: 6, norm: true }),
      [...[0, 1].flatMap((i) => within(`layers.${i}`, encoderLayer)), ...linear("norm")],
    ],
    [
      "TransformerDecoder",
      (h) => new nn.TransformerDecoder(h, 4, 2, 2, { dimFeedforward: 6 }),
      [0, 1].flatMap((i) => within(`layers.${i}`, decoderLayer)),
    ],
    [
      "Transformer",
      (h) =>
        new nn.Transformer(h, {
          dModel: 4,
          heads: 2,
          encoderLayers: 1,
          decoderLayers: 2,
          dimFeedforward: 6,
        }),
      [
        ...within("encoder.layers.0", encoderLayer),
        ...linear("encoder.norm"),
        ...[0, 1].flatMap((i) => within(`decoder.layers.${i}`, decoderLayer)),
        ...linear("decoder.norm"),
      ],
    ],
    [
      "GRU",
      (h) => new nn.GRU(h, 3, 2, { layers: 2 }),
      [0, 1].flatMap((i) =>
        ["weight_ih", "weight_hh", "bias_ih", "bias_hh"].map((name) => `${name}_l${i}`),
      ),
    ],
    [
      "GRU without biases",
      (h) => new nn.GRU(h, 3, 2, { bias: false }),
      ["weight_ih_l0", "weight_hh_l0"],
    ],
    [
      "BahdanauAttention",
      (h) => new nn.BahdanauAttention(h, 2, 3, 4, { bias: true }),
      ["query_layer.weight", "query_layer.bias", "key_layer.weight", "energy_layer.weight"],
    ],
    [
      "LuongAttention",
      (h) => new nn.LuongAttention(h, 2, 3, { score: "concat" }),
      ["weight", "score_weight"],
    ],
  ];

  test.each(cases)("%s", (_, make, names) => {
    heed().scope(() => {
      const module = make(heed());
      expect(namesOf(module)).toEqual(names);
      expect(module.namedParameters().map(([name]) => name)).toEqual(names);
      expect(module.parameters()).toEqual(Object.values(module.stateDict()));
    });
  });

  test("Transformer has torch's sizes by default", () => {
    using model = new nn.Transformer(heed());
    // sum(p.numel() for p in torch.nn.Transformer().parameters())
    expect(model.parameters().reduce((sum, { size }) => sum + size, 0)).toBe(44_140_544);
    expect(model.encoder.layers[0]?.selfAttn.heads).toBe(8);
  });
});

class Tied extends nn.Module {
  readonly embed: nn.Embedding;
  readonly blocks: nn.Linear[];
  readonly scales: Tensor[];
  readonly readOut: nn.Linear;
  readonly #secret: Tensor;

  constructor(heed: Heed) {
    super(heed);
    this.embed = new nn.Embedding(heed, 5, 3);
    this.blocks = [new nn.Linear(heed, 3, 3), new nn.Linear(heed, 3, 3)];
    this.scales = [heed.ones([3]), heed.ones([3])];
    this.readOut = new nn.Linear(heed, 3, 5);
    this.readOut.weight.dispose();
    this.readOut.weight = this.embed.weight;
    this.#secret = heed.ones([3]);
  }

  forward(ids: Tensor): Tensor {
    let x = this.heed.add(this.embed.forward(ids), this.#secret);
    for (const [i, block] of this.blocks.entries())
      x = this.heed.multiply(block.forward(x), this.scales[i] as Tensor);
    return this.readOut.forward(x);
  }
}

describe("a user's module", () => {
  const names = [
    "embed.weight",
    ...["blocks.0", "blocks.1"].flatMap((name) => linear(name)),
    "scales.0",
    "scales.1",
    "read_out.weight",
    "read_out.bias",
  ];

  test("has its public fields as parameters, and a shared one under both names", () => {
    heed().scope(() => {
      const model = new Tied(heed());
      expect(namesOf(model)).toEqual(names);
      const once = names.filter((name) => name !== "read_out.weight");
      expect(model.namedParameters().map(([name]) => name)).toEqual(once);
      expect(new Set(model.parameters()).size).toBe(once.length);
      expect(model.stateDict()["read_out.weight"]).toBe(model.embed.weight);
    });
  });

  test("has a gradient for each parameter, the sum of all uses if it is shared", () => {
    heed().scope(() => {
      const model = new Tied(heed());
      const x = heed().tensor(Int32Array.of(0, 4));
      const { gradients, value } = valueAndGrad(model, () => heed().mean(model.forward(x)));
      expect(Number.isFinite(value)).toBe(true);
      expect(gradients.map(({ shape }) => shape)).toEqual(
        model.parameters().map(({ shape }) => shape),
      );
      expect(gradients.every(({ data }) => data.some((number) => number !== 0))).toBe(true);
    });
  });

  test("is read back from a file", () => {
    heed().scope(() => {
      const [model, other] = [new Tied(heed()), new Tied(heed())];
      const x = heed().tensor(Int32Array.of(1, 2, 3));
      const expected = model.forward(x).toArray();
      expect(other.forward(x).toArray()).not.toEqual(expected);
      const { tensors } = safetensors.read(safetensors.write(model.stateDict()));
      expect(other.loadStateDict(tensors)).toEqual({ missing: [], unexpected: [] });
      expect(other.forward(x).toArray()).toEqual(expected);
      other.scales[0]?.data.fill(0);
      other.loadStateDict(model.stateDict());
      expect(other.forward(x).toArray()).toEqual(expected);
    });
  });

  test("frees its parameters, and no other tensors, when it is disposed of", () => {
    const model = new Tied(heed());
    const all = model.parameters();
    const other = heed().ones([1]);
    model.dispose();
    model.dispose();
    expect(all.every((tensor) => tensor.isDisposed)).toBe(true);
    expect(other.isDisposed).toBe(false);
    const error = refusal(() => model.forward(heed().tensor(Int32Array.of(1))));
    expect(error.code).toBe("disposed");
    expect(error.message).toBe("embed: weight: expected a live tensor, got a disposed one");
  });

  test("is kept by the scope that returns it", () => {
    const { model } = heed().scope(() => ({ model: new nn.Linear(heed(), 2, 2) }));
    expect(model.weight.isDisposed).toBe(false);
    model.dispose();
  });
});

describe("a state dict", () => {
  const wrong = (heed: Heed) => ({
    weight: { shape: [3, 2], data: new Float32Array(6) },
    scale: heed.ones([1]),
  });

  test("that does not fit is refused with every name, and nothing is written", () => {
    heed().scope(() => {
      const layer = new nn.Linear(heed(), 3, 2);
      const before = layer.weight.toArray();
      const error = refusal(() => layer.loadStateDict(wrong(heed())));
      expect(error.message).toBe(
        "state dict: expected the entries of the module, got 1 missing: bias; 1 unexpected: scale; " +
          "1 not fitting: weight (expected [2, 3], got [3, 2])",
      );
      expect(error.code).toBe("option");
      expect(layer.weight.toArray()).toEqual(before);
      const misshapen = { weight: heed().ones([3, 2]), bias: heed().ones([2]) };
      expect(refusal(() => layer.loadStateDict(misshapen)).code).toBe("shape");
      expect(layer.bias?.toArray()).not.toEqual([1, 1]);
    });
  });

  test("may have other names if it is not strict, but no other shapes", () => {
    heed().scope(() => {
      const layer = new nn.Linear(heed(), 3, 2);
      const bias = layer.bias?.toArray();
      const given = { weight: heed().ones([2, 3]), scale: heed().ones([1]) };
      const loaded = layer.loadStateDict(given, { strict: false });
      expect(loaded).toEqual({ missing: ["bias"], unexpected: ["scale"] });
      expect(layer.weight.data.every((value) => value === 1)).toBe(true);
      expect(layer.bias?.toArray()).toEqual(bias);
      const error = refusal(() => layer.loadStateDict(wrong(heed()), { strict: false }));
      expect(error.message).toBe(
        "state dict: expected the entries of the module, got 1 not fitting: weight (expected [2, 3], got [3, 2])",
      );
    });
  });

  test("may have 16-bit floats or doubles, but no whole numbers", () => {
    heed().scope(() => {
      const layer = new nn.Linear(heed(), 2, 1);
      const bias = { dtype: "float64", shape: [1], data: Float64Array.of(0.5) };
      for (const dtype of ["float16", "bfloat16"] as const) {
        layer.loadStateDict({ weight: heed().tensor([[1, -2]], [1, 2], dtype), bias });
        expect([layer.weight.toArray(), layer.bias?.toArray()]).toEqual([[[1, -2]], [0.5]]);
      }
      const longs = { dtype: "int64", shape: [1, 2], data: BigInt64Array.of(1n, 2n) };
      expect(refusal(() => layer.loadStateDict({ weight: longs, bias })).message).toBe(
        "state dict: expected the entries of the module, got 1 not fitting: weight (expected floating numbers, got int64)",
      );
      const untold = { shape: [1, 2], data: BigInt64Array.of(1n, 2n) };
      expect(refusal(() => layer.loadStateDict({ weight: untold, bias })).message).toMatch(
        /weight \(expected floating numbers, got a BigInt64Array\)$/,
      );
      const short = { shape: [1, 2], data: [1] };
      expect(refusal(() => layer.loadStateDict({ weight: short, bias })).message).toBe(
        "state dict: expected the entries of the module, got 1 not fitting: weight (expected 2 numbers, got 1)",
      );
    });
  });
});

test("train and eval reach all parts, and switch dropout", () => {
  heed().scope(() => {
    const model = new nn.Transformer(heed(), {
      dModel: 8,
      heads: 2,
      encoderLayers: 1,
      decoderLayers: 1,
      dimFeedforward: 8,
      dropout: 0.5,
    });
    randomise(model, 711);
    const x = heed().tensor(new Random(712).array([1, 4, 8]).data, [1, 4, 8]);
    const run = () => model.forward(x, x).toArray();
    expect(model.training).toBe(true);
    expect(run()).not.toEqual(run());
    expect(model.eval()).toBe(model);
    expect(model.decoder.layers[0]?.dropout2.training).toBe(false);
    expect(run()).toEqual(run());
    model.train();
    expect(model.decoder.layers[0]?.selfAttn.training).toBe(true);
    expect(run()).not.toEqual(run());
  });
});

describe("an error names the path of its module:", () => {
  const small = { dModel: 4, heads: 2, encoderLayers: 1, decoderLayers: 2, dimFeedforward: 6 };

  test("a wrong shape", () => {
    heed().scope(() => {
      const model = new nn.Transformer(heed(), small);
      const [src, tgt] = [heed().ones([1, 3, 4]), heed().ones([1, 3, 5])];
      const error = refusal(() => model.forward(src, tgt));
      expect(error.message).toMatch(
        /^decoder\.layers\.0\.self_attn: query: expected \[B, L, 4\], got \[1, 3, 5\]$/,
      );
      expect(error.code).toBe("shape");
      const second = model.decoder.layers[1] as nn.TransformerDecoderLayer;
      second.linear2.weight = heed().ones([4, 7]);
      const deep = refusal(() => model.forward(src, src));
      expect(deep.message).toBe(
        "decoder.layers.1.linear2: x: expected a last axis of 7, as weight [4, 7] has, got [1, 3, 6]",
      );
    });
  });

  test("an option", () => {
    heed().scope(() => {
      const model = new nn.TransformerEncoder(heed(), 4, 2, 1, { dimFeedforward: 6 });
      const mask = heed().tensor([[true, true]]);
      const error = refusal(() => model.forward(heed().ones([1, 3, 4]), { keyMask: mask }));
      expect(error.message).toBe("layers.0.self_attn: keyMask: expected [1, 3], got [1, 2]");
    });
  });

  test("no path for a model that is called alone", () => {
    heed().scope(() => {
      const error = refusal(() => new nn.Linear(heed(), 2, 2).forward(heed().ones([3])));
      expect(error.message).toBe("x: expected a last axis of 2, as weight [2, 2] has, got [3]");
    });
  });

  test("no change of other errors", () => {
    class Broken extends nn.Module {
      forward(): void {
        throw new RangeError("not of this library");
      }
    }
    const broken = new Broken(heed());
    expect(() => broken.forward()).toThrow(new RangeError("not of this library"));
    expect(() => broken.forward()).not.toThrow(HeedError);
  });
});

test("a module is short as JSON and as a text, whatever its size", () => {
  const model = new nn.Transformer(heed(), { dModel: 16, heads: 2, dimFeedforward: 16 });
  const { length } = model.parameters();
  const numbers = model.parameters().reduce((sum, { size }) => sum + size, 0);
  expect(JSON.parse(JSON.stringify({ model })).model).toEqual({
    ...{ module: "Transformer", training: true },
    ...{ parameters: length, numbers },
  });
  expect(String(model)).toBe("Transformer(encoder TransformerEncoder, decoder TransformerDecoder)");
  const linear = new nn.Linear(heed(), 3, 2);
  expect(String(linear)).toBe("Linear(weight [2, 3], bias [2])");
  expect(Object.keys(linear)).not.toContain("heed");
  expect(linear.heed).toBe(heed());
  model.dispose();
  linear.dispose();
});
