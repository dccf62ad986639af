/** The members of a model that pictures of a layer read. Language models have them, and models of tasks get them. */
import type { Heed, Tensor } from "heed";
import type { CausalLanguageModel } from "heed/models";
import type { nn } from "heed/nn";

type LanguageLayer = CausalLanguageModel["model"]["layers"][number];
type LanguageConfig = CausalLanguageModel["config"];

export interface Norm {
  readonly norm: "rms" | "layer";
  readonly eps: number;
  readonly weight: Tensor | undefined;
  readonly bias?: Tensor | undefined;
  forward(x: Tensor): Tensor;
}

/** The matrix [out, in] of a linear layer, in any format, and its bias. */
export interface Projection {
  readonly weight: unknown;
  readonly bias: Tensor | undefined;
}

export interface Linear extends Projection {
  forward(x: Tensor): Tensor;
}

export interface WalkedAttention
  extends Readonly<Record<"qProj" | "kProj" | "vProj", Projection>>,
    Partial<Pick<LanguageLayer["selfAttn"], "qNorm" | "kNorm">> {
  readonly oProj: Linear;
  readonly sizes: Pick<LanguageLayer["selfAttn"]["sizes"], "heads" | "kvHeads" | "headSize">;
}

/** A layer with norms before its parts or after them. */
export interface WalkedLayer {
  readonly inputLayernorm?: Norm | undefined;
  readonly selfAttn: WalkedAttention;
  /** Attention to the output of an encoder, and the norm before it. */
  readonly cross?: { readonly norm: Norm; readonly attention: WalkedAttention };
  readonly postAttentionLayernorm: Norm;
  readonly mlp: {
    readonly gateProj?: Linear | undefined;
    readonly upProj: Linear;
    readonly downProj: Linear;
    forward(x: Tensor): ReturnType<LanguageLayer["mlp"]["forward"]>;
  };
  readonly outputLayernorm?: Norm | undefined;
}

export interface WalkedModel {
  readonly heed: Heed;
  readonly config: Pick<LanguageConfig, "activation" | "heads" | "headSize" | "size"> & {
    readonly rotations?: LanguageConfig["rotations"];
  };
  readonly model: {
    readonly layers: readonly WalkedLayer[];
    /** The norm after the last layer. */
    readonly norm?: Norm | undefined;
  };
}

function normOf(norm: nn.LayerNorm): Norm {
  const { eps, weight, bias } = norm;
  return { norm: "layer", eps, weight, bias, forward: (x) => norm.forward(x) };
}

function attentionOf(heed: Heed, attention: nn.MultiHeadAttention): WalkedAttention {
  const { heads, embedDim: size, inProjWeight, inProjBias, outProj } = attention;
  /** The rows of the joint matrix for queries, keys or values. Its members must be read in a scope. */
  const third = (index: number) => {
    const rows = { axis: 0, start: index * size, length: size };
    return {
      get weight() {
        return heed.slice(inProjWeight as Tensor, rows);
      },
      get bias() {
        return inProjBias && heed.slice(inProjBias, rows);
      },
    };
  };
  return {
    sizes: { heads, kvHeads: heads, headSize: size / heads },
    ...{ qProj: third(0), kProj: third(1), vProj: third(2), oProj: outProj },
  };
}

function layerOf(
  heed: Heed,
  layer: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer,
): WalkedLayer {
  const { selfAttn, norm1, norm2, linear1, linear2, activation } = layer;
  const isDecoder = "multiheadAttn" in layer;
  return {
    inputLayernorm: normOf(norm1),
    selfAttn: attentionOf(heed, selfAttn),
    ...(isDecoder && {
      cross: { norm: normOf(norm2), attention: attentionOf(heed, layer.multiheadAttn) },
    }),
    postAttentionLayernorm: normOf(isDecoder ? layer.norm3 : norm2),
    mlp: {
      ...{ upProj: linear1, downProj: linear2 },
      forward(x) {
        const units = linear1.forward(x, activation);
        return { gate: undefined, up: undefined, units, output: linear2.forward(units) };
      },
    },
  };
}

/** A stack of layers of a model of a task. */
export function walkedStack(
  heed: Heed,
  { layers, norm }: nn.TransformerEncoder | nn.TransformerDecoder,
): WalkedModel {
  const { activation, selfAttn } = layers[0] as nn.TransformerEncoderLayer;
  const { heads, embedDim: size } = selfAttn;
  return {
    heed,
    config: { activation, heads, headSize: size / heads, size },
    model: {
      layers: layers.map((layer) => layerOf(heed, layer)),
      ...(norm && { norm: normOf(norm) }),
    },
  };
}
