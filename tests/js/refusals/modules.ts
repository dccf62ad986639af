// Refused constructions and calls of modules. An error in a part of a module names the part: the table's
// `argument` begins with its path.

import { nn } from "heed/nn";
import { any, bools, type Case, disposed, gone, ints, row } from "./case.js";

const layers = "a whole number from 1 to 4096";
const size = "a whole number of 1 or more";
const rate = "a number from 0 to below 1";
const unknown = "an unknown one";

const made: Case[] = [
  row("a module without an engine", () => new nn.Linear(any(3), 4, any(5)), "option", [
    "heed",
    "an engine returned by load()",
    "3",
  ]),
  row("Linear of no inputs", (h) => new nn.Linear(h, 0, 4), "option", ["inFeatures", size, "0"]),
  row("Linear with a fraction of an output", (h) => new nn.Linear(h, 3, 0.5), "option", [
    "outFeatures",
    size,
    "0.5",
  ]),
  row("Linear with torch's positional bias", (h) => new nn.Linear(h, 3, 4, any(false)), "option", [
    "options",
    "an object",
    "false",
  ]),
  row(
    "Linear with an unknown option",
    (h) => new nn.Linear(h, 3, 4, any({ biases: true })),
    "option",
    ["biases", "an option of Linear (bias, generator)", unknown],
  ),
  row(
    "Linear with a number for a generator",
    (h) => new nn.Linear(h, 3, 4, { generator: any(3) }),
    "option",
    ["generator", "a generator", "3"],
  ),
  row("Embedding of no rows", (h) => new nn.Embedding(h, 0, 4), "option", [
    "embeddings",
    size,
    "0",
  ]),
  row(
    "Embedding with padding beyond its table",
    (h) => new nn.Embedding(h, 3, 4, { paddingIndex: 3 }),
    "option",
    ["paddingIndex", "a whole number from 0 to 2", "3"],
  ),
  row("LayerNorm of no axes", (h) => new nn.LayerNorm(h, []), "option", [
    "normalizedShape",
    "a size or a list of sizes of 1 or more",
    "[]",
  ]),
  row(
    "LayerNorm with a string for eps",
    (h) => new nn.LayerNorm(h, 3, { eps: any("1") }),
    "option",
    ["eps", "a finite float32 number", '"1"'],
  ),
  row("RMSNorm with a bias", (h) => new nn.RMSNorm(h, 3, any({ bias: true })), "option", [
    "bias",
    "an option of RMSNorm (eps, elementwiseAffine)",
    unknown,
  ]),
  row("Dropout at a rate of 1", (h) => new nn.Dropout(h, 1), "option", ["rate", rate, "1"]),
  row("Dropout at a rate of NaN", (h) => new nn.Dropout(h, Number.NaN), "option", [
    "rate",
    rate,
    "NaN",
  ]),
  row(
    "PositionalEncoding with a base of 0",
    (h) => new nn.PositionalEncoding(h, 4, { base: 0 }),
    "option",
    ["base", "a positive number", "0"],
  ),
  row(
    "MultiHeadAttention whose heads do not divide its size",
    (h) => new nn.MultiHeadAttention(h, 7, 2),
    "option",
    ["heads", "a divisor of embedDim 7", "2"],
  ),
  row(
    "MultiHeadAttention without heads",
    (h) => new nn.MultiHeadAttention(h, 4, any(undefined)),
    "option",
    ["heads", "a divisor of embedDim 4", "undefined"],
  ),
  row(
    "an encoder layer with an unknown activation",
    (h) => new nn.TransformerEncoderLayer(h, 4, 2, { activation: any("swish") }),
    "option",
    ["activation", '"relu" or "gelu"', '"swish"'],
  ),
  row(
    "a decoder layer with torch's name for an option",
    (h) => new nn.TransformerDecoderLayer(h, 4, 2, any({ dim_feedforward: 8 })),
    "option",
    [
      "dim_feedforward",
      "an option of TransformerDecoderLayer (dimFeedforward, dropout, activation, layerNormEps, normFirst, bias, generator)",
      unknown,
    ],
  ),
  row("a stack of no layers", (h) => new nn.TransformerEncoder(h, 4, 2, 0), "option", [
    "layers",
    layers,
    "0",
  ]),
  row(
    "a stack of more layers than the limit",
    (h) => new nn.TransformerDecoder(h, 4, 2, 2 ** 40),
    "option",
    ["layers", layers, "1099511627776"],
  ),
  row(
    "a stack of more layers than memory holds",
    (h) => new nn.TransformerEncoder(h, 256, 2, 4096, { dimFeedforward: 8 }),
    "memory",
    ["layers", "at most 3998 layers of 1074208 bytes each", "4096"],
  ),
  row("GRU of more layers than the limit", (h) => new nn.GRU(h, 3, 4, { layers: 1e5 }), "option", [
    "layers",
    layers,
    "100000",
  ]),
  row("GRU of more layers than memory holds", (h) => new nn.GRU(h, 2 ** 20, 2 ** 20), "memory", [
    "layers",
    "weights of at most 4294967296 bytes",
    "26388279066624",
  ]),
  row("train with a string", (h) => new nn.Dropout(h).train(any("yes")), "option", [
    "mode",
    "true or false",
    '"yes"',
  ]),
  row(
    "a stack with an unknown option",
    (h) => new nn.TransformerDecoder(h, 4, 2, 1, any({ norms: true })),
    "option",
    [
      "norms",
      "an option of TransformerDecoder (dimFeedforward, dropout, activation, layerNormEps, normFirst, bias, generator, norm)",
      unknown,
    ],
  ),
  row("a transformer of negative size", (h) => new nn.Transformer(h, { dModel: -1 }), "option", [
    "dModel",
    size,
    "-1",
  ]),
  row("GRU of no layers", (h) => new nn.GRU(h, 3, 4, { layers: 0 }), "option", [
    "layers",
    layers,
    "0",
  ]),
  row(
    "LuongAttention with an unknown score",
    (h) => new nn.LuongAttention(h, 3, 3, { score: any("cosine") }),
    "option",
    ["score", '"dot" or "general" or "concat"', '"cosine"'],
  ),
  row(
    'LuongAttention with "dot" of different sizes',
    (h) => new nn.LuongAttention(h, 3, 4),
    "option",
    ["keySize", 'querySize 3, as the score "dot" requires', "4"],
  ),
  row("BahdanauAttention of no size", (h) => new nn.BahdanauAttention(h, 3, 4, 0), "option", [
    "outFeatures",
    size,
    "0",
  ]),
  row("a default seed below 0", (h) => nn.manualSeed(h, -1), "option", [
    "seed",
    "a whole number from 0 to 4294967295",
    "-1",
  ]),
];

const called: Case[] = [
  row(
    "LayerNorm of rows of another size",
    (h, t) => new nn.LayerNorm(h, 4).forward(t(2, 3)),
    "shape",
    ["x", "[..., 4]", "[2, 3]"],
  ),
  row(
    "RMSNorm of a value that is not a tensor",
    (h) => new nn.RMSNorm(h, 4).forward(any(1)),
    "dtype",
    ["x", "a tensor", "1"],
  ),
  row("Embedding of floats", (h, t) => new nn.Embedding(h, 4, 2).forward(t(3)), "dtype", [
    "ids",
    "int32",
    "float32",
  ]),
  row(
    "Embedding of an unknown id",
    (h) => new nn.Embedding(h, 4, 2).forward(ints(h, 4)),
    "option",
    ["ids", "numbers from 0 to below 4", "4"],
  ),
  row(
    "SwiGLU of rows of another size",
    (h, t) => new nn.SwiGLU(h, 4, 6).forward(t(2, 3)),
    "shape",
    ["gate_proj: x", "a last axis of 4, as weight [6, 4] has", "[2, 3]"],
  ),
  row(
    "GRU with a state of a lower rank",
    (h, t) => new nn.GRU(h, 3, 4).forward(t(2, 5, 3), { state: t(2, 4) }),
    "shape",
    ["state", "[1, 2, 4]", "[2, 4]"],
  ),
  row(
    "GRU with an unknown option",
    (h, t) => new nn.GRU(h, 3, 4).forward(t(2, 5, 3), any({ hidden: 1 })),
    "option",
    ["hidden", "an option of GRU (state, lengths)", unknown],
  ),
  row(
    "MultiHeadAttention with a mask that is not a tensor",
    (h, t) => {
      const x = t(1, 2, 4);
      return new nn.MultiHeadAttention(h, 4, 2).forward(x, x, x, { mask: any([[true]]) });
    },
    "option",
    ["mask", "a tensor", "[[true]]"],
  ),
  row(
    "MultiHeadAttention without a key",
    (h, t) => new nn.MultiHeadAttention(h, 4, 2).forward(t(1, 2, 4), any(undefined), t(1, 2, 4)),
    "dtype",
    ["key", "a tensor", "undefined"],
  ),
  row(
    "MultiHeadAttention of a disposed query",
    (h, t) => new nn.MultiHeadAttention(h, 4, 2).forward(disposed(h), t(1, 2, 4), t(1, 2, 4)),
    "disposed",
    ["query", ...gone],
  ),
  row(
    "MultiHeadAttention with a cache and a query of another size",
    (h, t) => {
      const layer = new nn.MultiHeadAttention(h, 4, 2);
      using cache = layer.createCache({ capacity: 2 });
      const x = t(1, 1, 6);
      return layer.forward(x, x, x, { cache });
    },
    "shape",
    ["query", "[B, L, 4]", "[1, 1, 6]"],
  ),
  row(
    "MultiHeadAttention with a full cache",
    (h, t) => {
      const layer = new nn.MultiHeadAttention(h, 4, 2);
      using cache = layer.createCache({ capacity: 2 });
      const x = t(1, 3, 4);
      return layer.forward(x, x, x, { cache });
    },
    "option",
    ["past", "room for 3 more tokens in sequence 0", "2 of 2"],
  ),
  row(
    "MultiHeadAttention with a cache and a key mask of rank 3",
    (h, t) => {
      const layer = new nn.MultiHeadAttention(h, 4, 2);
      using cache = layer.createCache({ capacity: 2 });
      const x = t(1, 1, 4);
      return layer.forward(x, x, x, { cache, keyMask: bools(h, 1, 1, 1) });
    },
    "shape",
    ["keyMask", "bool [B, S]", "bool [1, 1, 1]"],
  ),
  row(
    "a stack with the cache of a layer",
    (h, t) => {
      const stack = new nn.TransformerEncoder(h, 4, 2, 1, { dimFeedforward: 8 });
      using cache = stack.createCache({ capacity: 2 });
      return stack.forward(t(1, 1, 4), { cache: any(cache.layers[0]) });
    },
    "option",
    ["cache", "a cache made by createCache", "an Object"],
  ),
  row(
    "an encoder with the decoder's option",
    (h, t) =>
      new nn.TransformerEncoder(h, 4, 2, 1, { dimFeedforward: 8 }).forward(
        t(1, 1, 4),
        any({ tgtIsCausal: true }),
      ),
    "option",
    [
      "tgtIsCausal",
      "an option of TransformerEncoder (mask, keyMask, isCausal, cache, receiveLayer)",
      unknown,
    ],
  ),
  row(
    "captureAttention without a module",
    () =>
      nn.captureAttention(
        any({}),
        () => {},
        () => {},
      ),
    "option",
    ["root", "a module", "an Object"],
  ),
];

export const modules: Case[] = [...made, ...called];
