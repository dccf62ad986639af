/** The solver of task models: runs a trained model with all heads and with some ablated, and measures every head. */
import type { Heed } from "heed";
import {
  type Alignment,
  alignmentOf,
  type Head,
  type LabelledWeights,
  type Split,
  withoutHeads,
} from "heed/models";
import { nn } from "heed/nn";
import { pathOf } from "../../../shared/attended";
import { type Input, readInput, tokensOf, type UnreadableText } from "../../../shared/typed";
import type { Solver } from "../../../worker/solver";
import type { HeadKey, HeadsAnswer, HeadsRequest, LeaveRequest, UnreadInput } from "./answer";
import { askedOf, questionsOf } from "./asking";
import { attentionsOf, bestHeadOf } from "./attending";
import { exhibitOf } from "./catalogue";
import { placesOf } from "./input";
import { neededHeads } from "./needed";
import { type ModelProbe, probe } from "./probe";
import { headPlaceOf } from "./state";
import { close, modelAt, type Trained } from "./trained";

/** A split that was not used in training. */
const split: Split = "test";

function inputOf({ task }: Trained, { text, seed }: HeadsRequest): Input | UnreadableText {
  if (text !== null) return readInput(task, text);
  return task.generate(new nn.Generator(seed), split) as Input;
}

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

function headAt(key: HeadKey): Head {
  const place = headPlaceOf(key);
  if (!place) throw new RangeError(`“${key}” names no head`);
  return { path: pathOf(place), head: place.head };
}

/** The heads to ablate that this model has. A link may name others. */
function presentHeads({ ablated }: HeadsRequest, there: readonly LabelledWeights[]): HeadKey[] {
  return ablated.filter((key) => {
    const { path, head } = headAt(key);
    return there.some((each) => each.path === path && head < each.heads);
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
  const input = inputOf(trained, request);
  if ("why" in input) return { kind: "unread", ...input, known };

  const isDrawn = request.text === null;
  const isSolved = isDrawn || (input.kind === "translation" && input.target.length > 0);
  const written = await writtenFor(trained, input);
  const answered = await answeredBy(trained, input, written);
  const hasRightPlaces = isSolved && input.kind !== "continuation";
  const places: Alignment | null = hasRightPlaces ? alignmentOf(input) : placesOf(answered);

  const before = probe(model, answered);
  const ablated = presentHeads(request, before.attentions);
  const rest =
    ablated.length === 0
      ? null
      : await withoutHeads(model, ablated.map(headAt), async () => ({
          probe: probe(model, answered),
          written: await writtenFor(trained, input),
        }));

  const measuring = { input: answered, places, heldOut };
  const measured = (probe: ModelProbe) => attentionsOf(heed, probe, measuring);
  const whole = measured(before);
  const questions = questionsOf(input, answered, isSolved);
  const asked = askedOf(questions, before, rest?.probe ?? null);
  const inputKey = JSON.stringify(isDrawn ? [request.seed] : [null, request.text]);
  const needed = await neededHeads(model, inputKey, { input: answered, questions, before });
  const textOf = (tokens: readonly string[]) => task.write?.(tokens) ?? tokens.join("");
  return {
    kind: "answer",
    exhibit: request.exhibit,
    text: textOf(tokensOf(input)),
    picture: input.kind === "picture" ? { pixels: input.pixels.slice(), side: input.width } : null,
    known,
    places: !places ? "unknown" : !isDrawn && input.kind === "tagging" ? "answered" : "right",
    attentions: rest ? measured(rest.probe) : whole,
    model: {
      parameters: model.parameters().reduce((sum, { data }) => sum + data.length, 0),
      ...{ examples: score.examples, exact: score.exact },
    },
    best: bestHeadOf(whole),
    ...{ ablated, asked, needed },
    written: written && {
      whole: textOf(written),
      without: rest?.written ? textOf(rest.written) : null,
    },
    note: noteOn(input, trained),
    milliseconds: performance.now() - start,
  };
}

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
  return trained.use(() => answerTo(heed, request, trained));
};

export default solve;
