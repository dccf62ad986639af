/** The solver of language models: opens them, and reads texts with them. */
import { causalAnswer } from "../../../network/causal";
import { encoderAnswer } from "../../../network/encoder";
import type { News } from "../../../shared/loading";
import type { Solver, SolverContext } from "../../../worker/solver";
import { kindsOf } from "./measuring";
import type { LanguageAnswer, LanguageRequest } from "./messages";
import { close, current, keptModels, load, numbered, type Open } from "./model";
import { head, heads, next, other, read, similarity, without } from "./reading";
import { whyNotLoaded } from "./refusals";

/** A request of the open model. */
type ModelRequest = Extract<LanguageRequest, { model: number }>;

function answer(
  open: Open,
  request: ModelRequest,
  context: SolverContext<News>,
): LanguageAnswer | Promise<LanguageAnswer> {
  if (request.kind === "read") return read(open, request, context);
  if (request.kind === "next") return next(open, request, context);
  if (request.kind === "other") return other(open, request);
  if (request.kind === "similarity") return open.card.compares ? similarity(open, request) : null;
  if (request.kind === "network" || request.kind === "matrices") {
    const { model, tokenizer, card } = open;
    // The page does not show the network of this model.
    if ("decode" in model || card.whyNoNetwork !== null) return null;
    const run = () =>
      "readOut" in model
        ? causalAnswer(model, request, (id) => tokenizer.pieceOf(id))
        : encoderAnswer(model, request);
    return request.kind === "network" ? without(open, request, run) : run();
  }
  if (request.kind === "kinds")
    return "readOut" in open.model ? { kind: "kinds", ...kindsOf(open.model) } : null;
  if (request.kind === "heads") return heads(open, request);
  return head(open, request);
}

const solve: Solver<LanguageRequest, LanguageAnswer, News> = async (request, context) => {
  if (request.kind === "load") {
    try {
      return await load(context.heed, request, context);
    } catch (error) {
      context.signal.throwIfAborted();
      return { kind: "refused", why: whyNotLoaded(error, request.source) };
    }
  }
  if ("whose" in request) {
    if (request.kind === "close") close(request.whose);
    return current(request.whose)?.card ?? null;
  }
  if (request.kind === "kept") return { kind: "kept", models: await keptModels(request.deleted) };
  // A request may be for a model that was closed meanwhile: the page asks again for the new one.
  const open = numbered(request.model);
  return open?.use(() => answer(open, request, context)) ?? null;
};

export default solve;
