// Tasks, and their examples with answers and alignments.

import type { Generator } from "../nn/random.js";

/**
 * The aligned positions, which determine the answer. Row t lists the positions in the input that
 * determine the answer at t. A row is empty if there is nothing to compare.
 */
export type Alignment = readonly (readonly number[])[];

/** A text that is translated into another, token by token, with attention from the target to the source. */
export interface Translation {
  /** Distinguishes the kinds of examples. */
  readonly kind: "translation";
  /** The tokens of the input. */
  readonly source: readonly string[];
  /** The tokens of the answer. */
  readonly target: readonly string[];
  /** target.length rows of positions in source. */
  readonly alignment: Alignment;
}

/** A text in which some tokens have a label. */
export interface Tagging {
  /** Distinguishes the kinds of examples. */
  readonly kind: "tagging";
  /** The tokens of the text. */
  readonly source: readonly string[];
  /** One label per token of source; undefined for a token without a question. */
  readonly labels: readonly (string | undefined)[];
  /** source.length rows of positions in source. */
  readonly alignment: Alignment;
  /** The positions of content words, among which the largest weight is determined. */
  readonly content: readonly number[];
}

/** A text that is continued token by token. */
export interface Continuation {
  /** Distinguishes the kinds of examples. */
  readonly kind: "continuation";
  /** The tokens of the text. */
  readonly tokens: readonly string[];
  /**
   * For each position, all tokens that are correct there, given the tokens before it; undefined
   * where the next token is random.
   */
  readonly allowed: readonly (readonly string[] | undefined)[];
  /** tokens.length rows of earlier positions that determine the token. */
  readonly alignment: Alignment;
}

/** Values at equal time steps. Some are hidden and must be predicted. */
export interface Series {
  /** Distinguishes the kinds of examples. */
  readonly kind: "series";
  /** The values in order of time, hidden ones included. */
  readonly values: Float32Array;
  /** Whether each value is hidden; as long as `values`. */
  readonly isHidden: readonly boolean[];
  /** values.length rows of positions of known values that are equal except for trend and noise. */
  readonly alignment: Alignment;
}

/** A grey-scale picture and the name of the shape on it. */
export interface Picture {
  /** Distinguishes the kinds of examples. */
  readonly kind: "picture";
  /** [height * width] in row-major order, from 0 to 1. */
  readonly pixels: Float32Array;
  /** The width in pixels. */
  readonly width: number;
  /** The height in pixels. */
  readonly height: number;
  /** The name of the shape. */
  readonly label: string;
  /** [height * width] in row-major order, true where the shape covers the pixel. */
  readonly covered: readonly boolean[];
}

/** An example of any kind. */
export type Example = Translation | Tagging | Continuation | Series | Picture;

/** The name of a split. The content of an example determines its split, so that splits never overlap. */
export type Split = "train" | "validation" | "test";

/** A task that a model can learn. Its examples are generated from seeds. */
export interface Task<E extends Example = Example> {
  /** The task's name, as in `tasks`. */
  readonly name: string;
  /** A sentence that describes the task. */
  readonly about: string;
  /** The kind of its examples. */
  readonly kind: E["kind"];
  /** The values of all options that control the examples. A model's config stores them. */
  readonly options: Readonly<Record<string, number | string | boolean>>;
  /** All tokens of inputs and of answers except the special ones, in the order of their ids; [] for numbers. */
  readonly vocabulary: { readonly source: readonly string[]; readonly target: readonly string[] };
  /** The largest number of tokens, values or patches of an input, and of an answer. */
  readonly longest: { readonly source: number; readonly target: number };
  /** Generates an example of a split. The same generator in the same state gives the same example. */
  generate(random: Generator, split: Split): E;
  /**
   * Converts text that a user types into an example without an answer: the target is empty, there
   * is no alignment, and each requested label is "?".
   *
   * @throws HeedError "option" that names the unknown part
   */
  read?(text: string): E;
  /**
   * Does the same as `read`, and adds the answer and the alignment; undefined for a text that the
   * task could not generate.
   */
  solve?(text: string): E | undefined;
  /** Converts tokens to readable text. */
  write?(tokens: readonly string[]): string;
}
