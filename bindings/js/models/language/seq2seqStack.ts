// The encoder and the decoder of a model: their layers, positions and embedding (Vaswani et al., 2017, section 3).

import type { Tensor } from "../../core/tensor.js";
import type { Heed } from "../../heed.js";
import { Module } from "../../nn/module.js";
import type { TransformerCache } from "../../nn/transformerCache.js";
import { Attention, type StepContext } from "./attention.js";
import { distanceBias } from "./distances.js";
import type { Parameters } from "./parameters.js";
import { FeedForward, Normalisation, Table } from "./parts.js";
import type { Seq2SeqConfig } from "./seq2seqConfig.js";

type Side = "encoder" | "decoder";
type Memory = Pick<StepContext, "memory" | "mask">;

/** A layer of the encoder or the decoder. Its parts read the stream and add to it. */
class Seq2SeqLayer extends Module {
  /** @internal */ static override readonly toStringTag = "Seq2SeqLayer";
  readonly hasNormsBefore: boolean;
  readonly selfAttn: Attention;
  readonly selfAttnNorm: Normalisation;
  readonly crossAttn: Attention | undefined;
  readonly crossAttnNorm: Normalisation | undefined;
  readonly mlp: FeedForward;
  readonly mlpNorm: Normalisation;

  constructor(heed: Heed, config: Seq2SeqConfig, name: Side, parameters: Parameters) {
    super(heed);
    const { norm, eps, activation, positions, hasNormsBefore } = config;
    const { heads, headSize } = config[name];
    // T5's initial weights make up for the missing scale.
    const scale = positions === "distances" ? 1 : 1 / Math.sqrt(headSize);
    const sizes = { heads, kvHeads: heads, headSize, scale, window: undefined, eps };
    const normOf = (own: string) => new Normalisation(heed, norm, eps, parameters.of(own));
    const attention = (own: string, isCausal: boolean) =>
      new Attention(heed, { ...sizes, isCausal }, parameters.of(own));
    const isDecoder = name === "decoder";
    this.hasNormsBefore = hasNormsBefore;
    this.selfAttn = attention("self_attn", isDecoder);
    this.selfAttnNorm = normOf("self_attn_norm");
    this.crossAttn = isDecoder ? attention("cross_attn", false) : undefined;
    this.crossAttnNorm = isDecoder ? normOf("cross_attn_norm") : undefined;
    this.mlp = new FeedForward(heed, activation, parameters.of("mlp"));
    this.mlpNorm = normOf("mlp_norm");
  }

  /** x [B, L, E] -> [B, L, E] */
  forward(
    x: Tensor,
    own: StepContext,
    memory: Memory,
    cache: TransformerCache["layers"][number] | undefined,
  ): Tensor {
    const { selfAttn, crossAttn, crossAttnNorm, mlp } = this;
    const after = this.#added(
      x,
      this.selfAttnNorm,
      (read) => selfAttn.forward(read, own, cache?.selfAttn).output,
    );
    const attended =
      crossAttn && crossAttnNorm
        ? this.#added(
            after,
            crossAttnNorm,
            (read) => crossAttn.forward(read, memory, cache?.multiheadAttn).output,
          )
        : after;
    return this.#added(attended, this.mlpNorm, (read) => mlp.forward(read).output);
  }

  /** Adds a part to the stream, with the norm before the part or after the sum. */
  #added(x: Tensor, norm: Normalisation, part: (read: Tensor) => Tensor): Tensor {
    const { heed, hasNormsBefore } = this;
    if (hasNormsBefore) return heed.add(x, part(norm.forward(x)));
    return norm.forward(heed.add(x, part(x)));
  }
}

/** The encoder or the decoder. */
class Seq2SeqSide extends Module {
  /** @internal */ static override readonly toStringTag = "Seq2SeqSide";
  readonly config: Seq2SeqConfig;
  readonly name: Side;
  readonly embedPositions: Table | undefined;
  readonly embedNorm: Normalisation | undefined;
  readonly distances: Table | undefined;
  readonly layers: readonly Seq2SeqLayer[];
  readonly norm: Normalisation | undefined;

  constructor(heed: Heed, config: Seq2SeqConfig, name: Side, parameters: Parameters) {
    super(heed);
    this.config = config;
    this.name = name;
    const table = (own: Parameters) => new Table(heed, own);
    const norm = (own: Parameters) => new Normalisation(heed, config.norm, config.eps, own);
    this.embedPositions = parameters.optional("embed_positions", table);
    this.embedNorm = parameters.optional("embed_norm", norm);
    this.distances = parameters.optional("distances", table);
    this.layers = Array.from(
      { length: config[name].layers },
      (_, i) => new Seq2SeqLayer(heed, config, name, parameters.of(`layers.${i}`)),
    );
    this.norm = parameters.optional("norm", norm);
  }

  /** x [B, L, E], the embedding of tokens -> what enters the first layer, and the output of each layer */
  forward(x: Tensor, own: StepContext, memory: Memory = {}, cache?: TransformerCache): Tensor[] {
    const { heed, distances, norm } = this;
    const offset = cache?.lengths[0] ?? 0;
    const [, queries] = x.shape as [number, number];
    const { buckets, most } = this.config.distances;
    const sizes = { buckets, most, isBidirectional: this.name === "encoder" };
    const bias =
      distances &&
      distanceBias(heed, distances, { queries, keys: offset + queries, offset }, sizes);
    const embedded = this.#placed(x, offset);
    const states = [this.embedNorm?.forward(embedded) ?? embedded];
    for (const [i, layer] of this.layers.entries()) {
      const output = layer.forward(
        states.at(-1) as Tensor,
        { ...own, bias },
        memory,
        cache?.layers[i],
      );
      states.push(output);
    }
    const last = states.pop() as Tensor;
    return [...states, norm?.forward(last) ?? last];
  }

  /** Adds the vectors of the positions. */
  #placed(x: Tensor, offset: number): Tensor {
    const { heed, embedPositions } = this;
    const { positions, size, firstPosition, frequencyStep } = this.config;
    const [, length] = x.shape as [number, number];
    if (positions === "distances") return x;
    const first = offset + firstPosition;
    if (embedPositions) {
      const rows = Int32Array.from({ length }, (_, i) => first + i);
      return heed.add(x, embedPositions.forward(heed.tensor(rows)));
    }
    return heed.add(x, heed.tensor(waves(first, length, size, frequencyStep), [length, size]));
  }
}

/** Sines in the first half of a position's vector, and cosines in the second (Marian, M2M-100). */
function waves(first: number, length: number, size: number, step: number): Float32Array {
  const half = Math.ceil(size / 2);
  return Float32Array.from({ length: length * size }, (_, at) => {
    const [row, c] = [Math.floor(at / size), at % size];
    const angle = (first + row) / 10_000 ** ((c % half) * step);
    return c < half ? Math.sin(angle) : Math.cos(angle);
  });
}

/** The embedding, the encoder and the decoder. */
export class Seq2SeqStack extends Module {
  /** @internal */ static override readonly toStringTag = "Seq2SeqStack";
  readonly config: Seq2SeqConfig;
  readonly embedTokens: Table;
  readonly encoder: Seq2SeqSide;
  readonly decoder: Seq2SeqSide;

  constructor(heed: Heed, config: Seq2SeqConfig, parameters: Parameters) {
    super(heed);
    this.config = config;
    this.embedTokens = new Table(heed, parameters.of("embed_tokens"));
    this.encoder = new Seq2SeqSide(heed, config, "encoder", parameters.of("encoder"));
    this.decoder = new Seq2SeqSide(heed, config, "decoder", parameters.of("decoder"));
  }

  /** ids int32 [B, L] -> the embedding [B, L, E] */
  forward(ids: Tensor): Tensor {
    const { embeddingScale } = this.config;
    const x = this.embedTokens.forward(ids);
    return embeddingScale === 1 ? x : this.heed.multiply(x, embeddingScale);
  }
}
