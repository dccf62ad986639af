// How each model is trained: found by trying, kept here so that a file can be made again.

/** What a training is made of. */
export interface Recipe {
  /** Examples of a step. */
  readonly batch: number;
  /** The most steps; the learning rate falls to zero over them. */
  readonly steps: number;
  readonly learningRate: number;
  readonly warmupSteps: number;
  readonly weightDecay: number;
  /** Gradients are clipped to this norm. */
  readonly clipNorm: number;
  /** Steps between two looks at examples of the validation split. */
  readonly checkEvery: number;
  /** Training ends early when two looks in a row reach this share of exact answers; above 1: never. */
  readonly goal: number;
}
