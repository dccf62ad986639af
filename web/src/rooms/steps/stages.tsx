/** The stages in words: a title, the matrices of its picture, and an explanation. */
import type { ComponentChildren } from "preact";
import type { MatrixName } from "./matrices";
import type { StageName } from "./stageNames";
import { countBlind, type SentenceAttention, type State } from "./state";
import { Word } from "./Word";

/** The matrices that a stage computes, in order; a stage without one has nothing to play. */
export function targetsOf(stage: StageName, { example, position }: State): readonly MatrixName[] {
  switch (stage) {
    case "tokens":
      return [];
    case "embedding":
      return position ? ["input"] : [];
    case "qkv":
      return ["q", "k", "v"];
    case "joined":
      return example ? ["joined"] : ["result"];
    default:
      return [stage];
  }
}

export interface Stage {
  readonly title: string;
  /** The matrices of its picture in the pipeline; the stage of the tokens shows words instead. */
  readonly matrices: readonly MatrixName[];
  explain(state: State, attention: SentenceAttention): ComponentChildren;
}

export const maskWords: Record<State["mask"], string> = {
  none: "No mask is set, so every key may be seen.",
  causal: "The causal mask lets a query see only itself and what came before it.",
  padding: "Keys that only pad the sentence to a length are hidden from every query.",
  window: "The sliding window hides every key that is too far from the query.",
  painted:
    "You paint this mask: drag over cells to hide or show them, or move with the arrow keys and press Space.",
};

/** Says how queries without any visible key are handled, if there are any. */
function blindWords(state: State, attention: SentenceAttention): string {
  const blind = countBlind(state, attention);
  if (blind === 0) return "";
  if (blind === attention.queries.tokens.length)
    return " Here no query may see any key, so every row is zeros.";
  return blind === 1
    ? " One query may see no key at all, so its row is zeros."
    : ` ${blind} queries may see no key at all, so their rows are zeros.`;
}

/** Explains why all words of the example attend to the same one. */
function countingWords({ example, position, edits }: State): string {
  if (!example || position || edits.size > 0) return "";
  return " The numbers of this example only increase: “jumps” has the largest, and scores highest with every word.";
}

function droppedWords({ dropped }: State, attention: SentenceAttention): string {
  const heads = [...dropped].filter((head) => head < attention.heads).map((head) => head + 1);
  if (attention.heads === 1 || heads.length === 0) return "";
  return heads.length === 1
    ? ` Head ${heads[0]} is left out: its part of the row is zeros.`
    : ` Heads ${heads.sort().join(", ")} are left out: their parts of the row are zeros.`;
}

export const allStages: Record<StageName, Stage> = {
  tokens: {
    title: "Tokens",
    matrices: [],
    explain: (state, attention) => (
      <>
        The text is cut into {state.split === "words" ? "words and marks" : "characters"}, and each
        piece becomes one token.{" "}
        {attention.cross
          ? "The first sentence attends to the second one."
          : state.mask === "causal"
            ? "Every token will attend to itself and to those before it."
            : "Every token will attend to every token, including itself."}
      </>
    ),
  },
  embedding: {
    title: "Embedding",
    matrices: ["input"],
    explain: (state) => (
      <>
        Each token becomes a vector, a row of numbers
        {state.example
          ? " given by the example"
          : " made from the word and the seed, where a trained model would have learned it"}
        .{" "}
        {state.position
          ? "A code of sines and cosines is added, so that the same word has another vector in another position."
          : "Positions are not added, so it does not depend on the order of the words."}
      </>
    ),
  },
  qkv: {
    title: "Q, K, V",
    matrices: ["q", "k", "v"],
    explain: (_, attention) => (
      <>
        Three matrices turn each vector into a{" "}
        <Word of="q" highlights="q">
          query
        </Word>{" "}
        (what it looks for), a{" "}
        <Word of="k" highlights="k">
          key
        </Word>{" "}
        (what it can be found by) and a{" "}
        <Word of="v" highlights="v">
          value
        </Word>{" "}
        (what it passes on).{" "}
        {attention.cross
          ? "Queries come from the first sentence, keys and values from the second."
          : "All three come from the same sentence: that is what makes it self-attention."}
      </>
    ),
  },
  scores: {
    title: "Scores",
    matrices: ["scores"],
    explain: (state) => (
      <>
        A word's{" "}
        <Word of="q" highlights="q">
          query
        </Word>{" "}
        states what it looks for, its{" "}
        <Word of="k" highlights="k">
          key
        </Word>{" "}
        what it can be found by. The two are multiplied entry by entry and the products added up.
        This <Word highlights="scores">score</Word> is larger the more the two point the same way,
        and the longer they are.{countingWords(state)}
      </>
    ),
  },
  scaled: {
    title: "Scaled",
    matrices: ["scaled"],
    explain: (state, attention) => (
      <>
        {state.scaled
          ? `The longer the vectors, the larger such sums become, so each score is divided by √d, where d is the length of a query: here √${attention.headSize}.`
          : "The division by √d is off. With long vectors the scores are then large, and the softmax picks one key and drops the rest."}{" "}
        {state.temperature === 1
          ? "A temperature of 1 changes nothing more."
          : `The temperature ${state.temperature} ${state.temperature < 1 ? "makes them larger again, so that differences count for more" : "makes them smaller still, so that differences count for less"}.`}
      </>
    ),
  },
  masked: {
    title: "Masked",
    matrices: ["masked"],
    explain: (state, attention) => (
      <>
        {maskWords[state.mask]} A hidden score becomes −∞, which the softmax turns into a weight of
        exactly 0.{blindWords(state, attention)}
      </>
    ),
  },
  weights: {
    title: "Weights",
    matrices: ["weights"],
    explain: (state, attention) => (
      <>
        The softmax turns each row of <Word highlights="masked">scores</Word> into shares: it{" "}
        <Word highlights="exponentials">raises e to each score</Word> and divides by the sum of the
        row. Larger scores get larger <Word highlights="weights">weights</Word>, and each row adds
        up to 1.
        {blindWords(state, attention)}
      </>
    ),
  },
  output: {
    title: "Output",
    matrices: ["output"],
    explain: () => (
      <>
        Each query takes from every{" "}
        <Word of="v" highlights="v">
          value
        </Word>{" "}
        the share that its <Word highlights="weights">weight</Word> gives, and adds these shares up.
        The{" "}
        <Word of="o" highlights="output">
          output
        </Word>{" "}
        is a weighted mean of the values, closest to those with the most weight.
      </>
    ),
  },
  joined: {
    title: "Joined",
    matrices: ["result"],
    explain: (state, attention) =>
      state.example ? (
        <>
          With several heads, their outputs would now be put side by side and mixed by one more
          matrix. The worked example has one head and no such matrix, so the{" "}
          <Word of="o" highlights="output">
            output
          </Word>{" "}
          is the result.
        </>
      ) : (
        <>
          {attention.heads === 1 ? "The one head's" : `The ${attention.heads} heads'`}{" "}
          <Word of="o" highlights="joined">
            outputs
          </Word>{" "}
          are put side by side, one long row per token. A last matrix mixes them into a new vector
          for each token, ready for the next layer.
          {droppedWords(state, attention)}
        </>
      ),
  },
};

/** The matrix that a stage shows in the pipeline; the worked example ends with the output of its only head. */
export function picturesOf(stage: StageName, example: boolean): readonly MatrixName[] {
  if (stage === "joined" && example) return ["joined"];
  return allStages[stage].matrices;
}
