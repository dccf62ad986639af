/** The matrices and the descriptions of the stages. */
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

/**
 * The matrices that a stage computes, in order. For the stage of the tokens, each token is a row of the input to come.
 * The worked example ends with the output of its only head.
 */
export function targetsOf(stage: StageName, { vectors }: State): readonly MatrixName[] {
  switch (stage) {
    case "tokens":
    case "embedding":
      return ["input"];
    case "qkv":
      return ["q", "k", "v"];
    case "joined":
      return vectors === "example" ? ["joined"] : ["result"];
    case "addnorm":
      return ["between"];
    case "feedforward":
      return ["units"];
    case "addnorm2":
      return ["after"];
    default:
      return [stage];
  }
}

export const titles: Readonly<Record<StageName, string>> = {
  ...{ tokens: "Tokens", embedding: "Embedding", qkv: "Q, K, V", scores: "Scores" },
  ...{ scaled: "Scaled", masked: "Masked", weights: "Weights", output: "Output" },
  ...{ joined: "Joined", addnorm: "Add & Norm", feedforward: "Feed-forward" },
  addnorm2: "Add & Norm",
};

interface Stage {
  /** The stage in one line. */
  gist(state: State, attention: SentenceAttention): string;
  /** Its words may be marked; see StageWords.tsx. */
  explain(state: State, attention: SentenceAttention): string;
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
      return `The causal mask hides the keys that come after the query${hasWindow(attention) ? `, and the window of this layer those ${attention.window} or more places before it` : ""}.`;
    case "padding":
      return hides
        ? "The keys that only pad the sentence are hidden."
        : "No key is padding, so none is hidden.";
    case "window":
      return hides
        ? "The sliding window hides keys that are far from the query."
        : "The sliding window reaches every key, so none is hidden.";
    case "painted":
      return "Drag over cells to hide or show them, or use the arrow keys and Space.";
  }
}

/** Describes queries without any visible key, if there are any. */
function blindWords(state: State, attention: SentenceAttention): string {
  const blind = countBlind(state, attention);
  if (blind === 0) return "";
  if (blind === attention.queries.tokens.length)
    return " Here no query may see any key, so every row is zeros.";
  return blind === 1
    ? " One query may see no key at all, so its row is zeros."
    : ` ${blind} queries may see no key at all, so their rows are zeros.`;
}

/** Describes the sum of a row of weights, which is 0 for a query without any visible key. */
function sumWords(state: State, attention: SentenceAttention): string {
  const blind = countBlind(state, attention);
  if (blind === attention.queries.tokens.length) return blindWords(state, attention).trim();
  return `${blind === 0 ? "Each" : "Every other"} row adds up to 1.`;
}

/** Describes the tokens that will be attended to. */
function attendWords(state: State, attention: SentenceAttention): string {
  const hides = hidesAny(state, attention);
  if (attention.cross)
    return `Those of the first sentence will attend to those of the second${hides ? ", as far as the mask lets them" : ""}.`;
  if (!hides) return "Each will attend to all, itself too.";
  return state.mask === "causal"
    ? `Each will attend to itself and to ${hasWindow(attention) ? `${(attention.window ?? 1) - 1} at most` : "those"} before it.`
    : "Each will attend to those that the mask lets it see.";
}

/** Explains why all words of the example attend to the same one. */
function countingWords({ vectors, keyText, position, edits }: State): string {
  if (vectors !== "example" || position || edits.size > 0) return "";
  const word = keyText === null ? "jumps" : "sleeps";
  return ` “${word}” has the largest numbers, so it scores highest.`;
}

function ablatedWords({ ablated }: State, attention: SentenceAttention): string {
  const heads = headNumbers(ablated).filter((head) => head <= attention.heads);
  if (attention.heads === 1 || heads.length === 0) return "";
  return heads.length === 1
    ? ` Head ${heads[0]} is left out: its part of the row is zeros.`
    : ` Heads ${heads.join(", ")} are left out: their parts of the row are zeros.`;
}

function scaledGist({ scaled, temperature }: State): string {
  const divisors = [...(scaled ? ["√d"] : []), ...(temperature === 1 ? [] : ["the temperature"])];
  if (divisors.length === 0) return "The scores stay as they are.";
  return `Each score is divided by ${divisors.join(" and by ")}.`;
}

function unitWords({ split }: State, { model }: SentenceAttention): string {
  return (
    model?.words.tokens ?? `Each ${split === "words" ? "word or mark" : "character"} is a token.`
  );
}

/** Describes the origin of the tokens' vectors. */
function originWords(state: State, { model }: SentenceAttention): string {
  if (state.vectors === "example") return "Each token gets a vector, given here.";
  if (state.vectors === "random")
    return "Each token gets a vector: here from a seed, in a trained model learned.";
  const found =
    state.layer === 0
      ? `Each token gets the [vector](embedding) ${model?.words.vector}`
      : `Each token comes with the [vector](embedding) that ${layersBefore(state)} made of it`;
  return `${found}. ${model?.words.norm}`;
}

/** Describes what only the matrices of a trained model do. */
function learnedWords(state: State, attention: SentenceAttention): string {
  const { model } = attention;
  if (!model) return "";
  const rotation = isRotated(state, attention)
    ? " Then the position of a token rotates its query and its key (RoPE)."
    : "";
  return `${model.words.projections}${rotation}${model.words.heads}`;
}

/** blockWords.ts has the words of the stages after attention. */
export const attentionStages: Record<AttentionStage, Stage> = {
  tokens: {
    gist: () => "The text is cut into tokens.",
    explain: (state, attention) =>
      `${unitWords(state, attention)} ${attendWords(state, attention)}`,
  },
  embedding: {
    gist: () => "Each token gets a vector.",
    explain: (state, attention) =>
      `${originWords(state, attention)}${addsPositions(state) ? " Its position adds to it: a word differs from place to place." : ""}`,
  },
  qkv: {
    gist: () => "Each vector gives a query, a key and a value.",
    explain: (state, attention) =>
      `Three ${state.vectors === "learned" ? "learned " : ""}matrices turn each vector into a [query](q) (what it looks for), a [key](k) (what it is found by) and a [value](v) (what it passes on).${attention.cross ? " Queries come from the first sentence, keys and values from the second." : ""}${learnedWords(state, attention)}`,
  },
  scores: {
    gist: () => "Each query is multiplied with each key.",
    explain: (state) =>
      `A [score](scores) is the dot product of a [query](q) and a [key](k): large where both point the same way.${countingWords(state)}`,
  },
  scaled: {
    gist: scaledGist,
    explain: ({ scaled, temperature }, { headSize }) => {
      const division = scaled
        ? `Longer vectors have larger scores, so each is divided by √d, d being the length of a query: here √${headSize}.`
        : "The division by √d is off: long vectors have large scores.";
      if (temperature === 1) return division;
      return `${division} The temperature ${temperature} makes them ${temperature < 1 ? "larger" : "smaller"}.`;
    },
  },
  masked: {
    gist: (state, attention) =>
      hidesAny(state, attention) ? "The mask hides keys." : "No key is hidden.",
    explain: (state, attention) =>
      `${maskWords(state, attention)} A hidden score is −∞, and its weight 0.${blindWords(state, attention)}`,
  },
  weights: {
    gist: () => "Each row of scores becomes weights.",
    explain: (state, attention) => {
      const someSee = countBlind(state, attention) < attention.queries.tokens.length;
      return `The softmax turns each row of [scores](masked) into [weights](weights): [e to the power of each score](exponentials), divided by the sum of the row.${someSee ? blindWords(state, attention) : ""} ${sumWords(state, attention)}`;
    },
  },
  output: {
    gist: () => "Weights mix the values into an output.",
    explain: (state, attention) =>
      `Every [value](v) is multiplied by its [weight](weights). Added up, they are the [output](output), a weighted mean.${blindWords(state, attention)}`,
  },
  joined: {
    gist: ({ vectors }) =>
      vectors === "example"
        ? "The output of the one head is the result."
        : "A last matrix mixes the heads' outputs.",
    explain: (state, attention) => {
      const { heads } = attention;
      if (state.vectors === "example")
        return `Several heads would now be joined. Here the one head's [output](output) is the result: for each word a new vector with something of ${hidesAny(state, attention) ? "every word that it may see" : "all words"}.${blindWords(state, attention)}`;
      return `${heads === 1 ? "The one head's" : `The ${heads} heads'`} [outputs](joined) are put side by side. A last matrix mixes them into a new vector for each token.${ablatedWords(state, attention)}`;
    },
  },
};
