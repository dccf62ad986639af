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
function runOf(
  heed: Heed,
  model: Model,
  source: readonly string[],
  written: readonly string[],
): DecoderRun {
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

/** Continues the given tokens by greedy decoding. */
function goOn(
  heed: Heed,
  model: Model,
  source: readonly string[],
  begun: readonly string[],
): DecoderRun {
  for (let written = begun; ; ) {
    const run = runOf(heed, model, source, written);
    const next = run.steps.at(-1)?.top[0]?.token;
    if (next === undefined || next === endToken || written.length >= longestAnswer) return run;
    written = [...written, next];
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

function answersOf(
  heed: Heed,
  name: ModelName,
  model: Model,
  example: Translation,
  slip: Slip | null,
): ModelAnswers {
  const { source, target } = example;
  const { layers, heads } = model.config;
  const answer = goOn(heed, model, source, []);
  const slipped = slip && withSlip(writtenOf(answer), slip);
  const alone = slipped ? goOn(heed, model, source, slipped) : answer;
  const right = slip ? [...withSlip(target, slip), ...target.slice(slip.place + 1)] : target;
  const taught = target.length > 0 ? runOf(heed, model, source, right) : null;
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
  const start = performance.now();
  const models: ModelAnswers[] = [];
  for (const [i, name] of names.entries()) {
    await pause();
    const model = loadModel(heed, files[i] as (typeof files)[number]);
    try {
      models.push(answersOf(heed, name, model as Model, example, slip));
    } finally {
      model.dispose();
    }
  }
  const { source, target, alignment } = example;
  const isKnown = target.length > 0;
  return {
    ...{ kind: "solution", source, models, reports },
    target: isKnown ? target : null,
    alignment: isKnown ? alignment : null,
    untaught: isKnown ? null : explainUntaught(text),
    milliseconds: performance.now() - start,
  };
};

function unreadOf(text: string, known: readonly string[]): Untaught {
  const strange = [...new Set(text)].filter((character) => !known.includes(character));
  if (strange.length === 0) return { why: "The field is empty. Type a date.", instead: null };
  const list = strange.slice(0, 6).map((character) => `“${character}”`);
  return {
    why: `No model has a token for ${list.join(", ")}${strange.length > list.length ? " …" : ""}. They know the letters of English dates, digits, spaces and , - . /`,
    instead: explainUntaught(text).instead,
  };
}

export default solve;
