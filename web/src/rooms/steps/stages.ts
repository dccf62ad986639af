/** The matrices of the stages, and the words about the stages of attention. */
import type { MatrixName } from "./matrices";
import { headNumbers, type State } from "./settings";
import type { AttentionStage, StageName } from "./stageNames";
import {
  addsPositions,
  countBlind,
  hidesAny,
  isRotated,
  layersBefore,
  type SentenceAttention,
} from "./state";

const targets: Partial<Record<StageName, readonly MatrixName[]>> = {
  ...{ tokens: ["input"], embedding: ["input"], qkv: ["q", "k", "v"], joined: ["result"] },
  ...{ addnorm: ["between"], feedforward: ["units"], addnorm2: ["after"] },
};

/**
 * The matrices that a stage computes, in order. For the stage of the tokens, each token is a row of the input to come.
 * The worked example ends with the output of its only head.
 */
export function targetsOf(stage: StageName, { vectors }: State): readonly MatrixName[] {
  if (stage === "joined" && vectors === "example") return [stage];
  return targets[stage] ?? [stage as MatrixName];
}

/** Whether the window of the layer is shorter than the text. */
const hasWindow = ({ window, keys }: SentenceAttention) =>
  window !== null && window < keys.tokens.length;

/** Describes which keys the mask hides. */
export function maskWords(state: State, attention: SentenceAttention): string {
  const hides = hidesAny(state, attention);
  switch (state.mask) {
    case "none":
      return "No mask: every query may see every key.";
    case "causal":
      if (!hides) return "The causal mask hides later keys; here there are none.";
      return `The causal mask hides the keys after the query${hasWindow(attention) ? `, and the window of this layer those ${attention.window} or more places before it` : ""}.`;
    case "padding":
      return hides
        ? "Keys that only pad the sentence are hidden."
        : "No key is padding, so none is hidden.";
    case "window":
      return hides
        ? "The sliding window hides keys far from the query."
        : "The sliding window reaches every key, so none is hidden.";
    case "painted":
      return `${hides ? "The mask hides keys" : "No key is hidden"}: drag over cells to hide or show them, or use the arrow keys and Space.`;
  }
}

/** Describes queries without any visible key, if there are any. */
function blindWords(state: State, attention: SentenceAttention): string {
  const blind = countBlind(state, attention);
  if (blind === 0) return "";
  if (blind === attention.queries.tokens.length)
    return " No query may see any key, so every row is zeros.";
  return blind === 1
    ? " One query may see no key, so its row is zeros."
    : ` ${blind} queries may see no key, so their rows are zeros.`;
}

/** Describes the sum of a row of weights, which is 0 for a query without any visible key. */
function sumWords(state: State, attention: SentenceAttention): string {
  const blind = countBlind(state, attention);
  const all = blind === attention.queries.tokens.length;
  const sum = ` ${blind === 0 ? "Each" : "Every other"} row adds up to 1.`;
  return `${blindWords(state, attention)}${all ? "" : sum}`;
}

/** Describes the tokens that are attended to. */
function attendWords(state: State, attention: SentenceAttention): string {
  const hides = hidesAny(state, attention);
  if (attention.cross)
    return `Those of the first sentence attend to those of the second${hides ? ", as far as the mask lets them" : ""}.`;
  if (!hides) return "Each attends to all, itself too.";
  return state.mask === "causal"
    ? `Each attends to itself and to ${hasWindow(attention) ? `${(attention.window ?? 1) - 1} at most` : "those"} before it.`
    : "Each attends to those that the mask lets it see.";
}

/** Explains why all words of the example attend to the same one. */
function countingWords({ vectors, keyText, position, edits }: State): string {
  if (vectors !== "example" || position || edits.size > 0) return "";
  return ` “${keyText === null ? "jumps" : "sleeps"}” has the largest numbers, so it scores highest.`;
}

function ablatedWords({ ablated }: State, attention: SentenceAttention): string {
  const heads = headNumbers(ablated).filter((head) => head <= attention.heads);
  if (attention.heads === 1 || heads.length === 0) return "";
  const are = heads.length === 1 ? `Head ${heads[0]} is` : `Heads ${heads.join(", ")} are`;
  return ` ${are} left out, with zeros in the row.`;
}

/** Describes the origin of the tokens' vectors. */
function originWords(state: State, { model }: SentenceAttention): string {
  if (state.vectors === "example") return "Each token gets a vector, given here.";
  if (!model) return "Each token gets a vector: here from a seed, in a trained model learned.";
  const found =
    state.layer === 0
      ? `gets the [vector](embedding) ${model.words.vector}`
      : `comes with the [vector](embedding) that ${layersBefore(state)} made of it`;
  return `Each token ${found}. ${model.words.norm}`;
}

/** Describes what only the matrices of a trained model do. */
function learnedWords(state: State, attention: SentenceAttention): string {
  const { words } = attention.model ?? {};
  if (!words) return "";
  const rotation = isRotated(state, attention)
    ? " Then the token’s position rotates query and key (RoPE)."
    : "";
  return `${words.projections}${rotation}${words.heads}`;
}

/**
 * The explanations of the stages of attention. Their words may be marked; see StageWords.tsx. The beginning, up to the
 * first colon or full stop, describes the stage in one line. blockWords.ts has the words of the stages after attention.
 */
export const stageWords: Record<
  AttentionStage,
  (state: State, attention: SentenceAttention) => string
> = {
  tokens: (state, attention) =>
    `${attention.model?.words.tokens ?? `Each ${state.split === "words" ? "word or mark" : "character"} is a token.`} ${attendWords(state, attention)}`,
  embedding: (state, attention) =>
    `${originWords(state, attention)}${addsPositions(state) ? " Its position is added: a word differs from place to place." : ""}`,
  qkv: (state, attention) =>
    `Three ${state.vectors === "learned" ? "learned " : ""}matrices make a [query](q), [key](k) and [value](v) of each vector: what it looks for, is found by, and passes on.${attention.cross ? " Queries come from the first sentence, keys and values from the second." : ""}${learnedWords(state, attention)}`,
  scores: (state) =>
    `A [score](scores) is the dot product of a [query](q) and a [key](k): large where both point the same way.${countingWords(state)}`,
  scaled({ scaled, temperature }, { headSize }) {
    const change = `The temperature ${temperature} makes scores ${temperature < 1 ? "larger" : "smaller"}.`;
    const isPlain = temperature === 1;
    if (!scaled)
      return isPlain
        ? "Scores are not divided by √d: long vectors have large scores."
        : `Each score is divided by the temperature, not by √d: long vectors have large scores. ${change}`;
    const d = `longer vectors have larger scores. Here d, the length of a query, is ${headSize}.`;
    return isPlain
      ? `Each score is divided by √d: ${d}`
      : `Each score is divided by √d and the temperature: ${d} ${change}`;
  },
  masked: (state, attention) =>
    `${maskWords(state, attention)} A hidden score is −∞, its weight 0.${blindWords(state, attention)}`,
  weights: (state, attention) =>
    `The softmax turns each row of [scores](masked) into [weights](weights): [e to the power of each score](exponentials), divided by the sum of the row.${sumWords(state, attention)}`,
  output: (state, attention) =>
    `The [output](output) is the sum of the [values](v), each times its [weight](weights): a weighted mean.${blindWords(state, attention)}`,
  joined(state, attention) {
    const { heads } = attention;
    if (state.vectors === "example")
      return `The one head's [output](output) is the result: vectors with something of ${hidesAny(state, attention) ? "every word that it may see" : "all words"}.${blindWords(state, attention)}`;
    return `${heads === 1 ? "The one head's" : `The ${heads} heads'`} [outputs](joined) are joined, and a last matrix mixes them.${ablatedWords(state, attention)}`;
  },
};
