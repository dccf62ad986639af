// Rotary position embedding (Su et al., 2021), with the changes that extend models to longer texts.

import type { Tensor } from "../../core/tensor.js";
import { isListOf, isPositiveFloat } from "../../core/validate.js";
import type { Heed } from "../../heed.js";
import type { Fields } from "./fields.js";

/** The angle of each pair of a head's entries, per position. */
export interface Rotation {
  /** [D / 2] radians per position. */
  readonly frequencies: readonly number[];
}

/** Cosines and sines of the angles of consecutive positions, [1, L, D / 2] each. */
export interface RotationTables {
  readonly cos: Tensor;
  readonly sin: Tensor;
}

/**
 * The largest size of a head with a rotation, which has a frequency for each pair of its entries.
 */
const mostRotated = 2 ** 16;

/** Checks the size of a head with a rotation. */
export function checkRotated(fields: Fields, headSize: number): void {
  if (headSize % 2 !== 0 || headSize > mostRotated)
    throw fields.refuse("head_dim", `an even size of a head up to ${mostRotated}`, headSize);
}

type Change = (frequency: number, pair: number) => number;

/** Positions are interpolated (Chen et al., "Extending Context Window", 2023, section 2.3). */
function linear(fields: Fields): Change {
  const factor = fields.positive("factor");
  return (frequency) => frequency / factor;
}

/**
 * The rule of Llama 3.1, published with its code (Grattafiori et al., 2024): long waves are slowed
 * down by the factor, short waves keep their frequency, and waves between them are interpolated.
 */
function llama3(fields: Fields): Change {
  const factor = fields.positive("factor");
  const low = fields.positive("low_freq_factor");
  const high = fields.positive("high_freq_factor");
  const context = fields.size("original_max_position_embeddings");
  if (high <= low) throw fields.refuse("high_freq_factor", `more than ${low}`, high);
  return (frequency) => {
    const waves = (context * frequency) / (2 * Math.PI);
    const share = Math.min(1, Math.max(0, (waves - low) / (high - low)));
    return (1 - share) * (frequency / factor) + share * frequency;
  };
}

/** A divisor for each frequency, as GGUF files hold the rule of Llama 3.1. */
function divisors(fields: Fields): Change {
  const { accepts } = isPositiveFloat;
  const each = fields.read<number[]>("divisors", {
    expected: "a list of positive numbers",
    accepts: (value) => isListOf(value, accepts),
  });
  return (frequency, pair) => frequency / (each[pair] ?? 1);
}

const changes = {
  default: (): Change => (frequency) => frequency,
  linear,
  llama3,
  divisors,
};

/**
 * Reads the rotation of a config: `rope_theta` and `rope_scaling`, or both in `rope_parameters`.
 *
 * @throws HeedError "option" that names the field, or the kind of scaling if it is not known
 */
export function readRotation(fields: Fields, headSize: number): Rotation {
  const together = fields.inner("rope_parameters");
  const base = (together?.has("rope_theta") ? together : fields).positive("rope_theta", 10000);
  return rotationOf(headSize, base, together ?? fields.inner("rope_scaling"));
}

/**
 * Reads two rotations: of layers that see the whole text, and of layers with a window. Each type of layer
 * has an object in `rope_parameters`, or a base in a field.
 *
 * @param bases the names of these fields, and their defaults. `rope_scaling` changes the global rotation
 */
export function readRotations(
  fields: Fields,
  headSize: number,
  bases: Readonly<Record<"global" | "local", readonly [name: string, absent: number]>>,
): Readonly<Record<"global" | "local", Rotation>> {
  const all = fields.inner("rope_parameters");
  const read = (kind: "global" | "local", type: string) => {
    const own = all?.inner(type);
    const [name, absent] = bases[kind];
    const base = own?.has("rope_theta")
      ? own.positive("rope_theta")
      : fields.positive(name, absent);
    const scaling = kind === "global" ? fields.inner("rope_scaling") : undefined;
    return rotationOf(headSize, base, own ?? scaling);
  };
  return {
    global: read("global", "full_attention"),
    local: read("local", "sliding_attention"),
  };
}

function rotationOf(headSize: number, base: number, scaling: Fields | undefined): Rotation {
  const kindField = scaling?.has("rope_type") ? "rope_type" : "type";
  const makeChange = scaling?.choice(kindField, changes, "default");
  const change = scaling && makeChange ? makeChange(scaling) : changes.default();
  const frequencies = Array.from({ length: headSize / 2 }, (_, pair) =>
    change(base ** ((-2 * pair) / headSize), pair),
  );
  return { frequencies };
}

/** Computes the tables of each layer, once for layers that share a rotation. */
export function tablesOfLayers(
  heed: Heed,
  rotations: readonly Rotation[],
  offset: number,
  length: number,
): RotationTables[] {
  const made = new Map<Rotation, RotationTables>();
  return rotations.map((rotation) => {
    const tables = made.get(rotation) ?? rotationTables(heed, rotation, offset, length);
    made.set(rotation, tables);
    return tables;
  });
}

/**
 * Computes the tables of `length` positions, in double precision. The first has the position
 * `offset`.
 */
function rotationTables(
  heed: Heed,
  { frequencies }: Rotation,
  offset: number,
  length: number,
): RotationTables {
  const pairs = frequencies.length;
  const [cos, sin] = [new Float32Array(length * pairs), new Float32Array(length * pairs)];
  for (let row = 0; row < length; ++row) {
    for (const [pair, frequency] of frequencies.entries()) {
      const angle = (offset + row) * frequency;
      cos[row * pairs + pair] = Math.cos(angle);
      sin[row * pairs + pair] = Math.sin(angle);
    }
  }
  const shape = [1, length, pairs];
  return { cos: heed.tensor(cos, shape), sin: heed.tensor(sin, shape) };
}
