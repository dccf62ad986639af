// Rotary position embedding (Su et al., 2021), with the changes that extend models to longer texts.

import type { Tensor } from "../../core/tensor.js";
import { isListOf, isPositiveFloat, isWholeNumber } from "../../core/validate.js";
import type { Heed } from "../../heed.js";
import type { Fields } from "./fields.js";

/** The angle of each pair of a head's entries, per position. */
export interface Rotation {
  /** [R / 2] radians per position, for the first R entries of a head. */
  readonly frequencies: readonly number[];
  /** The factor of the rotated entries; 1 without LongRoPE. */
  readonly factor: number;
  /** Other frequencies, for a text that may have more than `context` positions (LongRoPE). */
  readonly long: { readonly context: number; readonly frequencies: readonly number[] } | undefined;
}

/** Cosines and sines of the angles of consecutive positions, [1, L, R / 2] each. */
export interface RotationTables {
  readonly cos: Tensor;
  readonly sin: Tensor;
  readonly rotarySize: number;
}

/** The largest size of a head with a rotation, which has a frequency for each pair of its entries. */
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

/** Reads a divisor for each frequency. */
const divisors =
  (name: string) =>
  (fields: Fields, pairs: number): Change => {
    const { accepts } = isPositiveFloat;
    const each = fields.read<number[]>(name, {
      expected: `a list of ${pairs} positive numbers`,
      accepts: (value) => isListOf(value, accepts) && value.length === pairs,
    });
    return (frequency, pair) => frequency / (each[pair] as number);
  };

/** LongRoPE (Ding et al., 2024) has divisors for texts of the original context, and for longer texts. */
const longrope = divisors("short_factor");
const longropeBeyond = divisors("long_factor");

const changes = {
  default: (): Change => (frequency) => frequency,
  // GGUF files hold the rule of Llama 3.1 as divisors.
  ...{ linear, llama3, divisors: divisors("divisors") },
  // Older configs say "su".
  ...{ longrope, su: longrope },
};

const original = "original_max_position_embeddings";
const isContext = isWholeNumber(2, 2 ** 31 - 1);

/** Reads the original context, and the factor of the rotated entries (LongRoPE). */
function longOf(scaling: Fields, fields: Fields): { context: number; factor: number } {
  const context = (scaling.has(original) ? scaling : fields).read<number>(original, isContext);
  const growth = scaling.positive("factor", fields.size("max_position_embeddings") / context);
  const factor = growth > 1 ? Math.sqrt(1 + Math.log(growth) / Math.log(context)) : 1;
  return { context, factor: scaling.positive("attention_factor", factor) };
}

/**
 * Reads the rotation of a config: `rope_theta` and `rope_scaling`, or both in `rope_parameters`.
 *
 * @throws HeedError "option" that names the field, or the kind of scaling if it is not known
 */
export function readRotation(fields: Fields, headSize: number): Rotation {
  const together = fields.inner("rope_parameters");
  const having = (name: string) => (together?.has(name) ? together : fields);
  const base = having("rope_theta").positive("rope_theta", 10000);
  const share = "partial_rotary_factor";
  const rotated = Math.floor(headSize * having(share).positive(share, 1));
  if (rotated > headSize || rotated < 2 || rotated % 2 !== 0)
    throw having(share).refuse(share, `an even part of the head's ${headSize} entries`, rotated);
  return rotationOf(fields, rotated, base, together ?? fields.inner("rope_scaling"));
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
    return rotationOf(fields, headSize, base, own ?? scaling);
  };
  return {
    global: read("global", "full_attention"),
    local: read("local", "sliding_attention"),
  };
}

function rotationOf(
  fields: Fields,
  rotated: number,
  base: number,
  scaling: Fields | undefined,
): Rotation {
  const pairs = rotated / 2;
  const changed = (change: Change) =>
    Array.from({ length: pairs }, (_, pair) => change(base ** ((-2 * pair) / rotated), pair));
  if (!scaling) return { frequencies: changed(changes.default()), factor: 1, long: undefined };
  const kindField = scaling.has("rope_type") ? "rope_type" : "type";
  const make = scaling.choice<typeof longrope>(kindField, changes, "default");
  const frequencies = changed(make(scaling, pairs));
  if (make !== longrope) return { frequencies, factor: 1, long: undefined };
  const { context, factor } = longOf(scaling, fields);
  const long = { context, frequencies: changed(longropeBeyond(scaling, pairs)) };
  return { frequencies, factor, long };
}

/**
 * Computes the tables of each layer, once for layers that share a rotation.
 *
 * @param offsets the position of the first row of each text, or one for all texts
 * @param room the largest number of positions that the text can reach
 */
export function tablesOfLayers(
  heed: Heed,
  rotations: readonly Rotation[],
  { offsets, length, room }: { offsets: readonly number[]; length: number; room: number },
): RotationTables[] {
  const made = new Map<Rotation, RotationTables>();
  return rotations.map((rotation) => {
    const { long, factor } = rotation;
    const { frequencies } = long && room > long.context ? long : rotation;
    const tables =
      made.get(rotation) ?? rotationTables(heed, { frequencies, factor }, offsets, length);
    made.set(rotation, tables);
    return tables;
  });
}

/**
 * Computes the tables of `length` positions, in double precision, for each offset: the position of the first
 * row of a text.
 */
function rotationTables(
  heed: Heed,
  { frequencies, factor }: Pick<Rotation, "frequencies" | "factor">,
  offsets: readonly number[],
  length: number,
): RotationTables {
  const pairs = frequencies.length;
  const size = offsets.length * length * pairs;
  const [cos, sin] = [new Float32Array(size), new Float32Array(size)];
  let at = 0;
  for (const offset of offsets) {
    for (let row = 0; row < length; ++row) {
      for (const frequency of frequencies) {
        const angle = (offset + row) * frequency;
        cos[at] = factor * Math.cos(angle);
        sin[at++] = factor * Math.sin(angle);
      }
    }
  }
  const shape = [offsets.length, length, pairs];
  return { cos: heed.tensor(cos, shape), sin: heed.tensor(sin, shape), rotarySize: 2 * pairs };
}
