/** The formula of each stage, in MathML. Its letters highlight the matrices that they represent. */

import type { JSX } from "preact";
import { kindOf, type MatrixName } from "./matrices";
import type { State } from "./settings";
import type { ModelShape } from "./shape";
import type { AttentionStage } from "./stageNames";
import { addsPositions, isRotated, type SentenceAttention } from "./state";

/** A part of a formula. In a string, each number, letter and sign becomes one element. */
type Part = JSX.Element | string;

/** One line. */
export type Formula = readonly Part[];

const tokens = /\d+(?:\.\d+)?|sin|cos|\S/gu;

function drawn(part: Part) {
  if (typeof part !== "string") return part;
  return part.match(tokens)?.map((token, i) => {
    if (/^\d/.test(token)) return <mn key={i}>{token}</mn>;
    return /^[\p{L}∞]/u.test(token) ? <mi key={i}>{token}</mi> : <mo key={i}>{token}</mo>;
  });
}

const row = (...parts: Formula) => <mrow>{parts.map(drawn)}</mrow>;

/** Parts that highlight a matrix, in the colour of its role. */
function of(matrix: MatrixName, ...parts: Formula) {
  const { role } = kindOf(matrix);
  return (
    <mrow class={role && `role-${role}`} data-highlights={matrix}>
      {parts.map(drawn)}
    </mrow>
  );
}

const pairOf = (Tag: "msub" | "msup" | "mfrac") => (first: Part, second: Part) => (
  <Tag>
    {row(first)}
    {row(second)}
  </Tag>
);
const sub = pairOf("msub");
const power = pairOf("msup");
const over = pairOf("mfrac");

/** The spaces do not break, because MathML drops other ones at both ends. */
const words = (text: string) => <mtext>{text.replaceAll(" ", "\u00a0")}</mtext>;

const gap = (width = "1em") => <mspace width={width} />;

function sumOver(index: string) {
  return (
    <munder>
      <mo>∑</mo>
      <mrow>
        {/* Space between the index and the sum sign. */}
        <mspace width="0" height="0.9em" />
        <mi>{index}</mi>
      </mrow>
    </munder>
  );
}

/** A bias in a formula, if the model has it. */
const plus = (has: boolean | undefined, name: Part): Formula => (has ? ["+", sub("b", name)] : []);

const normOf = (model: ModelShape | null) =>
  words(model?.norm === "layer norm" ? "LayerNorm" : "RMSNorm");

/** Q, K or V as a projection of X, or of the second sentence's X′. */
function projection(
  matrix: "q" | "k" | "v",
  { cross, model }: SentenceAttention,
  isRotated = false,
): Formula {
  const name = matrix.toUpperCase();
  const isSecond = cross && matrix !== "q";
  const input = isSecond ? of("keyInput", power("X", "′")) : of("input", "X");
  const product = row(
    ...[input, of(`w${matrix}`, sub("W", name)), ...plus(model?.biases.qkv, name)],
  );
  const isNormed = model?.hasHeadNorms && matrix !== "v";
  const normed = isNormed ? row(words("RMSNorm"), "(", product, ")") : product;
  return [of(matrix, name), "=", ...(isRotated ? ["R(", normed, ")"] : [normed])];
}

const queriesTimesKeys = () =>
  row(of("q", "Q"), of("k", power("K", <mi mathvariant="normal">T</mi>)));

/** The odd or the even entries of the positional encoding of position i. */
function wave(entries: "2n−1" | "2n", name: "sin" | "cos", size: number): Formula {
  const angle = over("i−1", power("10000", `2(n−1)/${size}`));
  return [sub("P", `i,${entries}`), "=", name, gap("0.2em"), angle];
}

/** The number that divides the scores; 1 if none does. */
function divisor({ scaled, temperature }: State, { headSize }: SentenceAttention) {
  if (!scaled) return `${temperature}`;
  const root = <msqrt>{row(`${headSize}`)}</msqrt>;
  return temperature === 1 ? root : row(root, `·${temperature}`);
}

export const stageFormulas: Record<
  AttentionStage,
  (state: State, attention: SentenceAttention) => readonly Formula[]
> = {
  tokens: (_, { queries }) => [
    [sub("t", "1"), ",…,", sub("t", "L"), gap(), `L=${queries.tokens.length}`],
  ],
  embedding: (state, { embeddingSize, model }) => {
    const x = of("input", "X");
    const sum = [x, "=", of("embedding", "E")];
    if (model?.isPostNorm === false) return [[x, "=", normOf(model), "(E)"]];
    if (!addsPositions(state)) return [sum];
    return [
      [...sum, "+", of("position", "P")],
      wave("2n−1", "sin", embeddingSize),
      wave("2n", "cos", embeddingSize),
    ];
  },
  qkv: (state, attention) => {
    const rotates = isRotated(state, attention);
    const q = projection("q", attention, rotates);
    const k = projection("k", attention, rotates);
    const v = projection("v", attention);
    return rotates || attention.model
      ? [[...q, gap(), ...k], v]
      : [[...q, gap("0.75em"), ...k, gap("0.75em"), ...v]];
  },
  scores: () => [
    [
      ...[of("scores", sub(row("(", queriesTimesKeys(), ")"), "ij")), "=", sumOver("c")],
      ...[of("q", sub("q", "ic")), of("k", sub("k", "jc"))],
    ],
  ],
  scaled: (state, attention) => [
    [of("scaled", "S"), "=", over(of("scores", queriesTimesKeys()), divisor(state, attention))],
  ],
  masked: () => [
    [
      ...[of("masked", sub("M", "ij")), "=", of("scaled", sub("S", "ij"))],
      ...[words(" if "), "i", words(" may see "), "j", words(", else "), "−∞"],
    ],
  ],
  weights: () => [
    [
      of("weights", sub("a", "ij")),
      "=",
      over(
        of("exponentials", power("e", of("masked", sub("M", "ij")))),
        of("exponentials", sumOver("n"), power("e", sub("M", "in"))),
      ),
    ],
  ],
  output: () => [
    [
      ...[of("output", sub("o", "i")), "=", sumOver("j")],
      ...[of("weights", sub("a", "ij")), of("v", sub("v", "j"))],
    ],
  ],
  joined: ({ vectors }, { heads, model }) => {
    const joined = [of("joined", "C"), "="];
    if (vectors === "example") return [[...joined, of("output", "O")]];
    const last = heads > 1 ? [...(heads > 2 ? ["…"] : []), sub("O", `${heads}`)] : [];
    const bias = plus(model?.biases.output, "O");
    const mixed = [of("result", "Y"), "=", of("joined", "C"), of("wo", sub("W", "O")), ...bias];
    return [[...joined, of("joined", "[", sub("O", "1"), ...last, "]"), gap(), ...mixed]];
  },
};

/** The elements of formulas, for a file that shares no code with this one. */
export const kitFor = (model: ModelShape) => {
  return { sub, words, gap, plus, norm: normOf(model), after: <mi>Z′</mi> };
};
export type Kit = ReturnType<typeof kitFor>;

/** Formulas below each other. */
export function Formulas({ formulas }: { formulas: readonly Formula[] }) {
  return formulas.map((formula, i) => (
    <math key={i} display="block">
      {formula.map(drawn)}
    </math>
  ));
}
