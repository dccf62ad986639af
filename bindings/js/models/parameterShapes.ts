// The names and shapes of each architecture's parameters, computed only from the config. A config
// can so be compared with a file and with the available memory before a model is created. A test
// compares the result with the models.

import { type ModelConfig, patchSize } from "./modelConfig.js";
import { specialTokens } from "./vocabulary.js";

type Shape = readonly number[];
type Shapes = readonly (readonly [name: string, shape: Shape])[];

/**
 * The parameters that a config describes. Layers are equal except for the first one, whose input
 * may have another size.
 */
interface Parameters {
  readonly fixed: Shapes;
  readonly layer: (i: number) => Shapes;
}

const linear = (name: string, outputs: number, inputs: number): Shapes => [
  [`${name}.weight`, [outputs, inputs]],
  [`${name}.bias`, [outputs]],
];

const norm = (name: string, size: number): Shapes => [
  [`${name}.weight`, [size]],
  [`${name}.bias`, [size]],
];

const attention = (name: string, size: number): Shapes => [
  [`${name}.in_proj_weight`, [3 * size, size]],
  [`${name}.in_proj_bias`, [3 * size]],
  ...linear(`${name}.out_proj`, size, size),
];

/** A transformer layer with its attentions, and with one norm more than attentions. */
const transformerLayer = (
  name: string,
  { size, dimFeedforward }: ModelConfig,
  attentions: readonly string[],
): Shapes => [
  ...attentions.flatMap((each) => attention(`${name}.${each}`, size)),
  ...linear(`${name}.linear1`, dimFeedforward, size),
  ...linear(`${name}.linear2`, size, dimFeedforward),
  ...["self_attn", ...attentions].flatMap((_, i) => norm(`${name}.norm${i + 1}`, size)),
];

const gru = (name: string, layer: number, inputs: number, size: number): Shapes => [
  [`${name}.weight_ih_l${layer}`, [3 * size, inputs]],
  [`${name}.weight_hh_l${layer}`, [3 * size, size]],
  [`${name}.bias_ih_l${layer}`, [3 * size]],
  [`${name}.bias_hh_l${layer}`, [3 * size]],
];

function transformer(config: ModelConfig): Parameters {
  const { size, vocabulary } = config;
  const [source, target] = [vocabulary.source, vocabulary.target].map(withSpecial);
  return {
    fixed: [
      ["source_embedding.weight", [source as number, size]],
      ["target_embedding.weight", [target as number, size]],
      ...norm("encoder.norm", size),
      ...norm("decoder.norm", size),
      ...linear("read_out", target as number, size),
    ],
    layer: (i) => [
      ...transformerLayer(`encoder.layers.${i}`, config, ["self_attn"]),
      ...transformerLayer(`decoder.layers.${i}`, config, ["self_attn", "multihead_attn"]),
    ],
  };
}

function decoder(config: ModelConfig): Parameters {
  const { size, vocabulary } = config;
  const tokens = withSpecial([...new Set([...vocabulary.source, ...vocabulary.target])]);
  return {
    fixed: [
      ["embedding.weight", [tokens, size]],
      ...norm("decoder.norm", size),
      ...linear("read_out", tokens, size),
    ],
    layer: (i) => transformerLayer(`decoder.layers.${i}`, config, ["self_attn"]),
  };
}

/** The input sizes: the pixels of a patch; a value of a series and the flag that it is hidden. */
const inputsOf = { picture: patchSize ** 2, series: 2 };

function encoder(config: ModelConfig): Parameters {
  const { kind, size, vocabulary } = config;
  const embedding: Shapes =
    kind === "picture" || kind === "series"
      ? linear("embedding", size, inputsOf[kind])
      : [["embedding.weight", [withSpecial(vocabulary.source), size]]];
  return {
    fixed: [
      ...embedding,
      ...(kind === "picture" ? ([["class_token", [1, 1, size]]] as const) : []),
      ...norm("encoder.norm", size),
      ...linear("read_out", kind === "series" ? 1 : vocabulary.target.length, size),
    ],
    layer: (i) => transformerLayer(`encoder.layers.${i}`, config, ["self_attn"]),
  };
}

function recurrent(config: ModelConfig): Parameters {
  const { architecture, size, vocabulary } = config;
  const half = size / 2;
  const [source, target] = [vocabulary.source, vocabulary.target].map(withSpecial);
  const attentions: Readonly<Record<string, Shapes>> = {
    bahdanau: [
      ["decoder.attention.query_layer.weight", [half, size]],
      ["decoder.attention.key_layer.weight", [half, size]],
      ["decoder.attention.energy_layer.weight", [1, half]],
      ...linear("decoder.combine", size, 2 * size + half),
    ],
    dot: [["decoder.combine.weight", [size, 2 * size]]],
  };
  const inputs = architecture === "bahdanau" ? half + size : half;
  return {
    fixed: [
      ["encoder.embedding.weight", [source as number, half]],
      ["decoder.embedding.weight", [target as number, half]],
      ...linear("decoder.read_out", target as number, size),
      ...(attentions[architecture] ?? []),
    ],
    layer: (i) => [
      ...gru(`encoder.onward.${i}`, 0, i === 0 ? half : size, half),
      ...gru(`encoder.backward.${i}`, 0, i === 0 ? half : size, half),
      ...linear(`encoder.bridges.${i}`, size, size),
      ...gru("decoder.gru", i, i === 0 ? inputs : size, size),
    ],
  };
}

const withSpecial = (tokens: readonly string[]) => specialTokens.length + tokens.length;

const architectures = {
  ...{ transformer, decoder, encoder },
  ...{ rnn: recurrent, bahdanau: recurrent, dot: recurrent },
};

const elementsOf = (shapes: Shapes) =>
  shapes.reduce((sum, [, shape]) => sum + shape.reduce((all, size) => all * size, 1), 0);

/** The total number of elements of a model's parameters. */
export function parameterCount(config: ModelConfig): number {
  const { fixed, layer } = architectures[config.architecture](config);
  const [first, next] = [layer(0), layer(1)].map(elementsOf) as [number, number];
  return elementsOf(fixed) + first + (config.layers - 1) * next;
}

/** Returns the shapes of a model's parameters by their names in the state dict. */
export function parameterShapes(config: ModelConfig): Map<string, Shape> {
  const { fixed, layer } = architectures[config.architecture](config);
  const layers = Array.from({ length: config.layers }, (_, i) => layer(i));
  return new Map([...fixed, ...layers.flat()]);
}
