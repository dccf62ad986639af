// The attention of language models.

import { optional } from "../../core/objects.js";
import type { Tensor } from "../../core/tensor.js";
import type { Heed } from "../../heed.js";
import { comparedOf, receiverOf } from "../../nn/capture.js";
import { Module } from "../../nn/module.js";
import type { AttentionOptions } from "../../ops/attention.js";
import type { KvCache } from "../../ops/kvCache.js";
import type { StackConfig } from "./fields.js";
import type { Parameters } from "./parameters.js";
import { Normalisation, Projection } from "./parts.js";
import type { RotationTables } from "./rotation.js";

export interface AttentionSizes {
  readonly heads: number;
  readonly kvHeads: number;
  readonly headSize: number;
  readonly scale: number;
  readonly isCausal: boolean;
  /** The limit c of the scores, c tanh(score / c); undefined for none. */
  readonly softcap?: number | undefined;
  /** The numbers of keys before and after its own position that a query sees; undefined for all. */
  readonly window: readonly [before: number, after: number] | undefined;
  /** The eps of the norms of queries and keys, and the number that is added to their weights. */
  readonly eps: number;
  readonly normOffset?: number;
}

/** The sizes of attention in which every query sees all keys. */
export const openSizes = ({
  heads,
  headSize,
  eps,
}: Pick<StackConfig, "heads" | "headSize" | "eps">) => ({
  ...{ heads, kvHeads: heads, headSize, scale: 1 / Math.sqrt(headSize), eps },
  ...{ isCausal: false, window: undefined },
});

/** The data of a step that all layers of a model share. */
export interface StepContext {
  readonly rotation?: RotationTables | undefined;
  /** bool [B, 1, 1, S], true where a key may be seen. */
  readonly mask?: Tensor | undefined;
  /** float32 [1, H, L, S], added to the scores. */
  readonly bias?: Tensor | undefined;
  /**
   * The states [B, S, E] of an encoder, which give keys and values instead of the queries' own; or
   * "cached" if the cache has them.
   */
  readonly memory?: Tensor | "cached" | undefined;
}

interface Attended {
  readonly headOutputs: Tensor;
  readonly output: Tensor;
}

/**
 * Attention of positions to each other or to the states of an encoder. A model may have grouped heads
 * (Ainslie et al., 2023), rotary positions (Su et al., 2021), and norms of queries and keys.
 */
export class Attention extends Module {
  /** @internal */ static override readonly toStringTag = "Attention";
  readonly sizes: AttentionSizes;
  readonly qProj: Projection;
  readonly kProj: Projection;
  readonly vProj: Projection;
  readonly oProj: Projection;
  readonly qNorm: Normalisation | undefined;
  readonly kNorm: Normalisation | undefined;
  /** @internal Ablated heads, and the outputs [D] in place of theirs, zeros if undefined: see withoutHeads. */
  ablated: ReadonlyMap<number, Float32Array | undefined> = new Map();

  constructor(heed: Heed, sizes: AttentionSizes, parameters: Parameters) {
    super(heed);
    this.sizes = sizes;
    this.qProj = new Projection(heed, parameters.of("q_proj"));
    this.kProj = new Projection(heed, parameters.of("k_proj"));
    this.vProj = new Projection(heed, parameters.of("v_proj"));
    this.oProj = new Projection(heed, parameters.of("o_proj"));
    const { eps, normOffset } = sizes;
    const norm = (name: string) =>
      parameters.optional(name, (own) => new Normalisation(heed, "rms", eps, own, normOffset));
    this.qNorm = norm("q_norm");
    this.kNorm = norm("k_norm");
  }

  /** x [B, L, E] -> [B, L, E], and the weighted sums of values, head after head, [B, L, H * D] */
  forward(x: Tensor, context: StepContext, cache?: KvCache): Attended {
    const { heed } = this;
    const { rotation, mask, bias, memory = x } = context;
    const { heads, kvHeads, headSize, scale, softcap, isCausal, window } = this.sizes;
    const q = this.#placed(this.qProj.forward(x), heads, this.qNorm, rotation);
    const none = () => heed.zeros([x.shape[0] as number, 0, kvHeads * headSize]);
    const [k, v] =
      memory === "cached"
        ? [none(), none()]
        : [
            this.#placed(this.kProj.forward(memory), kvHeads, this.kNorm, rotation),
            this.vProj.forward(memory),
          ];
    const sizes = { heads, kvHeads, scale, isCausal, window, softcap };
    const options: AttentionOptions = optional({ ...sizes, mask, bias, past: cache });
    const receive = receiverOf(this);
    const attended = heed.attention(q, k, v, { ...options, needWeights: receive !== undefined });
    const { output, weights } = attended;
    const compare = () => {
      const own = optional({ scale, softcap, bias, capture: "masked" as const });
      return comparedOf(heed, [q, k, v], headSize, own);
    };
    if (weights !== undefined) receive?.(weights, cache ? undefined : compare);
    const headOutputs = this.ablated.size > 0 ? this.#ablate(output) : output;
    return { headOutputs, output: this.oProj.forward(headOutputs) };
  }

  /** Normalises and rotates the queries or keys [B, L, heads * D]. */
  #placed(
    x: Tensor,
    heads: number,
    norm: Normalisation | undefined,
    rotation: RotationTables | undefined,
  ): Tensor {
    const { heed } = this;
    const { headSize } = this.sizes;
    const { shape } = x;
    const split = [...shape.slice(0, -1), heads, headSize];
    const normed = norm ? heed.reshape(norm.forward(heed.reshape(x, split)), shape) : x;
    return rotation ? heed.rope(normed, { heads, ...rotation }) : normed;
  }

  /** Replaces the outputs of the ablated heads in [B, L, H * D]. */
  #ablate(output: Tensor): Tensor {
    const { heed, ablated } = this;
    const { heads, headSize } = this.sizes;
    const kept = new Float32Array(heads * headSize).fill(1);
    const instead = new Float32Array(heads * headSize);
    for (const [head, own] of ablated) {
      kept.fill(0, head * headSize, (head + 1) * headSize);
      if (own) instead.set(own, head * headSize);
    }
    const rest = heed.multiply(output, heed.tensor(kept));
    return [...ablated.values()].some(Boolean) ? heed.add(rest, heed.tensor(instead)) : rest;
  }
}

/** The attention of each layer to its own positions, by its path. */
export const attentionsOf = (
  layers: readonly { readonly selfAttn: Attention }[],
  path = "model",
): Map<string, Attention> =>
  new Map(layers.map(({ selfAttn }, i) => [`${path}.layers.${i}.self_attn`, selfAttn]));
