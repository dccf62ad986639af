/** The solver of this room: opens the person's model, and reads texts with it. */
import { causalAnswer } from "../../../network/causal";
import type { Solver, SolverContext } from "../../../worker/solver";
import { keptModels } from "./kept";
import type { News, YoursAnswer, YoursRequest } from "./messages";
import { close, current, load, type Open, use } from "./model";
import { head, heads, next, other, read } from "./reading";
import { whyNotLoaded } from "./refusals";

/** A request of the open model. */
type ModelRequest = Extract<YoursRequest, { model: number }>;

function answer(
  open: Open,
  request: ModelRequest,
  context: SolverContext<News>,
): YoursAnswer | Promise<YoursAnswer> {
  if (request.kind === "read") return read(open, request, context);
  if (request.kind === "next") return next(open, request, context);
  if (request.kind === "other") return other(open, request);
  if (request.kind === "network" || request.kind === "matrices") {
    const { model, tokenizer } = open;
    // The page does not show the network of this model.
    if (!("readOut" in model && open.card.hasNetwork)) return null;
    return causalAnswer(model, request, (id) => tokenizer.pieceOf(id));
  }
  if (request.kind === "heads") return heads(open, request);
  return head(open, request);
}

const solve: Solver<YoursRequest, YoursAnswer, News> = async (request, context) => {
  if (request.kind === "load") {
    try {
      return await load(context.heed, request, context);
    } catch (error) {
      context.signal.throwIfAborted();
      return { kind: "refused", why: whyNotLoaded(error, request.source) };
    }
  }
  if (request.kind === "close") {
    close();
    return null;
  }
  if (request.kind === "kept") return { kind: "kept", models: await keptModels(request.deleted) };
  const open = current();
  if (request.kind === "card") return open?.card ?? null;
  // A request that was made for another model: the page asks again for the new one.
  if (open?.card.model !== request.model) return null;
  return use(open, () => answer(open, request, context));
};

export default solve;
