/** The solver of this room: three trained models write one date, in both ways. Every step is recorded. */
import { type Heed, HeedError } from "heed";
import {
  loadModel,
  RecurrentModel,
  TransformerModel,
  type Translation,
  tasks,
  Vocabulary,
} from "heed/models";
import { noGrad } from "heed/nn";
import { sharesOf } from "../../shared/attended";
import type { Solver } from "../../worker/solver";
import { placesOf } from "./align";
import {
  type DateQuestion,
  endToken,
  longestAnswer,
  type ModelName,
  type Slip,
  startToken,
} from "./problem";
import { filesOf, reportsOf } from "./trained";
import { explainUntaught, type Untaught } from "./untaught";

type Model = RecurrentModel | TransformerModel;
export type RecordedAttention = ReturnType<typeof attentionsOf>[number];
/** The steps of a decoder for one answer. The last one predicts the end token. */
export type DecoderRun = ReturnType<typeof goOn>;
export type ModelAnswers = ReturnType<typeof answersOf>;
export type DateSolution = Extract<Awaited<ReturnType<typeof solve>>, { kind: "solution" }>;

/** A model, and the date that it rewrites. */
interface Asked {
  readonly heed: Heed;
  readonly name: ModelName;
  readonly model: Model;
  readonly source: readonly string[];
  /** Empty if the right answer is unknown. */
  readonly target: readonly string[];
}

/** The attention from the answer to the date in each layer. */
function attentionsOf(heed: Heed, model: Model, example: Translation) {
  const [all = []] =
    model instanceof TransformerModel
      ? model.attentions([example], { compared: true })
      : model.attentions([example]);
  const toDate = all.filter(({ path }) => /^decoder\.attention$|multihead_attn$/.test(path));
  return toDate.map((attention, layer) => {
    const { heads, rows, columns } = attention;
    const size = rows * columns;
    const weights = new Float32Array((heads + 1) * size);
    weights.set(attention.weights, size);
    for (const [i, weight] of attention.weights.entries())
      weights[i % size] = (weights[i % size] as number) + weight / heads;
    return {
      ...{ layer, heads, rows, columns },
      /** [heads + 1, rows, columns]: the mean of all heads first. */
      weights,
      /** The queries [heads, rows, D], keys [heads, columns, D] and scores, for an attention that compares them. */
      compared: attention.compared ? sharesOf(heed, attention) : null,
    };
  });
}

/** The number of the most likely tokens that a step keeps. */
const mostLikely = 3;

function stepsOf(model: Model, example: Translation) {
  const [found] = model.probabilities([example]);
  if (!found) throw new Error("the model gave no probabilities");
  const { tokens, rows, probabilities } = found;
  return Array.from({ length: rows }, (_, row) => ({
    given: example.target[row - 1] ?? startToken,
    /** The most likely output tokens, the most likely first. */
    top: Array.from(tokens, (token, i) => ({
      token,
      probability: probabilities[row * tokens.length + i] as number,
    }))
      .sort((a, b) => b.probability - a.probability)
      .slice(0, mostLikely),
  }));
}

const exampleOf = (source: readonly string[], target: readonly string[]): Translation => ({
  ...{ kind: "translation", source, target, alignment: [] },
});

/** Continues the given tokens, of which the last one may have replaced the model's own, by greedy decoding. */
function goOn({ heed, model, source, target }: Asked, begun: readonly string[]) {
  for (let written = begun; ; ) {
    const example = exampleOf(source, written);
    const steps = stepsOf(model, example);
    const next = steps.at(-1)?.top[0]?.token ?? endToken;
    const hasEnded = next === endToken || written.length >= longestAnswer;
    written = [...written, next];
    if (!hasEnded) continue;
    const found = target.length > 0 ? placesOf(written, [...target, endToken]) : [];
    // The right answer has no place for an extra token. If the person put it there, it gets the place of the next token.
    const replaced = begun.length - 1;
    const places = found.map((at, i) => (i === replaced ? (at ?? found[i + 1] ?? null) : at));
    return {
      steps,
      /** Each output's place in the right answer, from 0; null for an extra output. Empty without a right answer. */
      places,
      attentions: attentionsOf(heed, model, example),
    };
  }
}

/** The initial state of the decoder: the last states of both directions, through one layer. */
function vectorOf(heed: Heed, model: RecurrentModel, source: readonly string[]): Float32Array {
  const ids = new Vocabulary(model.config.vocabulary.source).encode(source);
  return noGrad(() =>
    heed.scope(() => model.encoder.forward([ids]).state.data.slice() as Float32Array),
  );
}

function answersOf(asked: Asked, slip: Slip | null) {
  const { heed, name, model, source, target } = asked;
  const { layers, heads } = model.config;
  const answer = goOn(asked, []);
  const put = (written: readonly string[]) =>
    slip ? [...written.slice(0, slip.place), slip.token] : written;
  const own = answer.steps.slice(1).map(({ given }) => given);
  const alone = slip ? goOn(asked, put(own)) : answer;
  const right = exampleOf(
    source,
    slip ? [...put(target), ...target.slice(slip.place + 1)] : target,
  );
  const taught =
    target.length > 0
      ? {
          steps: stepsOf(model, right),
          places: [...target.keys(), target.length],
          attentions: attentionsOf(heed, model, right),
        }
      : null;
  const vector =
    name === "rnn" && model instanceof RecurrentModel ? vectorOf(heed, model, source) : null;
  return {
    ...{ name, layers, heads, answer },
    /** Autoregressive decoding: each step continues from the model's own tokens, except for a replaced one. */
    alone,
    /** Teacher forcing: each step continues from the right tokens; null if the right answer is unknown. */
    taught,
    /** The vector from which the decoder without attention starts; null for other models. */
    vector,
  };
}

const solve = (async ({ base, text, between, slip }, { heed, pause }) => {
  const task = tasks.dates();
  let example: Translation;
  try {
    example = task.solve?.(text) ?? (task.read?.(text) as Translation);
  } catch (error) {
    if (error instanceof HeedError)
      return { kind: "unread" as const, ...unreadOf(text, task.vocabulary.source) };
    throw error;
  }
  const names: readonly ModelName[] = ["rnn", between, "transformer"];
  const [reports, ...files] = await Promise.all([
    reportsOf(base),
    ...names.map((name) => filesOf(base, name)),
  ]);
  const { source, alignment } = example;
  const isTaught = example.target.length > 0;
  const untaught = isTaught ? null : explainUntaught(text);
  const target = isTaught ? example.target : [...(untaught?.answer ?? "")];
  const start = performance.now();
  const models: ModelAnswers[] = [];
  for (const [i, name] of names.entries()) {
    await pause();
    const model = loadModel(heed, files[i] as (typeof files)[number]);
    try {
      models.push(answersOf({ heed, name, model: model as Model, source, target }, slip));
    } finally {
      model.dispose();
    }
  }
  return {
    ...{ kind: "solution" as const, source, models, reports },
    /** Why the text is not like the training data; null if it is. */
    untaught,
    /** The right answer, and for each of its characters the right places of the date; null if unknown. */
    target: target.length > 0 ? target : null,
    alignment: isTaught ? alignment : null,
    milliseconds: performance.now() - start,
  };
}) satisfies Solver<DateQuestion, unknown>;

/** Explains a text that is empty or contains characters without a token in any model. */
function unreadOf(text: string, known: readonly string[]): Untaught {
  const strange = [...new Set(text)].filter((character) => !known.includes(character));
  const none = { instead: null, answer: null };
  if (strange.length === 0) return { why: "The field is empty. Type a date.", ...none };
  const list = strange.slice(0, 6).map((character) => `“${character}”`);
  return {
    why: `No model has a token for ${list.join(", ")}${strange.length > list.length ? " …" : ""}. They know the letters of English dates, digits, spaces and , - . /`,
    instead: explainUntaught(text).instead,
    answer: null,
  };
}

export default solve;
