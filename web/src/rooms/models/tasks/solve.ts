/** The solver of task models: runs a trained model with all heads and with some ablated, and measures every head. */
import type { Heed } from "heed";
import { type Alignment, alignmentOf, type Head, withoutHeads } from "heed/models";
import { nn } from "heed/nn";
import type { Ablation } from "../../../shared/ablation";
import { exhibitOf } from "../../../shared/catalogue";
import { type Input, readInput, tokensOf, type UnreadableText } from "../../../shared/typed";
import type { Solver } from "../../../worker/solver";
import type { HeadsAnswer, HeadsRequest, LeaveRequest, UnreadInput } from "./answer";
import { askedOf, type Question, questionsOf } from "./asking";
import { bestHeadOf, measuredAttention } from "./attending";
import { placesOf } from "./input";
import { type Needed, neededHeads } from "./needed";
import { type ModelProbe, probe } from "./probe";
import { ablatableHeads, close, modelAt, split, type Trained } from "./trained";

/** The text that the model generates, without the input. */
async function writtenFor({ model }: Trained, input: Input): Promise<readonly string[] | null> {
  if (input.kind === "tagging" || input.kind === "picture") return null;
  if (input.kind === "continuation") return (await model.write?.([input]))?.[0] ?? null;
  const [answer] = await model.answer([input]);
  return answer?.kind === "tokens" ? answer.tokens : null;
}

/** The input with the model's own answer. */
async function answeredBy(
  { model }: Trained,
  input: Input,
  written: readonly string[] | null,
): Promise<Input> {
  if (input.kind === "translation") return { ...input, target: written ?? [] };
  if (input.kind === "continuation") return input;
  const [answer] = await model.answer([input]);
  if (input.kind === "tagging" && answer?.kind === "labels")
    return { ...input, labels: answer.labels };
  if (input.kind === "picture" && answer?.kind === "class")
    return { ...input, label: answer.label };
  return input;
}

/** An input, the answer of the model, and its numbers. */
interface Run {
  readonly input: Input;
  readonly written: readonly string[] | null;
  /** The input with the model's own answer. */
  readonly answered: Input;
  readonly probe: ModelProbe;
}

async function run(trained: Trained, input: Input): Promise<Run> {
  const written = await writtenFor(trained, input);
  const answered = await answeredBy(trained, input, written);
  return { input, written, answered, probe: probe(trained.model, answered) };
}

/** An input as the model answers it with all heads, and the heads that an answer needs. */
interface Whole extends Run {
  readonly questions: readonly Question[];
  readonly isSolved: boolean;
  /** The heads whose ablation changes an answer, for each kind of ablation that was asked for. */
  readonly needed: Partial<Record<Ablation, Needed>>;
}

async function wholeOf(trained: Trained, input: Input, isDrawn: boolean): Promise<Whole> {
  const whole = await run(trained, input);
  const isSolved = isDrawn || (input.kind === "translation" && input.target.length > 0);
  return {
    ...whole,
    isSolved,
    questions: questionsOf(input, whole.answered, isSolved),
    needed: {},
  };
}

/** The most examples that are drawn for one whose answer depends on a single head. */
const mostDraws = 8;

/** The first drawn example whose answer one head's ablation to zero changes; the first one if there is none. */
async function drawn(trained: Trained, seed: number): Promise<Whole> {
  const random = new nn.Generator(seed);
  let first: Whole | null = null;
  for (let i = 0; i < mostDraws; ++i) {
    const whole = await wholeOf(trained, trained.task.generate(random, split) as Input, true);
    const heads = ablatableHeads(trained, whole.probe.attentions, "zero");
    const zero = await neededHeads(trained.model, whole, heads);
    const own = { ...whole, needed: { zero } };
    first ??= own;
    if (whole.written ? zero.some(Boolean) : zero[0]) return own;
  }
  return first as Whole;
}

/** The last input of each model. It is freed with the model when the person leaves the view. */
const last = new WeakMap<Trained, { readonly key: string; readonly whole: Whole }>();

/** The input with all heads. It does not depend on the ablated heads, so it is computed once. */
async function askedWhole(
  trained: Trained,
  { text, seed }: HeadsRequest,
): Promise<Whole | UnreadableText> {
  const key = JSON.stringify(text === null ? [seed] : [null, text]);
  const known = last.get(trained);
  if (known?.key === key) return known.whole;
  const input = text === null ? null : readInput(trained.task, text);
  if (input && "why" in input) return input;
  const whole = input ? await wholeOf(trained, input, false) : await drawn(trained, seed);
  last.set(trained, { key, whole });
  return whole;
}

/** The run without some heads, and the probabilities that the model then gives to the answer with all heads. */
async function runWithout(
  trained: Trained,
  heads: readonly Head[],
  { input, answered, written }: Run,
) {
  return withoutHeads(trained.model, heads, async () => {
    const now = await run(trained, input);
    const isSame = now.written?.join() === written?.join();
    return { ...now, forced: isSame ? now.probe : probe(trained.model, answered) };
  });
}

function noteOn(input: Input, { task }: Trained): string | null {
  const { length } = tokensOf(input);
  const longest = task.longest.source;
  return length > longest
    ? `It was taught up to ${longest} tokens; these are ${length}, so the answer may be wrong.`
    : null;
}

async function answerTo(
  heed: Heed,
  request: HeadsRequest,
  trained: Trained,
): Promise<HeadsAnswer | UnreadInput> {
  const start = performance.now();
  const { model, task, heldOut, score } = trained;
  const known = task.vocabulary.source;
  const whole = await askedWhole(trained, request);
  if ("why" in whole) return { kind: "unread", ...whole, known };

  const { input, questions, isSolved, written } = whole;
  const { ablation } = request;
  const all = ablatableHeads(trained, whole.probe.attentions, ablation);
  // A link may name heads that this model does not have.
  const ablated = request.ablated.filter((key) => all.has(key));
  const heads = ablated.map((key) => all.get(key) as Head);
  const rest = heads.length === 0 ? null : await runWithout(trained, heads, whole);
  whole.needed[ablation] ??= await neededHeads(model, whole, all);

  const hasRightPlaces = isSolved && input.kind !== "continuation";
  const right = hasRightPlaces ? alignmentOf(input) : null;
  const placesIn = ({ answered }: Run): Alignment | null => right ?? placesOf(answered);
  const measured = (run: Run) => {
    const basis = { input: run.answered, places: placesIn(run), heldOut };
    return run.probe.attentions.map((each) => measuredAttention(heed, each, basis));
  };
  const before = measured(whole);
  const textOf = (tokens: readonly string[]) => task.write?.(tokens) ?? tokens.join("");
  const isTypedTagging = request.text !== null && input.kind === "tagging";
  return {
    kind: "answer",
    exhibit: request.exhibit,
    text: textOf(tokensOf(input)),
    picture: input.kind === "picture" ? { pixels: input.pixels.slice(), side: input.width } : null,
    known,
    places: !placesIn(rest ?? whole) ? "unknown" : isTypedTagging ? "answered" : "right",
    attentions: rest ? measured(rest) : before,
    model: {
      parameters: model.parameters().reduce((sum, { data }) => sum + data.length, 0),
      ...{ examples: score.examples, exact: score.exact },
    },
    best: bestHeadOf(before),
    ...{ ablated, ablation, needed: whole.needed[ablation] },
    asked: askedOf(questions, whole.probe, rest?.forced ?? null),
    written: written && {
      whole: textOf(written),
      without: rest?.written ? textOf(rest.written) : null,
    },
    note: noteOn(input, trained),
    milliseconds: performance.now() - start,
  };
}

/** Two answers at the same time would ablate the heads of both. */
let lastAnswer: Promise<unknown> = Promise.resolve();

const solve: Solver<HeadsRequest | LeaveRequest, HeadsAnswer | UnreadInput | null> = async (
  request,
  { heed },
) => {
  if (request.kind === "leave") {
    close();
    return null;
  }
  const { base, exhibit } = request;
  const trained = await modelAt(heed, `${base}models/${exhibitOf(exhibit).folder}`);
  const answer = trained.use(() => lastAnswer.then(() => answerTo(heed, request, trained)));
  lastAnswer = answer.catch(() => {});
  return answer;
};

export default solve;
