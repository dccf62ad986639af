// How an encoder of sentences makes a text's vector (Reimers and Gurevych, "Sentence-BERT", 2019).

import { optional } from "../../core/objects.js";
import type { Tensor } from "../../core/tensor.js";
import type { Heed } from "../../heed.js";
import { Module } from "../../nn/module.js";
import type { Activation } from "../../ops/activate.js";
import { type Pooling, pool } from "./pooling.js";

/** The steps after the encoder, and the texts that are put before a text. */
export interface SentenceConfig {
  /** The ways of pooling, whose vectors are joined. */
  readonly poolings: readonly Pooling[];
  /** Whether the tokens of a prompt count in the pooling. */
  readonly includesPrompt: boolean;
  /** Whether the vectors have length 1. */
  readonly isNormalised: boolean;
  /** The largest number of tokens of a text; undefined for the context of the model. */
  readonly maxTokens: number | undefined;
  /** Whether texts become lower case before the tokenizer reads them. */
  readonly isLowerCase: boolean;
  /** Texts that are put before a text, by name, such as "query". */
  readonly prompts: Readonly<Record<string, string>>;
  /** The name of the prompt that is used by default. */
  readonly defaultPrompt: string | undefined;
  /** How two vectors are compared. */
  readonly similarity: "cosine" | "dot";
}

/** The steps of a model without modules.json. */
export const usual: SentenceConfig = {
  ...{ poolings: ["mean"], includesPrompt: true, isNormalised: false, maxTokens: undefined },
  isLowerCase: false,
  ...{ prompts: {}, defaultPrompt: undefined, similarity: "cosine" },
};

/** A linear layer after the pooling. */
export interface Dense {
  readonly weight: Tensor;
  readonly bias: Tensor | undefined;
  readonly activation: Activation | undefined;
}

/** The steps from the states of an encoder to the vectors of texts. */
export class SentenceHead extends Module {
  /** @internal */ static override readonly toStringTag = "SentenceHead";
  readonly config: SentenceConfig;
  readonly #dense: readonly Dense[];

  constructor(heed: Heed, config: SentenceConfig = usual, dense: readonly Dense[] = []) {
    super(heed);
    this.config = config;
    this.#dense = dense;
  }

  /** The number F of elements of a vector, for states of `size` elements. */
  vectorSize(size: number): number {
    return this.#dense.at(-1)?.weight.shape[0] ?? this.config.poolings.length * size;
  }

  /** states [B, L, E], seen [B * L], 1 for the positions that count -> [B, F] */
  forward(states: Tensor, seen: Uint8Array): Tensor {
    const { heed, config } = this;
    const pooled = config.poolings.map((each) => pool(heed, states, seen, each));
    let x = heed.concat(pooled, { axis: -1 });
    for (const { weight, bias, activation } of this.#dense) {
      const options = optional({ bias, activation });
      x = heed.linear(x, weight, options);
    }
    return config.isNormalised ? normalised(heed, x) : x;
  }

  override dispose(): void {
    super.dispose();
    for (const { weight, bias } of this.#dense) {
      weight.dispose();
      bias?.dispose();
    }
  }
}

/** Divides rows [..., E] by their lengths. */
export function normalised(heed: Heed, x: Tensor): Tensor {
  const size = x.shape.at(-1) as number;
  return heed.multiply(heed.rmsNorm(x, { eps: 1e-24 }), 1 / Math.sqrt(size));
}
