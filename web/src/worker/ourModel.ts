/** The page's own language model in the worker. Rooms that use it at the same time share it. */
import type { Heed } from "heed";
import { type LoadedModel, type LoadModelOptions, loadModel } from "heed/models";
import type { News } from "../shared/loading";
import { ReadableTokenizer } from "../shared/readableTokenizer";
import { hubFilesIn, reportIn } from "./modelFiles";
import type { SolverContext } from "./solver";

export type LoadContext = Pick<SolverContext<News>, "signal" | "progress">;
type WeightType = NonNullable<LoadModelOptions["dtype"]>;

interface Report {
  readonly bytes: number;
  readonly heldOut: { readonly all: { readonly model: { readonly perplexity: number } } };
}

/** A model, and how its user gives it back. */
export interface Held {
  readonly model: LoadedModel;
  readonly tokenizer: ReadableTokenizer;
  /** The perplexity on unseen texts; null if it was not measured. */
  readonly perplexity: number | null;
  free(): void;
}

interface Shared {
  readonly loaded: Promise<Omit<Held, "free">>;
  /** The progress callbacks of all users. */
  readonly hears: Set<LoadContext["progress"]>;
  users: number;
}

/** The models of each engine by the type of their weights. */
const shared = new WeakMap<Heed, Map<WeightType, Shared>>();

/** The shortest time between two progress messages, in milliseconds. */
const often = 100;

/** Passes on progress messages. A message that follows another one too soon waits, and a newer one replaces it. */
export function seldom(progress: (news: News) => void): (news: News) => void {
  let told = 0;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  return (news) => {
    const tell = () => {
      told = performance.now();
      progress(news);
    };
    clearTimeout(waiting);
    const wait = told + often - performance.now();
    if (wait <= 0 || news.loaded >= news.total) tell();
    else waiting = setTimeout(tell, wait);
  };
}

/** The files are fetched as a whole, so that the page can keep them. */
async function load(
  heed: Heed,
  folder: string,
  dtype: WeightType,
  { signal, progress }: LoadContext,
): Promise<Omit<Held, "free">> {
  const hear = seldom(progress);
  const { bytes, heldOut } = await reportIn<Report>(folder);
  const files = await hubFilesIn(folder, (loaded) => hear({ loaded, total: bytes }));
  const options = { dtype, signal, tokenizer: ReadableTokenizer, onProgress: hear };
  const { model, tokenizer } = await loadModel(heed, files, options);
  // It was measured with float16, and differs with fewer bits.
  const perplexity = dtype.startsWith("float") ? heldOut.all.model.perplexity : null;
  return { model, tokenizer, perplexity };
}

/** The model in a folder. It is loaded for its first user, and freed when all have given it back. */
export async function holdOurs(
  heed: Heed,
  folder: string,
  dtype: WeightType,
  context: LoadContext,
): Promise<Held> {
  const all = shared.get(heed) ?? new Map<WeightType, Shared>();
  shared.set(heed, all);
  const isFirst = !all.has(dtype);
  const begin = (): Shared => {
    const hears: Shared["hears"] = new Set();
    const progress = (news: News) => hears.forEach((hear) => void hear(news));
    return { loaded: load(heed, folder, dtype, { ...context, progress }), hears, users: 0 };
  };
  const own = all.get(dtype) ?? begin();
  all.set(dtype, own);
  own.hears.add(context.progress);
  ++own.users;
  try {
    const free = (model: LoadedModel) => {
      if (--own.users > 0) return;
      all.delete(dtype);
      model.dispose();
    };
    const found = await own.loaded;
    return { ...found, free: () => free(found.model) };
  } catch (error) {
    if (all.get(dtype) === own) all.delete(dtype);
    context.signal.throwIfAborted();
    // The first user may have cancelled the loading for itself.
    if (isFirst) throw error;
    return holdOurs(heed, folder, dtype, context);
  } finally {
    own.hears.delete(context.progress);
  }
}
