/** The solver of this room: loads the language model, continues a text, and shows what its heads attend to. */
import type { Heed, Tensor } from "heed";
import { causalAnswer } from "../../../network/causal";
import type { MatricesAnswer, NetworkAnswer } from "../../../network/messages";
import { type HeadPlace, headPlaceOf } from "../../../shared/layerHeads";
import { pieceOf, piecesIn } from "../../../shared/pieces";
import { continuation } from "../../../worker/continuation";
import { idsTensor, sharesOfHead, without, withSmallWeights } from "../../../worker/languageHeads";
import type { Solver, SolverContext } from "../../../worker/solver";
import { measureHeads } from "./attending";
import { repeated, uniformMeasures } from "./measures";
import type {
  HeadAnswer,
  HeadRequest,
  LanguageRequest,
  LoadingNews,
  OpenAnswer,
  WriteAnswer,
  WriteRequest,
} from "./messages";
import { close, type Language, languageAt } from "./model";
import { line } from "./state";
import { candidatesIn, insteadIn } from "./writing";

/** The piece of the token that stands before every text. */
const start = "start";

type Context = SolverContext<LoadingNews>;

function opened(language: Language): OpenAnswer {
  const { model, tokenizer, report } = language;
  const { layers, heads, kvHeads, headSize, context } = model.config;
  return {
    kind: "opened",
    ...{ layers, heads, kvHeads, headSize, context },
    ...{ parameters: report.parameters, bytes: report.bytes },
    perplexity: report.heldOut.all.model.perplexity,
    vocabulary: tokenizer.tokens.map((_, id) => wordOf(language, id)),
    measures: measureHeads(model, tokenizer.endId),
    uniform: uniformMeasures(2 * repeated + 1),
  };
}

/** The tokens of the typed text, as many as leave room for a line, and how many can be written. */
function givenTokens({ model, tokenizer }: Language, request: WriteRequest) {
  const { ids: typed } = tokenizer.encode(request.text);
  const room = model.config.context - 1;
  const length = Math.min(request.length, Math.max(line, room - typed.length));
  const most = room - length;
  const notices =
    typed.length > most
      ? [
          `Your text has ${typed.length} tokens, and the model reads ${model.config.context} at most: the first ${typed.length - most} are left out.`,
        ]
      : [];
  return { given: [tokenizer.endId, ...typed.slice(-most)], length, notices };
}

async function written(heed: Heed, language: Language, request: WriteRequest, { pause }: Context) {
  const begin = performance.now();
  const { model, tokenizer } = language;
  const kept = request.kept.filter((id) => id < model.config.vocabularySize);
  const { given, length, notices } = givenTokens(language, request);
  const { temperature, topK, topP, seed, dropped } = request;
  const sampling = { temperature, topK, topP };
  const more = await continuation(model, given, { ...sampling, seed, length, kept }, pause);
  const ids = [...given, ...more];

  const run = (): Tensor => heed.scope(() => model.forward(idsTensor(heed, ids)).logits);
  const whole = dropped.length === 0 ? withSmallWeights(model, run) : { result: run(), small: [] };
  const candidates = await candidatesIn(heed, whole.result, ids, sampling, pause);
  const rest =
    dropped.length === 0 ? null : await without(model, dropped, () => withSmallWeights(model, run));
  const answer: WriteAnswer = {
    kind: "written",
    ...{ ids, given: given.length, text: tokenizer.decode(ids), candidates, dropped },
    pieces: piecesIn(ids.map((id) => tokenizer.bytes([id]))).map((piece, i) =>
      ids[i] === tokenizer.endId ? start : piece,
    ),
    instead: rest && (await insteadIn(heed, candidates, rest.result, ids, pause)),
    small: (rest ?? whole).small,
    notices,
    milliseconds: performance.now() - begin,
  };
  return answer;
}

function attention({ model }: Language, request: HeadRequest): Promise<HeadAnswer> {
  const { head: key, ids, dropped } = request;
  return without(model, dropped, () => ({
    ...{ kind: "head" as const, key },
    shares: sharesOfHead(model, ids, headPlaceOf(key) as HeadPlace),
  }));
}

/** The text of a token that is shown alone. */
function wordOf({ tokenizer }: Language, id: number): string {
  return id === tokenizer.endId ? start : pieceOf(tokenizer.bytes([id]));
}

const solve: Solver<
  LanguageRequest,
  OpenAnswer | WriteAnswer | HeadAnswer | NetworkAnswer | MatricesAnswer | null,
  LoadingNews
> = async (request, context) => {
  if (request.kind === "leave") {
    close();
    return null;
  }
  const { heed, progress } = context;
  const language = await languageAt(heed, request.base, progress);
  if (request.kind === "open") return opened(language);
  if (request.kind === "head") return attention(language, request);
  if (request.kind === "network" || request.kind === "matrices")
    return causalAnswer(language.model, request, (id) => wordOf(language, id));
  return written(heed, language, request, context);
};

export default solve;
