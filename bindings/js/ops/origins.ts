// Where attention comes from: averages, similarity without parameters, kernel regression, non-local
// means, and the scores of recurrent encoder-decoders.

import { refuse } from "../core/error.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  checkTensor,
  isBoolean,
  isNumber,
  isPositive,
  isTensor,
  isWholeNumber,
  oneOf,
} from "../core/validate.js";
import { attention } from "./attention.js";
import { LayerOperations } from "./layers.js";

export interface AverageOptions {
  /** Position i averages the positions j <= i only. */
  isCausal?: boolean;
  /** bool [B, L], true where a position counts. */
  keyMask?: Tensor;
}

export interface SelfSimilarityResult {
  /** [B, L, E] */
  output: Tensor;
  /** [B, L, L] */
  weights: Tensor;
}

/** What attention with scores of its own gives. */
export interface ScoredAttentionResult {
  /** [B, L, Dv] */
  output: Tensor;
  /** [B, L, S] */
  weights: Tensor;
}

export interface AdditiveAttentionParameters {
  /** [A, Dq] */
  queryWeight: Tensor;
  /** [A, Dk] */
  keyWeight: Tensor;
  /** [A] */
  bias?: Tensor;
  /** [A] */
  scoreWeight: Tensor;
}

export interface KeyMaskOptions {
  /** bool [B, S], true where a key may be seen. */
  keyMask?: Tensor;
}

export interface LuongAttentionOptions extends KeyMaskOptions {
  /** q . k, q W k, or v . tanh(W [q; k]) (Luong et al., 2015, section 3.1). */
  score: "dot" | "general" | "concat";
  /** W: [Dq, Dk] for "general", [A, Dq + Dk] for "concat". */
  weight?: Tensor;
  /** v: [A] for "concat". */
  scoreWeight?: Tensor;
}

export interface KernelRegressionResult {
  /** [Q, M] */
  output: Tensor;
  /** [Q, N] */
  weights: Tensor;
}

export interface NonLocalMeansOptions {
  /** Patches have 2 patchRadius + 1 pixels a side; 3 by default, 128 at most. */
  patchRadius?: number;
  /** Search windows have 2 searchRadius + 1 pixels a side; 10 by default. */
  searchRadius?: number;
  /** The weight falls by e where the distance of two patches grows by h^2; 0.1 by default. */
  h?: number;
  /** Deviation of the noise: 2 sigma^2 is taken off the distances; 0 by default. */
  sigma?: number;
  /** How patches reach outside the image: mirrored (the default), or into zeros. */
  border?: "reflect" | "zero";
}

export interface NonLocalMeansResult {
  /** [H, W] */
  output: Tensor;
  /** [H, W]: the sum of each pixel's weights before they are divided by it. */
  weightSum: Tensor;
}

const averageChecks = { isCausal: isBoolean, keyMask: isTensor } satisfies Record<
  keyof AverageOptions,
  Check
>;
const additiveChecks = {
  queryWeight: isTensor,
  keyWeight: isTensor,
  bias: isTensor,
  scoreWeight: isTensor,
} satisfies Record<keyof AdditiveAttentionParameters, Check>;
const keyMaskChecks = { keyMask: isTensor } satisfies Record<keyof KeyMaskOptions, Check>;
const luongChecks = {
  keyMask: isTensor,
  score: oneOf("dot", "general", "concat"),
  weight: isTensor,
  scoreWeight: isTensor,
} satisfies Record<keyof LuongAttentionOptions, Check>;
const nonLocalMeansChecks = {
  // The work grows with its square: what is far beyond any use would take hours.
  patchRadius: isWholeNumber(0, 128),
  searchRadius: isWholeNumber(0),
  h: isPositive,
  sigma: isNumber,
  border: oneOf("reflect", "zero"),
} satisfies Record<keyof NonLocalMeansOptions, Check>;

/** Refuses a tensor that a score needs and has not, or has and does not need. */
function checkPresence(
  name: string,
  tensor: Tensor | undefined,
  score: string,
  isNeeded: boolean,
): void {
  if ((tensor !== undefined) === isNeeded) return;
  const because = `because score is "${score}"`;
  throw isNeeded
    ? refuse("option", name, `a tensor, ${because}`, "nothing")
    : refuse("option", name, `nothing, ${because}`, "a tensor");
}

/** What attention comes from; Heed has it all. */
export class OriginOperations extends LayerOperations {
  /** The mean over the positions that may be seen: attention with equal scores. x [B, L, E]. */
  average(x: Tensor, options: AverageOptions = {}): Tensor {
    checkOptions("average", options, averageChecks);
    const { engine } = this;
    const { module } = engine;
    const { isCausal = false, keyMask } = options;
    const numbers = () => [Number(isCausal), engine.handleOrNone("keyMask", keyMask)];
    const y = engine.run(module.average, [engine.handle("x", x), ...numbers()]).tensor();
    recording()?.record("average", { x }, [y], ([d]) => {
      const args = [engine.handle("d", d), ...numbers()];
      return { x: engine.run(module.averageBackward, args).tensor() };
    });
    return y;
  }

  /** softmax(X X^T) X: dot-product attention with no parameters and no scale. x [B, L, E]. */
  selfSimilarity(x: Tensor): SelfSimilarityResult {
    const { engine } = this;
    if (recording()) {
      checkTensor(engine, "x", x, [undefined, undefined, undefined]);
      return this.#dotProduct(x, x, x, undefined);
    }
    engine.run(engine.module.selfSimilarity, [engine.handle("x", x)]);
    return { output: engine.tensor(), weights: engine.tensor() };
  }

  /**
   * Attention with the score v . tanh(W_q q + W_k k + b), without a scale (Bahdanau et al., 2015,
   * appendix A.1.2).
   *
   * @param query [B, L, Dq]
   * @param keys [B, S, Dk]
   * @param values [B, S, Dv]
   */
  additiveAttention(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    parameters: AdditiveAttentionParameters,
    options: KeyMaskOptions = {},
  ): ScoredAttentionResult {
    checkOptions("additiveAttention", parameters, additiveChecks, "parameter");
    checkOptions("additiveAttention", options, keyMaskChecks);
    const { engine } = this;
    const { queryWeight, keyWeight, bias, scoreWeight } = parameters;
    const { Dq, Dk } = this.#checkInputs(query, keys, values, options.keyMask);
    checkTensor(engine, "queryWeight", queryWeight, [undefined, Dq]);
    const [A] = queryWeight.shape;
    checkTensor(engine, "keyWeight", keyWeight, [A, Dk]);
    if (bias) checkTensor(engine, "bias", bias, [A]);
    checkTensor(engine, "scoreWeight", scoreWeight, [A]);
    const run = () => {
      const q = this.linear(query, queryWeight, bias);
      const k = this.linear(keys, keyWeight);
      return this.additiveScores(q, k, values, scoreWeight, options);
    };
    return engine.scope(run);
  }

  /**
   * The same for queries and keys that are projected already, the bias included.
   *
   * @param q [B, L, A]
   * @param k [B, S, A]
   * @param v [B, S, Dv]
   * @param scoreWeight [A]
   */
  additiveScores(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scoreWeight: Tensor,
    options: KeyMaskOptions = {},
  ): ScoredAttentionResult {
    checkOptions("additiveScores", options, keyMaskChecks);
    const { engine } = this;
    const { module } = engine;
    const inputs = () => [
      engine.handle("q", q),
      engine.handle("k", k),
      engine.handle("v", v),
      engine.handle("scoreWeight", scoreWeight),
    ];
    const mask = engine.handleOrNone("keyMask", options.keyMask);
    engine.run(module.additiveAttention, [...inputs(), mask], { weight: "scoreWeight" });
    const output = engine.tensor();
    const weights = engine.tensor();
    const taken = { q, k, v, scoreWeight };
    recording()?.record("additiveAttention", taken, [output, weights], ([given, dWeights]) => {
      const d = given ?? engine.zeros(output.shape);
      engine.run(module.additiveAttentionBackward, [
        engine.handle("d", d),
        engine.handleOrNone("d", dWeights),
        ...inputs(),
        engine.handle("weights", weights),
      ]);
      const { weight, ...gradients } = {
        q: engine.tensor(),
        k: engine.tensor(),
        v: engine.tensor(),
        weight: engine.tensor(),
      };
      if (d !== given) d.dispose();
      return { ...gradients, scoreWeight: weight };
    });
    return { output, weights };
  }

  /**
   * Attention with Luong's scores, without a scale (Luong et al., 2015).
   *
   * @param query [B, L, Dq]
   * @param keys [B, S, Dk]; "dot" wants Dk = Dq
   * @param values [B, S, Dv]
   */
  luongAttention(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    options: LuongAttentionOptions,
  ): ScoredAttentionResult {
    checkOptions("luongAttention", options, luongChecks);
    const { engine } = this;
    const { score, weight, scoreWeight, keyMask } = options;
    checkArgument("score", score, luongChecks.score);
    const { B, S, Dq, Dk } = this.#checkInputs(query, keys, values, keyMask);
    checkPresence("weight", weight, score, score !== "dot");
    checkPresence("scoreWeight", scoreWeight, score, score === "concat");
    if (score === "dot") checkTensor(engine, "keys", keys, [B, S, Dq]);
    if (score === "general") checkTensor(engine, "weight", weight, [Dq, Dk]);
    if (score === "concat") {
      checkTensor(engine, "weight", weight, [undefined, Dq + Dk]);
      checkTensor(engine, "scoreWeight", scoreWeight, [weight?.shape[0]]);
    }
    const run = () => {
      if (score === "dot") return this.#dotProduct(query, keys, values, keyMask);
      if (score === "general")
        return this.#dotProduct(this.matmul(query, weight as Tensor), keys, values, keyMask);
      const [queryWeight, keyWeight] = this.split(weight as Tensor, [Dq, Dk], { axis: 1 }) as [
        Tensor,
        Tensor,
      ];
      const parameters = { queryWeight, keyWeight, scoreWeight: scoreWeight as Tensor };
      return this.additiveAttention(query, keys, values, parameters, keyMask ? { keyMask } : {});
    };
    return engine.scope(run);
  }

  /**
   * The Nadaraya-Watson estimate (1964): the mean of yTrain, weighted by
   * softmax_j(-|xQuery_i - xTrain_j|^2 / (2 bandwidth^2)).
   *
   * @param xQuery [Q], or [Q, F]
   * @param xTrain [N], or [N, F]
   * @param yTrain [N, M]
   * @param bandwidth [1]
   */
  kernelRegression(
    xQuery: Tensor,
    xTrain: Tensor,
    yTrain: Tensor,
    bandwidth: Tensor,
  ): KernelRegressionResult {
    const { engine } = this;
    const { module } = engine;
    const taken = { xQuery, xTrain, yTrain, bandwidth };
    const inputs = () => Object.entries(taken).map(([name, x]) => engine.handle(name, x));
    engine.run(module.kernelRegression, inputs());
    const output = engine.tensor();
    const weights = engine.tensor();
    const tape = recording();
    tape?.cut("weights of kernelRegression", taken, [weights]);
    tape?.record("kernelRegression", taken, [output], ([d]) => {
      const args = [engine.handle("d", d), ...inputs(), engine.handle("weights", weights)];
      engine.run(module.kernelRegressionBackward, args);
      return {
        xQuery: engine.tensor(),
        xTrain: engine.tensor(),
        yTrain: engine.tensor(),
        bandwidth: engine.tensor(),
      };
    });
    return { output, weights };
  }

  /** The mean over the square of 2 radius + 1 pixels a side, cut at the edge. image [H, W]. */
  localMean(image: Tensor, radius: number): Tensor {
    checkArgument("radius", radius, isWholeNumber(0));
    const { engine } = this;
    const mean = engine
      .run(engine.module.localMean, [engine.handle("image", image), radius])
      .tensor();
    recording()?.cut("localMean", { image }, [mean]);
    return mean;
  }

  /**
   * Each pixel becomes a mean of those around it, weighted by how alike their patches are: by
   * exp(-max(d - 2 sigma^2, 0) / h^2), d the mean squared difference of two patches (Buades et al.,
   * 2005). The search window is cut at the edge. image [H, W].
   */
  nonLocalMeans(image: Tensor, options: NonLocalMeansOptions = {}): NonLocalMeansResult {
    const { engine } = this;
    const numbers = this.#nonLocalMeansNumbers("nonLocalMeans", options);
    engine.run(engine.module.nonLocalMeans, [engine.handle("image", image), ...numbers]);
    const output = engine.tensor();
    const weightSum = engine.tensor();
    recording()?.cut("nonLocalMeans", { image }, [output, weightSum]);
    return { output, weightSum };
  }

  /** The weights of one pixel's mean, divided by their sum: [H, W], zero outside its search window. */
  nonLocalMeansWeights(
    image: Tensor,
    row: number,
    column: number,
    options: NonLocalMeansOptions = {},
  ): Tensor {
    checkArgument("row", row, isWholeNumber(0));
    checkArgument("column", column, isWholeNumber(0));
    const { engine } = this;
    const numbers = this.#nonLocalMeansNumbers("nonLocalMeansWeights", options);
    const args = [engine.handle("image", image), row, column, ...numbers];
    const weights = engine.run(engine.module.nonLocalMeansWeights, args).tensor();
    recording()?.cut("nonLocalMeansWeights", { image }, [weights]);
    return weights;
  }

  #nonLocalMeansNumbers(operation: string, options: NonLocalMeansOptions): number[] {
    checkOptions(operation, options, nonLocalMeansChecks);
    return [
      options.patchRadius ?? 3,
      options.searchRadius ?? 10,
      options.h ?? 0.1,
      options.sigma ?? 0,
      this.engine.module.Border[options.border ?? "reflect"].value,
    ];
  }

  /** What the scores of queries and keys by name take, and its sizes. */
  #checkInputs(query: Tensor, keys: Tensor, values: Tensor, keyMask: Tensor | undefined) {
    const { engine } = this;
    checkTensor(engine, "query", query, [undefined, undefined, undefined]);
    const [B = 0, , Dq = 0] = query.shape;
    checkTensor(engine, "keys", keys, [B, undefined, undefined]);
    const [, S = 0, Dk = 0] = keys.shape;
    checkTensor(engine, "values", values, [B, S, undefined]);
    if (keyMask) checkTensor(engine, "keyMask", keyMask, [B, S], "bool");
    return { B, S, Dq, Dk };
  }

  /** Attention of one head with the bare product as score. */
  #dotProduct(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    keyMask: Tensor | undefined,
  ): ScoredAttentionResult {
    const run = () => {
      const [b = 0, s = 0] = keyMask?.shape ?? [];
      const mask = keyMask && this.reshape(keyMask, [b, 1, 1, s]);
      const options = { heads: 1, scale: 1, needWeights: true } as const;
      const { output, weights } = attention(
        this.engine,
        query,
        keys,
        values,
        mask ? { ...options, mask } : options,
      );
      const [B = 0, , L = 0, S = 0] = weights.shape;
      return { output, weights: this.reshape(weights, [B, L, S]) };
    };
    return this.engine.scope(run);
  }
}
