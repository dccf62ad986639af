// From a config to the model that it describes.

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
 * The model that a config describes, with its initial values: the same ones for the same config.
 *
 * @throws HeedError "option" for a config that describes none, "memory"
 */
export function createModel(heed: Heed, config: ModelConfig): TaskModel {
  checkEngine(heed);
  checkConfig(config);
  checkMemory(config);
  // Nothing is left of a model that does not fit in the memory that there is.
  return heed.scope(() => new models[config.architecture](heed, config)) as unknown as TaskModel;
}
