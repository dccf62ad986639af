// Refused constructions and calls of modules. An error in a part of a module names the part: the table's
// error begins with its path.

import type { Heed, Tensor } from "heed";
import { nn } from "heed/nn";
import { any, bools, disposed, gone, ints, type Refusals } from "./case.js";

const layers = "a whole number from 1 to 4096";
const size = "a whole number of 1 or more";
const rate = "a number from 0 to below 1";

const made: Refusals = {
  "a module without an engine": [
    () => new nn.Linear(any(3), 4, any(5)),
    "option: heed: expected an engine returned by load(), got 3",
  ],
  "Linear of no inputs": [
    (h) => new nn.Linear(h, 0, 4),
    `option: inFeatures: expected ${size}, got 0`,
  ],
  "Linear with a fraction of an output": [
    (h) => new nn.Linear(h, 3, 0.5),
    `option: outFeatures: expected ${size}, got 0.5`,
  ],
  "Linear with torch's positional bias": [
    (h) => new nn.Linear(h, 3, 4, any(false)),
    "option: options: expected an object, got false",
  ],
  "Linear with an unknown option": [
    (h) => new nn.Linear(h, 3, 4, any({ biases: true })),
    `option: biases: expected an option of Linear (bias, generator), got an unknown one`,
  ],
  "Linear with a number for a generator": [
    (h) => new nn.Linear(h, 3, 4, { generator: any(3) }),
    "option: generator: expected a generator, got 3",
  ],
  "Embedding of no rows": [
    (h) => new nn.Embedding(h, 0, 4),
    `option: embeddings: expected ${size}, got 0`,
  ],
  "Embedding with padding beyond its table": [
    (h) => new nn.Embedding(h, 3, 4, { paddingIndex: 3 }),
    "option: paddingIndex: expected a whole number from 0 to 2, got 3",
  ],
  "LayerNorm of no axes": [
    (h) => new nn.LayerNorm(h, []),
    "option: normalizedShape: expected a size or a list of sizes of 1 or more, got []",
  ],
  "LayerNorm with a string for eps": [
    (h) => new nn.LayerNorm(h, 3, { eps: any("1") }),
    'option: eps: expected a finite float32 number, got "1"',
  ],
  "RMSNorm with a bias": [
    (h) => new nn.RMSNorm(h, 3, any({ bias: true })),
    `option: bias: expected an option of RMSNorm (eps, elementwiseAffine), got an unknown one`,
  ],
  "Dropout at a rate of 1": [(h) => new nn.Dropout(h, 1), `option: rate: expected ${rate}, got 1`],
  "Dropout at a rate of NaN": [
    (h) => new nn.Dropout(h, Number.NaN),
    `option: rate: expected ${rate}, got NaN`,
  ],
  "PositionalEncoding with a base of 0": [
    (h) => new nn.PositionalEncoding(h, 4, { base: 0 }),
    "option: base: expected a positive number, got 0",
  ],
  "MultiHeadAttention whose heads do not divide its size": [
    (h) => new nn.MultiHeadAttention(h, 7, 2),
    "option: heads: expected a divisor of embedDim 7, got 2",
  ],
  "MultiHeadAttention without heads": [
    (h) => new nn.MultiHeadAttention(h, 4, any(undefined)),
    "option: heads: expected a divisor of embedDim 4, got undefined",
  ],
  "an encoder layer with an unknown activation": [
    (h) => new nn.TransformerEncoderLayer(h, 4, 2, { activation: any("swish") }),
    'option: activation: expected "relu" or "gelu", got "swish"',
  ],
  "a decoder layer with torch's name for an option": [
    (h) => new nn.TransformerDecoderLayer(h, 4, 2, any({ dim_feedforward: 8 })),
    `option: dim_feedforward: expected an option of TransformerDecoderLayer (dimFeedforward, dropout, activation, layerNormEps, normFirst, bias, generator), got an unknown one`,
  ],
  "a stack of no layers": [
    (h) => new nn.TransformerEncoder(h, 4, 2, 0),
    `option: layers: expected ${layers}, got 0`,
  ],
  "a stack of more layers than the limit": [
    (h) => new nn.TransformerDecoder(h, 4, 2, 2 ** 40),
    `option: layers: expected ${layers}, got 1099511627776`,
  ],
  "a stack of more layers than memory holds": [
    (h) => new nn.TransformerEncoder(h, 256, 2, 4096, { dimFeedforward: 8 }),
    "memory: layers: expected at most 3998 layers of 1074208 bytes each, got 4096",
  ],
  "GRU of more layers than the limit": [
    (h) => new nn.GRU(h, 3, 4, { layers: 1e5 }),
    `option: layers: expected ${layers}, got 100000`,
  ],
  "GRU of more layers than memory holds": [
    (h) => new nn.GRU(h, 2 ** 20, 2 ** 20),
    "memory: layers: expected weights of at most 4294967296 bytes, got 26388279066624",
  ],
  "train with a string": [
    (h) => new nn.Dropout(h).train(any("yes")),
    'option: mode: expected true or false, got "yes"',
  ],
  "a stack with an unknown option": [
    (h) => new nn.TransformerDecoder(h, 4, 2, 1, any({ norms: true })),
    `option: norms: expected an option of TransformerDecoder (dimFeedforward, dropout, activation, layerNormEps, normFirst, bias, generator, norm), got an unknown one`,
  ],
  "a transformer of negative size": [
    (h) => new nn.Transformer(h, { dModel: -1 }),
    `option: dModel: expected ${size}, got -1`,
  ],
  "GRU of no layers": [
    (h) => new nn.GRU(h, 3, 4, { layers: 0 }),
    `option: layers: expected ${layers}, got 0`,
  ],
  "LuongAttention with an unknown score": [
    (h) => new nn.LuongAttention(h, 3, 3, { score: any("cosine") }),
    'option: score: expected "dot" or "general" or "concat", got "cosine"',
  ],
  'LuongAttention with "dot" of different sizes': [
    (h) => new nn.LuongAttention(h, 3, 4),
    'option: keySize: expected querySize 3, as the score "dot" requires, got 4',
  ],
  "BahdanauAttention of no size": [
    (h) => new nn.BahdanauAttention(h, 3, 4, 0),
    `option: attentionSize: expected ${size}, got 0`,
  ],
  "a default seed below 0": [
    (h) => nn.manualSeed(h, -1),
    "option: seed: expected a whole number from 0 to 4294967295, got -1",
  ],
};

function attendWithCache(heed: Heed, x: Tensor, options: object = {}): unknown {
  const layer = new nn.MultiHeadAttention(heed, 4, 2);
  using cache = layer.createCache({ capacity: 2 });
  return layer.forward(x, x, x, { cache, ...options });
}

const called: Refusals = {
  "LayerNorm of rows of another size": [
    (h, t) => new nn.LayerNorm(h, 4).forward(t(2, 3)),
    "shape: x: expected [..., 4], got [2, 3]",
  ],
  "RMSNorm of a value that is not a tensor": [
    (h) => new nn.RMSNorm(h, 4).forward(any(1)),
    "dtype: x: expected a tensor, got 1",
  ],
  "Embedding of floats": [
    (h, t) => new nn.Embedding(h, 4, 2).forward(t(3)),
    "dtype: ids: expected int32, got float32",
  ],
  "Embedding of an unknown id": [
    (h) => new nn.Embedding(h, 4, 2).forward(ints(h, 4)),
    "option: ids: expected numbers from 0 to below 4, got 4",
  ],
  "SwiGLU of rows of another size": [
    (h, t) => new nn.SwiGLU(h, 4, 6).forward(t(2, 3)),
    "shape: gate_proj: x: expected a last axis of 4, as weight [6, 4] has, got [2, 3]",
  ],
  "GRU with a state of a lower rank": [
    (h, t) => new nn.GRU(h, 3, 4).forward(t(2, 5, 3), { state: t(2, 4) }),
    "shape: state: expected [1, 2, 4], got [2, 4]",
  ],
  "GRU with an unknown option": [
    (h, t) => new nn.GRU(h, 3, 4).forward(t(2, 5, 3), any({ hidden: 1 })),
    `option: hidden: expected an option of GRU (state, lengths), got an unknown one`,
  ],
  "MultiHeadAttention with a mask that is not a tensor": [
    (h, t) => {
      const x = t(1, 2, 4);
      return new nn.MultiHeadAttention(h, 4, 2).forward(x, x, x, { mask: any([[true]]) });
    },
    "option: mask: expected a tensor, got [[true]]",
  ],
  "MultiHeadAttention without a key": [
    (h, t) => new nn.MultiHeadAttention(h, 4, 2).forward(t(1, 2, 4), any(undefined), t(1, 2, 4)),
    "dtype: key: expected a tensor, got undefined",
  ],
  "MultiHeadAttention of a disposed query": [
    (h, t) => new nn.MultiHeadAttention(h, 4, 2).forward(disposed(h), t(1, 2, 4), t(1, 2, 4)),
    `disposed: query: ${gone}`,
  ],
  "MultiHeadAttention with a cache and a query of another size": [
    (h, t) => attendWithCache(h, t(1, 1, 6)),
    "shape: query: expected [B, L, 4], got [1, 1, 6]",
  ],
  "MultiHeadAttention with a full cache": [
    (h, t) => attendWithCache(h, t(1, 3, 4)),
    "option: past: expected room for 3 more tokens in sequence 0, got 2 of 2",
  ],
  "MultiHeadAttention with a cache and a key mask of rank 3": [
    (h, t) => attendWithCache(h, t(1, 1, 4), { keyMask: bools(h, 1, 1, 1) }),
    "shape: keyMask: expected bool [B, S], got bool [1, 1, 1]",
  ],
  "a stack with the cache of a layer": [
    (h, t) => {
      const stack = new nn.TransformerEncoder(h, 4, 2, 1, { dimFeedforward: 8 });
      using cache = stack.createCache({ capacity: 2 });
      return stack.forward(t(1, 1, 4), { cache: any(cache.layers[0]) });
    },
    "option: cache: expected a cache made by createCache, got an Object",
  ],
  "an encoder with the decoder's option": [
    (h, t) =>
      new nn.TransformerEncoder(h, 4, 2, 1, { dimFeedforward: 8 }).forward(
        t(1, 1, 4),
        any({ tgtIsCausal: true }),
      ),
    `option: tgtIsCausal: expected an option of TransformerEncoder (mask, keyMask, isCausal, cache, receiveLayer), got an unknown one`,
  ],
  "captureAttention without a module": [
    () =>
      nn.captureAttention(
        any({}),
        () => {},
        () => {},
      ),
    "option: root: expected a module, got an Object",
  ],
};

export const modules: Refusals = { ...made, ...called };
