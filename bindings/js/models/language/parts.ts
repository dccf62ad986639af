// The parts of language models that are one operation on parameters. Unlike the modules of heed/nn,
// they take existing parameters, which may be stored in fewer bits.

import { optional } from "../../core/objects.js";
import { Tensor } from "../../core/tensor.js";
import type { Heed } from "../../heed.js";
import { Module } from "../../nn/module.js";
import type { Activation } from "../../ops/activate.js";
import type { PackedWeights } from "../../ops/packedWeights.js";
import type { ByteTable } from "./byteTable.js";
import type { Parameter, Parameters } from "./parameters.js";

/** The weight [out, in] of a linear layer. */
export type LinearWeight = Exclude<Parameter, ByteTable>;

/** Computes x W^T + b with a weight that is a tensor or packed weights. */
export function product(
  heed: Heed,
  x: Tensor,
  weight: LinearWeight,
  bias?: Tensor,
  activation?: Activation,
): Tensor {
  const whole = weight instanceof Tensor ? weight : weight.length === 1 ? weight[0] : undefined;
  if (whole) return heed.linear(x, whole, optional({ bias, activation }));
  return heed.scope(() => {
    let start = 0;
    const products = (weight as readonly PackedWeights[]).map((block) =>
      heed.scope(() => {
        const length = block.shape[0] as number;
        const own = bias && heed.slice(bias, { axis: 0, start, length });
        start += length;
        return heed.linear(x, block, optional({ bias: own, activation }));
      }),
    );
    return heed.concat(products, { axis: -1 });
  });
}

/** A linear layer: x [..., in] -> [..., out], followed by the activation if one is given. */
export class Projection extends Module {
  /** @internal */ static override readonly toStringTag = "Projection";
  /** [out, in] */
  readonly weight: LinearWeight;
  readonly bias: Tensor | undefined;

  constructor(heed: Heed, parameters: Parameters) {
    super(heed);
    this.weight = parameters.weight as LinearWeight;
    this.bias = parameters.tensor("bias");
  }

  forward(x: Tensor, activation?: Activation): Tensor {
    return product(this.heed, x, this.weight, this.bias, activation);
  }

  override dispose(): void {
    super.dispose();
    if (!(this.weight instanceof Tensor)) for (const block of this.weight) block.dispose();
  }
}

/** Rows of a table [V, E], float32, float16 or bytes: ids int32 [...] -> float32 [..., E]. */
export class Table extends Module {
  /** @internal */ static override readonly toStringTag = "Table";
  readonly weight: Tensor | ByteTable;

  constructor(heed: Heed, parameters: Parameters) {
    super(heed);
    this.weight = parameters.weight as Tensor | ByteTable;
  }

  forward(ids: Tensor): Tensor {
    const { heed, weight } = this;
    return weight instanceof Tensor ? heed.embedding(ids, weight) : weight.lookUp(heed, ids);
  }

  override dispose(): void {
    super.dispose();
    if (!(this.weight instanceof Tensor)) this.weight.dispose();
  }
}

/** Layer norm or RMS norm over the last axis. */
export class Normalisation extends Module {
  /** @internal */ static override readonly toStringTag = "Normalisation";
  readonly norm: "layer" | "rms";
  readonly eps: number;
  /** The number that is added to the weight. */
  readonly offset: number;
  /** [E] */
  readonly weight: Tensor | undefined;
  readonly bias: Tensor | undefined;

  constructor(heed: Heed, norm: "layer" | "rms", eps: number, parameters: Parameters, offset = 0) {
    super(heed);
    this.norm = norm;
    this.eps = eps;
    this.offset = offset;
    this.weight = parameters.tensor("weight");
    this.bias = parameters.tensor("bias");
  }

  /** x [..., E] -> [..., E] */
  forward(x: Tensor): Tensor {
    const { heed, eps, weight, bias, offset } = this;
    const own = weight && offset !== 0 ? heed.add(weight, offset) : weight;
    return this.norm === "rms"
      ? heed.rmsNorm(x, optional({ eps, weight: own }))
      : heed.layerNorm(x, optional({ eps, weight: own, bias }));
  }
}

interface Fed {
  /** The gate before its activation; `gate` and `up` are undefined without a gate. */
  readonly gate: Tensor | undefined;
  readonly up: Tensor | undefined;
  readonly units: Tensor;
  readonly output: Tensor;
}

/** The feed-forward network: down(f(up(x))), or with a gate down(f(gate(x)) * up(x)). */
export class FeedForward extends Module {
  /** @internal */ static override readonly toStringTag = "FeedForward";
  readonly activation: Activation;
  readonly gateProj: Projection | undefined;
  readonly upProj: Projection;
  readonly downProj: Projection;

  constructor(heed: Heed, activation: Activation, parameters: Parameters) {
    super(heed);
    this.activation = activation;
    this.gateProj = parameters.optional("gate_proj", (own) => new Projection(heed, own));
    this.upProj = new Projection(heed, parameters.of("up_proj"));
    this.downProj = new Projection(heed, parameters.of("down_proj"));
  }

  /** x [..., E] -> [..., E], and the hidden layer, [..., F] each */
  forward(x: Tensor): Fed {
    const { gateProj, upProj, downProj } = this;
    const [gate, up] = gateProj
      ? ([gateProj.forward(x), upProj.forward(x)] as const)
      : [undefined, undefined];
    const units = gate ? this.#gated(gate, up) : upProj.forward(x, this.activation);
    return { gate, up, units, output: downProj.forward(units) };
  }

  #gated(gate: Tensor, up: Tensor): Tensor {
    const { heed, activation } = this;
    if (activation === "silu") return heed.swiglu(gate, up);
    return heed.multiply(heed.activate(gate, activation), up);
  }
}
