// Training of a whole model: the result does not depend on the number of threads, and no memory leaks.

import { type Heed, load, type Tensor } from "heed";
import { nn, optim, valueAndGrad } from "heed/nn";
import { expect, test } from "vitest";
import { variants } from "../engine.js";
import { ids } from "../modules.js";
import { expectSameBits } from "../values.js";

const [V, E, B, L] = [11, 32, 16, 12];

/** An encoder and a decoder that share one embedding, with dropout everywhere. */
class Model extends nn.Module {
  readonly embed: nn.Embedding;
  readonly position: nn.PositionalEncoding;
  readonly transformer: nn.Transformer;
  readonly readOut: nn.Linear;

  constructor(heed: Heed) {
    super(heed);
    this.embed = new nn.Embedding(heed, V, E, { paddingIndex: 0 });
    this.position = new nn.PositionalEncoding(heed, E);
    this.transformer = new nn.Transformer(heed, {
      ...{ dModel: E, heads: 4, encoderLayers: 1, decoderLayers: 1, dimFeedforward: 48 },
    });
    this.readOut = new nn.Linear(heed, E, V, { bias: false });
    this.readOut.weight.dispose();
    this.readOut.weight = this.embed.weight;
  }

  forward(src: Tensor, tgt: Tensor): Tensor {
    const at = (tokens: Tensor) => this.position.forward(this.embed.forward(tokens));
    return this.readOut.forward(this.transformer.forward(at(src), at(tgt), { tgtIsCausal: true }));
  }
}

/** Trains for a number of steps on batches of random tokens; returns the loss of each step. */
function train(heed: Heed, model: Model, optimizer: optim.AdamW, steps: number): number[] {
  return Array.from({ length: steps }, (_, step) =>
    heed.scope(() => {
      const [src, tgt] = [ids(heed, [B, L], V, 2 * step), ids(heed, [B, L], V, 2 * step + 1)];
      const loss = () => heed.crossEntropy(model.forward(src, tgt), src, { ignoreIndex: 0 });
      const { value, gradients } = valueAndGrad(model, loss);
      optim.clipGradNorm(gradients, 1);
      optimizer.step(gradients);
      return value;
    }),
  );
}

test.each(variants)("the %s binary trains the same with any number of threads", async (variant) => {
  const runs: { losses: number[]; model: Model; heed: Heed }[] = [];
  for (const threads of [1, 2, 3]) {
    const heed = await load({ variant, threads });
    nn.manualSeed(heed, 781);
    const model = new Model(heed);
    const losses = train(heed, model, new optim.AdamW(model, { learningRate: 0.01 }), 4);
    runs.push({ losses, model, heed });
  }
  const [first, ...others] = runs;
  for (const { losses, model } of others) {
    expect(losses).toEqual(first?.losses);
    const expected = first?.model.stateDict() ?? {};
    for (const [name, tensor] of Object.entries(model.stateDict()))
      expectSameBits(tensor.data, expected[name]?.data as Float32Array);
  }
  for (const { heed } of runs) heed.dispose();
});

test("a step leaks nothing", async () => {
  // The memory suffices for a few steps at the same time, not for fifty.
  const heed = await load({ threads: 1, maxMemory: 32 * 2 ** 20 });
  const model = new Model(heed);
  const optimizer = new optim.AdamW(model, { learningRate: 0.01 });
  const losses = train(heed, model, optimizer, 150);
  expect(losses.every(Number.isFinite)).toBe(true);
  const mean = (values: number[]) => values.reduce((sum, x) => sum + x, 0) / values.length;
  expect(mean(losses.slice(-10))).toBeLessThan(mean(losses.slice(0, 10)));
  heed.dispose();
});
