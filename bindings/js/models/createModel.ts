// Creates models from configs.

import type { Heed } from "../heed.js";
import { checkEngine } from "../nn/module.js";
import { checkConfig, checkMemory } from "./config.js";
import { EncoderModel } from "./encoderModel.js";
import type { TaskModel } from "./model.js";
import type { Architecture, ModelConfig } from "./modelConfig.js";
import { RecurrentModel } from "./recurrent.js";
import { DecoderModel, TransformerModel } from "./transformers.js";

const models: Readonly<
  Record<Architecture, new (heed: Heed, config: ModelConfig) => TaskModel<never>>
> = {
  ...{ transformer: TransformerModel, decoder: DecoderModel, encoder: EncoderModel },
  ...{ rnn: RecurrentModel, bahdanau: RecurrentModel, dot: RecurrentModel },
};

/**
 * Creates the model that a config describes. The same config gives the same initial values.
 *
 * @throws HeedError "option" for an invalid config, "memory"
 * @example
 * ```ts
 * const model = createModel(heed, configOf(tasks.copy(), "transformer", { size: 16, layers: 1, heads: 2 }));
 * console.log(model.config.task); // prints: copy
 * ```
 */
export function createModel(heed: Heed, config: ModelConfig): TaskModel {
  checkEngine(heed);
  checkConfig(config);
  checkMemory(config);
  // The scope frees an incomplete model if the memory does not suffice.
  return heed.scope(() => new models[config.architecture](heed, config)) as unknown as TaskModel;
}
