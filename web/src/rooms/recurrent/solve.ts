/**
 * The solver of this room: three trained models write one date, autoregressively and with teacher forcing. Every step
 * is recorded.
 */
import { type Heed, HeedError } from "heed";
import {
  loadModel,
  RecurrentModel,
  type TransformerModel,
  type Translation,
  tasks,
  Vocabulary,
} from "heed/models";
import { type nn, noGrad } from "heed/nn";
import { likeliest } from "../../shared/likelyToken";
import type { Solver } from "../../worker/solver";
import { placesOf } from "./align";
import {
  type DateQuestion,
  type DateSolution,
  type DecoderRun,
  endToken,
  longestAnswer,
  type ModelAnswers,
  type ModelName,
  type RecordedAttention,
  type Slip,
  startToken,
  type UnreadDate,
} from "./problem";
import { filesOf, reportsOf } from "./trained";
import { explainUntaught, type Untaught } from "./untaught";

type Model = RecurrentModel | TransformerModel;

type Recorded = Omit<DecoderRun, "places">;

/** A model, and the date that it rewrites. */
interface Asked {
  readonly heed: Heed;
  readonly name: ModelName;
  readonly model: Model;
  readonly source: readonly string[];
  /** Empty if the right answer is unknown. */
  readonly target: readonly string[];
}

const isAligned = (path: string) => path === "decoder.attention" || path.endsWith("multihead_attn");

/** The weights of one attention, recorded from single steps or from one call. */
interface RecordedPieces {
  heads: number;
  readonly pieces: Float32Array[];
  compared: RecordedAttention["compared"];
}

/** The queries and keys of a Transformer, and the scores that the engine computes from them. */
function comparedOf(
  heed: Heed,
  { query, key }: nn.Compared,
): NonNullable<RecordedAttention["compared"]> {
  return heed.scope(() => {
    const { capture } = heed.attention(query, key, key, { capture: "masked" });
    const [queries, keys, scores] = [query, key, capture].map(
      ({ data }) => data.slice() as Float32Array,
    ) as [Float32Array, Float32Array, Float32Array];
    return { queries, keys, scores };
  });
}

/** Joins pieces of [H, L, S] along L into one array, with the mean of all heads first. */
function joinedAttention(
  { heads, pieces, compared }: RecordedPieces,
  layer: number,
  columns: number,
): RecordedAttention {
  const heights = pieces.map((piece) => piece.length / heads / columns);
  const rows = heights.reduce((sum, height) => sum + height, 0);
  const weights = new Float32Array((heads + 1) * rows * columns);
  for (let head = 0; head < heads; ++head) {
    let row = 0;
    for (const [p, piece] of pieces.entries()) {
      const size = (heights[p] as number) * columns;
      const part = piece.subarray(head * size, (head + 1) * size);
      weights.set(part, ((head + 1) * rows + row) * columns);
      for (const [i, weight] of part.entries())
        weights[row * columns + i] = (weights[row * columns + i] as number) + weight / heads;
      row += heights[p] as number;
    }
  }
  return { layer, heads, rows, columns, weights, compared };
}

/** Runs the decoder on given tokens, and records the outputs and the attention of each step. */
function runOf({ heed, model, source }: Asked, written: readonly string[]): Recorded {
  const seen = new Map<string, RecordedPieces>();
  const receive: nn.ReceiveWeights = (path, { data, shape }, compared) => {
    if (!isAligned(path)) return;
    const attention = seen.get(path) ?? {
      heads: shape.length === 4 ? (shape[1] as number) : 1,
      pieces: [],
      compared: compared ? comparedOf(heed, compared()) : null,
    };
    attention.pieces.push(data.slice() as Float32Array);
    seen.set(path, attention);
  };
  const example: Translation = { kind: "translation", source, target: written, alignment: [] };
  const [found] = model.probabilities([example], receive);
  if (!found) throw new Error("the model gave no probabilities");
  const { tokens, rows, probabilities } = found;
  const steps = Array.from({ length: rows }, (_, row) => ({
    given: written[row - 1] ?? startToken,
    top: likeliest(tokens, probabilities.subarray(row * tokens.length, (row + 1) * tokens.length)),
  }));
  const attentions = [...seen.values()].map((each, layer) =>
    joinedAttention(each, layer, source.length),
  );
  return { steps, attentions };
}

/** Continues the given tokens, of which the last one may have replaced the model's own, by greedy decoding. */
function goOn(asked: Asked, begun: readonly string[]): DecoderRun {
  for (let written = begun; ; ) {
    const run = runOf(asked, written);
    const next = run.steps.at(-1)?.top[0]?.token ?? endToken;
    const hasEnded = next === endToken || written.length >= longestAnswer;
    written = [...written, next];
    if (!hasEnded) continue;
    const places = asked.target.length > 0 ? placesOf(written, [...asked.target, endToken]) : [];
    // If the replacing token is too many, the model's own stood for the place of the token after it.
    const replaced = begun.length - 1;
    return {
      ...run,
      places: places.map((at, i) => (i === replaced ? (at ?? places[i + 1] ?? null) : at)),
    };
  }
}

/** The tokens of a run, without the end token. */
const writtenOf = ({ steps }: DecoderRun) => steps.slice(1).map(({ given }) => given);

function withSlip(written: readonly string[], { place, token }: Slip): string[] {
  return [...written.slice(0, place), token];
}

/** The initial state of the decoder: the last states of both directions, through one layer. */
function vectorOf(heed: Heed, model: RecurrentModel, source: readonly string[]): Float32Array {
  const ids = new Vocabulary(model.config.vocabulary.source).encode(source);
  return noGrad(() =>
    heed.scope(() => model.encoder.forward([ids]).state.data.slice() as Float32Array),
  );
}

function answersOf(asked: Asked, slip: Slip | null): ModelAnswers {
  const { heed, name, model, source, target } = asked;
  const { layers, heads } = model.config;
  const answer = goOn(asked, []);
  const alone = slip ? goOn(asked, withSlip(writtenOf(answer), slip)) : answer;
  const right = slip ? [...withSlip(target, slip), ...target.slice(slip.place + 1)] : target;
  const places = [...target.keys(), target.length];
  const taught = target.length > 0 ? { ...runOf(asked, right), places } : null;
  const vector =
    name === "rnn" && model instanceof RecurrentModel ? vectorOf(heed, model, source) : null;
  return { name, layers, heads, answer, alone, taught, vector };
}

const solve: Solver<DateQuestion, DateSolution | UnreadDate> = async (
  { base, text, between, slip },
  { heed, pause },
) => {
  const task = tasks.dates();
  let example: Translation;
  try {
    example = task.solve?.(text) ?? (task.read?.(text) as Translation);
  } catch (error) {
    if (error instanceof HeedError)
      return { kind: "unread", ...unreadOf(text, task.vocabulary.source) };
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
    ...{ kind: "solution", source, models, reports, untaught },
    target: target.length > 0 ? target : null,
    alignment: isTaught ? alignment : null,
    milliseconds: performance.now() - start,
  };
};

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
