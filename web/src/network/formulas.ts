/** Parts of formulas of the network: pure functions of numbers. */

import {
  type Explanation,
  type FormulaPiece,
  format,
  operand,
  type Role,
  sum,
  times,
} from "#parts";
import type { Activation, Matrix, NormNumbers } from "./messages";

/** A vector; a formula shows some of its entries. */
type Numbers = Float32Array;

export const at = (data: Numbers, i: number): number => data[i] as number;

export const rowOf = (data: Numbers, row: number, size: number): Numbers =>
  data.subarray(row * size, (row + 1) * size);

export const text = (text: string): FormulaPiece => ({ text });

/** The piece " = value". */
export const equals = (value: number, role?: Role): FormulaPiece[] => [
  text(" = "),
  { text: format(value), role },
];

export const entry = (words: string, i: number, formula: readonly FormulaPiece[]): Explanation => ({
  ...{ name: `${words}, entry ${i + 1}`, formula },
});

/** An entry whose formula is words and its value. */
export const said = (words: string, i: number, how: string, value: number): Explanation =>
  entry(words, i, [text(`${how}: ${format(value)}`)]);

/** A learned number is not computed from others. */
export const learned = (words: string, i: number, data: Numbers, place = i): Explanation =>
  said(words, i, "learned", at(data, place));

export function lengthOf(x: Numbers): number {
  return Math.sqrt(x.reduce((total, each) => total + each * each, 0));
}

/** The indices of numbers in order of size, the largest first. */
export const bySize = (x: Numbers): number[] =>
  Array.from(x.keys()).sort((a, b) => at(x, b) - at(x, a));

/** The dot product of two vectors, with its value. */
export function dot(
  a: Numbers,
  b: ArrayLike<number>,
  value: number,
  { role, bias }: { role?: Role; bias?: number | undefined } = {},
): FormulaPiece[] {
  const terms = Array.from(a, (entry, i) => [
    operand(entry),
    text(times),
    operand(b[i] as number, role),
  ]);
  const more = bias === undefined ? [] : [text(" + bias "), operand(bias)];
  return [...sum(terms), ...more, ...equals(value)];
}

/** The product of a matrix row and a vector, with its terms if the matrix is present. */
export function projected(
  letter: string,
  matrix: Matrix | undefined,
  input: Numbers,
  row: number,
  value: number,
): FormulaPiece[] {
  const name = `${letter} row ${row + 1} · `;
  if (!matrix) return [text(`${name}…`), ...equals(value)];
  const { weight, bias } = matrix;
  const own = rowOf(weight, row, input.length);
  return [
    text(`${name}input = `),
    ...dot(own, input, value, { bias: bias ? at(bias, row) : undefined }),
  ];
}

/** √(the mean of squares + ε). */
export function rootMeanSquare(x: Numbers, eps: number): number {
  return Math.sqrt(lengthOf(x) ** 2 / x.length + eps);
}

function meanOf(x: Numbers): number {
  return x.reduce((total, each) => total + each, 0) / x.length;
}

/** √(the variance + ε). */
export function deviationOf(x: Numbers, eps: number): number {
  const mean = meanOf(x);
  return rootMeanSquare(
    x.map((each) => each - mean),
    eps,
  );
}

/** An entry of a norm's result. */
export function normed(
  { kind, eps, input, gain, bias, result }: NormNumbers,
  i: number,
  name = "stream",
): FormulaPiece[] {
  const isRms = kind === "rms";
  const divisor = isRms ? rootMeanSquare(input, eps) : deviationOf(input, eps);
  const mean = meanOf(input);
  const words = [isRms ? `${name} ÷ RMS` : `(${name} − mean) ÷ deviation`];
  if (gain) words.push(" × gain");
  if (bias) words.push(" + bias");
  return [
    text(`${words.join("")} = `),
    ...(isRms
      ? [operand(at(input, i))]
      : [text(`(${format(at(input, i))} − `), operand(mean), text(")")]),
    text(` ÷ ${format(divisor)}`),
    ...(gain ? [text(" × "), operand(at(gain, i))] : []),
    ...(bias ? [text(" + "), operand(at(bias, i))] : []),
    ...equals(at(result, i)),
    text(
      isRms
        ? `\nRMS = √(mean of the ${input.length} squares + ${eps})`
        : `\nmean and deviation = √(variance + ${eps}) of the ${input.length} entries`,
    ),
  ];
}

export const added = (before: number, terms: readonly number[], after: number): FormulaPiece[] => [
  operand(before),
  ...terms.flatMap((term) => [text(" + "), operand(term)]),
  ...equals(after),
];

/** The name, formula and value of each activation; the engine uses the same functions. */
export const activations: Readonly<Record<Activation, { name: string; formula: string }>> = {
  relu: { name: "ReLU", formula: "the larger of x and 0" },
  gelu: { name: "GELU", formula: "x × Φ(x), with Φ the normal distribution" },
  geluTanh: { name: "GELU", formula: "x ÷ 2 × (1 + tanh(√(2 ÷ π) × (x + 0.044715 x³)))" },
  silu: { name: "SiLU", formula: "x ÷ (1 + e^−x)" },
  tanh: { name: "tanh", formula: "(e^x − e^−x) ÷ (e^x + e^−x)" },
  sigmoid: { name: "sigmoid", formula: "1 ÷ (1 + e^−x)" },
};
