// The Vision Transformer in double precision, written directly from Dosovitskiy et al. (2021), section 3.1.
// Parameters have the names of the checkpoints of Hugging Face's hub, without their prefix.

import { type Answer, attend } from "./language_oracle.js";
import { add, layerNorm, linear, map, type Parameters } from "./layer_oracle.js";
import { activations, splitHeads, type Values } from "./oracle.js";

/** The states of L positions, [N, L, E] each, and logits [N, classes]. */
export interface VisionAnswer extends Answer {
  /** The last state after the norm. */
  output: Values;
}

export interface Sizes {
  layers: number;
  heads: number;
  eps: number;
}

/** A convolution whose stride is the size of its kernel: pixels [N, C, S, S] -> rows of E numbers. */
function convolved({ data, shape }: Values, weight: Values, bias: Values): number[][][] {
  const [N, , S] = shape as [number, number, number, number];
  const [E, C, P] = weight.shape as [number, number, number, number];
  const range = (size: number) => Array.from({ length: size }, (_, i) => i);
  const numberAt = (n: number, place: readonly [top: number, left: number], e: number) => {
    let sum = bias.data[e] as number;
    for (const c of range(C)) {
      for (const dy of range(P)) {
        for (const dx of range(P)) {
          const pixel = data[((n * C + c) * S + place[0] + dy) * S + place[1] + dx] as number;
          sum += pixel * (weight.data[((e * C + c) * P + dy) * P + dx] as number);
        }
      }
    }
    return sum;
  };
  const corners = range(S / P).flatMap((y) => range(S / P).map((x) => [y * P, x * P] as const));
  return range(N).map((n) => corners.map((corner) => range(E).map((e) => numberAt(n, corner, e))));
}

/** pixels [N, C, S, S] */
export function vit(p: Parameters, { layers, heads, eps }: Sizes, pixels: Values): VisionAnswer {
  const embeddings = p.of("embeddings");
  const projection = embeddings.of("patch_embeddings.projection");
  const [weight, bias] = [projection.get("weight"), projection.get("bias")];
  const [token, places] = [embeddings.get("cls_token"), embeddings.get("position_embeddings")];
  const images = convolved(pixels, weight, bias).map((patches) => [
    Array.from(token.data),
    ...patches,
  ]);
  const [N, L, E] = [images.length, images[0]?.length as number, weight.shape[0] as number];
  const position = (i: number) => places.data[i % (L * E)] as number;
  let x: Values = {
    data: images.flat(2).map((number, i) => number + position(i)),
    shape: [N, L, E],
  };
  const hidden = [x];
  const weights: Values[] = [];
  for (let i = 0; i < layers; ++i) {
    const layer = p.of(`encoder.layer.${i}`);
    const normed = layerNorm(layer.of("layernorm_before"), x, eps);
    const project = (name: string) =>
      splitHeads(linear(layer.of(`attention.attention.${name}`), normed), heads);
    const question = { q: project("query"), k: project("key"), v: project("value") };
    x = add(x, linear(layer.of("attention.output.dense"), attend(question, weights)));
    const second = layerNorm(layer.of("layernorm_after"), x, eps);
    const units = map(linear(layer.of("intermediate.dense"), second), activations.gelu);
    x = add(x, linear(layer.of("output.dense"), units));
    hidden.push(x);
  }
  const output = layerNorm(p.of("layernorm"), x, eps);
  const first = Array.from(output.data).filter((_, i) => Math.floor(i / E) % L === 0);
  const read = (name: string) =>
    p.of(name).find("weight") && linear(p.of(name), { data: first, shape: [N, E] });
  const pooled = read("pooler.dense");
  const logits = read("classifier");
  return { hidden, weights, output, pooled: pooled && map(pooled, Math.tanh), logits };
}
