/** Path lengths from a character of the date to one of the answer in each model, and sequential steps. */
import type { ModelName } from "./problem";

/** Positions are counted from 0. */
export interface Journey {
  /** The number of characters of the date, and the number of steps of the decoder. */
  readonly source: number;
  readonly target: number;
  readonly from: number;
  readonly to: number;
}

/**
 * A node of a path: a state of the encoder or of the decoder, or the vector between them. A recurrent encoder has two
 * states at each character: the layer that reads onward is level 0, the one that reads backward level 1.
 */
export interface Station {
  readonly part: "encoder" | "vector" | "decoder";
  readonly place: number;
  readonly level: number;
}

const decoderState = (place: number): Station => ({ part: "decoder", place, level: 0 });

/**
 * The nodes that information from character `from` passes until character `to` is predicted. Without attention it
 * passes the states of the direction whose end is nearer, the one vector, and the decoder's states (Sutskever et al.,
 * 2014). With attention the decoder attends to the end of the encoder at the character itself (Bahdanau et al., 2015;
 * Vaswani et al., 2017).
 *
 * @param top the level of the encoder's end
 */
export function stationsOf(
  model: ModelName,
  { source, from, to }: Journey,
  top = 1,
): readonly Station[] {
  if (model !== "rnn") return [{ part: "encoder", place: from, level: top }, decoderState(to)];
  const onward = source - 1 - from;
  const [steps, direction, level] = onward <= from ? [onward, 1, 0] : [from, -1, 1];
  return [
    ...Array.from({ length: steps + 1 }, (_, i) => ({
      ...{ part: "encoder" as const, place: from + i * direction, level },
    })),
    { part: "vector", place: 0, level: 0 },
    ...Array.from({ length: to + 1 }, (_, place) => decoderState(place)),
  ];
}

export function lengthOf(model: ModelName, journey: Journey): number {
  return stationsOf(model, journey).length - 1;
}

export interface Costs {
  /** The path length between the first and the last character of the date, in the encoder. */
  readonly across: number;
  /** Sequential steps: to read, to write with teacher forcing, and to write autoregressively. */
  readonly reading: number;
  readonly taught: number;
  readonly alone: number;
}

/** Table 1 of Vaswani et al. (2017) for these lengths: O(n) in recurrent layers, O(1) in self-attention. */
export function costsOf(
  model: ModelName,
  layers: number,
  { source, target }: Pick<Journey, "source" | "target">,
): Costs {
  const alone = target * layers;
  return model === "transformer"
    ? { across: Math.min(1, source - 1), reading: layers, taught: layers, alone }
    : { across: source - 1, reading: source * layers, taught: alone, alone };
}
