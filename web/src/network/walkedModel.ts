/** The members of a model that pictures of a layer read. Language models have them, and models of tasks get them. */
import type { Heed, Tensor } from "heed";
import type { CausalLanguageModel } from "heed/models";

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
