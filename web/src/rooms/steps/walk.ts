/** The solver that finds a model of a task, or the person's, which is open in the room Models, and its tokens of a text. */
import type { MaskedLanguageModel } from "heed/models";
import { activations } from "../../network/formulas";
import { plain } from "../../shared/attended";
import { type ExhibitId, exhibitIds, exhibitOf } from "../../shared/catalogue";
import { label } from "../../shared/pieces";
import {
  mostCharacters,
  readInput,
  tokensOf as tokensIn,
  type UnreadableText,
} from "../../shared/typed";
import type { LanguageModel } from "../../worker/languageHeads";
import { isWalked, type OpenModel, openModel } from "../../worker/openModel";
import type { Solver } from "../../worker/solver";
import { decoderWords, groupWords, type ModelShape, normWords, ourShape, unitWords } from "./shape";
import { type TaskLayers, taskLayers } from "./taskLayers";
import { maxTokens, type Tokens } from "./tokens";

export interface WalkRequest {
  /** How links name the model whose layers are shown; null for our language model. */
  readonly model: string | null;
  readonly text: string;
  /** The address of the page. */
  readonly base: string;
}

/** A model other than our language model, and a text that it reads. */
export interface Walked {
  readonly shape: ModelShape;
  readonly tokens: Tokens;
  /** The folder of the model; null for the person's. */
  readonly folder: string | null;
}

/** A model whose layers can be shown. */
interface Other extends Pick<OpenModel["card"], "name" | "link"> {
  /** The mask of its attention. */
  readonly mask: "causal" | "none";
  /** The first text of a model that does not read any text; null for other models. */
  readonly text: string | null;
}

export interface WalkAnswer {
  /** The models of tasks, and the open model of the person if its layers can be shown. */
  readonly others: readonly Other[];
  /** The model of the request. */
  readonly walked: Walked | null;
  /** Why the model of the request is not shown. */
  readonly why: string | null;
}

const biasWords = " A learned bias is added to each.";

const headNorms =
  " Each head’s query and key are divided by their root mean square, times learned factors.";

/** Words about the input of a layer of an encoder. */
function encoderWords({ types }: MaskedLanguageModel["config"]) {
  const others = `of its position${types > 0 ? " and of its type" : ""}`;
  return {
    vector: `that the model learned for it, plus that ${others}, normalised`,
    embedding: `the vectors of the token, ${others}, added and normalised`,
    norm: "The layer [reads](input) it as it is: its norms follow its two sums (post-norm).",
    normed: "as it is",
  };
}

/** The special tokens that the tokenizer puts before and after each text. */
function endsOf(tokenizer: OpenModel["tokenizer"]) {
  const ends = tokenizer.tokensOf(tokenizer.idsOf("")).filter(({ isSpecial }) => isSpecial);
  const ids = tokenizer.idsOf("a");
  return {
    start: ends.find(({ id }) => id === ids[0]),
    end: ends.find(({ id }) => id === ids.at(-1)),
  };
}

function tokenWords(tokenizer: OpenModel["tokenizer"]): string {
  const { start, end } = endsOf(tokenizer);
  const put = [
    ...(start ? [`“${label(start.piece)}” before them`] : []),
    ...(end ? [`“${label(end.piece)}” after them`] : []),
  ];
  const words = "The model’s tokenizer cuts the text into tokens";
  return put.length > 0 ? `${words}, and puts ${put.join(" and ")}.` : `${words}.`;
}

/**
 * @param name as sentences name the model
 * @param tokens how its text becomes tokens
 */
export function shapeOf({ config }: LanguageModel, name: string, tokens: string): ModelShape {
  const { layers, heads, headSize, size, isGated } = config;
  const activation = activations[config.activation].name;
  const isCausal = config.kind === "causal";
  const hasHeadNorms = isCausal && config.hasHeadNorms;
  const { hidden } = config.biases;
  const biases = isCausal
    ? config.biases
    : { qkv: config.biases.attention, output: config.biases.attention, hidden };
  const rotates = config.rotations !== undefined;
  return {
    ...{ name, layers, heads, headSize, size, units: config.hiddenSize },
    ...{ isCausal, isPostNorm: !isCausal },
    norm: isCausal && config.norm === "rms" ? "RMS norm" : "layer norm",
    ...{ rotates, hasHeadNorms, biases, isGated, activation },
    windows: Array.from(config.windows, (window) => window ?? null),
    words: {
      ...{ tokens, ...(isCausal ? decoderWords(rotates, config.norm) : encoderWords(config)) },
      projections: `${biases.qkv ? biasWords : ""}${hasHeadNorms ? headNorms : ""}`,
      heads: isCausal ? groupWords(heads, config.kvHeads) : "",
      unit: unitWords(activation, isGated),
      end: ourShape.words.end,
    },
  };
}

function tokensOf({ tokenizer, model }: OpenModel, text: string): Tokens {
  const all = text.trim() === "" ? [] : tokenizer.idsOf(text);
  const most = Math.min(maxTokens, model.config.context);
  const cut = all.length > most;
  // An encoder expects the end after a text that is cut, too.
  const end = cut && model.config.kind === "masked" ? endsOf(tokenizer).end : undefined;
  const ids = end ? [...all.slice(0, most - 1), end.id] : all.slice(0, most);
  const tokens = tokenizer.tokensOf(ids).map(({ piece }) => label(piece));
  return {
    tokens,
    ids,
    kept: text,
    cut,
    most: end ? most - 1 : most,
  };
}

const ends: Readonly<Record<string, string>> = {
  decoder: ourShape.words.end,
  transformer: "the decoder, whose cross-attention reads it",
};

/** The form of the model of a task: a stack with norms before its parts. */
function shapeOfTask({ own, config, isCausal }: TaskLayers, name: string): ModelShape {
  const { layers, dimFeedforward: units, kind } = own;
  const activation = activations[config.activation].name;
  const cut = `Each ${kind === "tagging" ? "word or mark" : "character"} is a token.`;
  return {
    ...{ name: `the model “${name}”`, layers, units, heads: config.heads },
    ...{ headSize: config.headSize, size: config.size, norm: "layer norm", activation },
    ...{ isCausal, isPostNorm: false, rotates: false, hasHeadNorms: false, isGated: false },
    biases: { qkv: true, output: true, hidden: true },
    windows: Array.from({ length: layers }, () => null),
    words: {
      tokens: isCausal ? `The model puts a start before the text. ${cut}` : cut,
      vector: "that the model learned for it, plus the sines and cosines of its position",
      embedding: "the learned vector of the token and the sines and cosines of its position, added",
      ...{ ...normWords("layer"), projections: biasWords, heads: "" },
      unit: unitWords(activation, false),
      end: ends[own.architecture] ?? "the answer of the model",
    },
  };
}

/** The most unknown pieces of a text that a sentence names. */
const mostNamed = 3;

/** Why the model of a task cannot read a text. */
function whyUnread({ pieces, why }: UnreadableText, text: string): string {
  if (text.length > mostCharacters) return why;
  const names = pieces
    .filter(({ isKnown }) => !isKnown)
    .map((piece) => `“${piece.text.trim() || plain(piece.text)}”`);
  const unknown = [...new Set(names)];
  if (unknown.length === 0) return why;
  const rest = unknown.length - mostNamed;
  const more = rest > 0 ? ` and ${rest} more` : "";
  return `The model does not know ${unknown.slice(0, mostNamed).join(", ")}${more}.`;
}

/** The tokens of a text; none, and the reason, if the model cannot read it. */
function tokensOfTask({ task, isCausal, idsOf }: TaskLayers, text: string): Tokens {
  const input = readInput(task, text);
  if ("why" in input) {
    return { tokens: [], ids: [], kept: text, cut: false, why: whyUnread(input, text) };
  }
  const tokens = [...(isCausal ? ["<start>"] : []), ...tokensIn(input)];
  return { tokens: tokens.map(plain), ids: idsOf(tokens), kept: text, cut: false };
}

/** The first text of a model whose first input is drawn. */
const otherText = "March 7, 1969";

/** The models of tasks that read a text. */
const tasks = exhibitIds.flatMap((id): Other[] => {
  const { name, folder, first, field } = exhibitOf(id);
  const mask = folder.endsWith("-decoder") ? "causal" : "none";
  const text = "text" in first ? first.text : otherText;
  return field === null ? [] : [{ name, link: id, mask, text }];
});

const solve: Solver<WalkRequest, WalkAnswer> = async ({ model, text, base }, { heed }) => {
  const found = openModel();
  const why = found?.card.whyNotWalked ?? null;
  const mask = found?.model.config.kind === "causal" ? "causal" : "none";
  const others = [...tasks];
  if (found && why === null) {
    const { name, link } = found.card;
    others.push({ name, link, mask, text: null });
  }
  if (model === null) return { others, walked: null, why: null };
  const refused = (why: string) => ({ others, walked: null, why });
  const hidden = (name: string, why: string) =>
    refused(`The layers of ${name} are not shown: ${why}.`);
  if (tasks.some(({ link }) => link === model)) {
    const { folder, name } = exhibitOf(model as ExhibitId);
    const address = new URL(`models/${folder}`, base).href;
    try {
      const layers = await taskLayers(heed, address);
      const shape = shapeOfTask(layers, name);
      const walked = { shape, tokens: tokensOfTask(layers, text), folder: address };
      return { others, walked, why: null };
    } catch (error) {
      return hidden(`the model “${name}”`, (error as Error).message.replace(/\.$/, ""));
    }
  }
  if (model === "shapes") return hidden("the model “shapes”", "its tokens are parts of a picture");
  if (!found || found.card.link !== model)
    return refused(
      `The model of the link${model === "yours" ? "" : `, ${model},`} is not open: open it in the room Models, and choose “Step by step” there.`,
    );
  if (!isWalked(found)) return hidden(found.card.name, why as string);
  const tokens = tokensOf(found, text);
  const { vocabularySize } = found.model.config;
  if (tokens.ids?.some((id) => id >= vocabularySize))
    return hidden(found.card.name, "its tokenizer has more tokens than its vocabulary");
  const shape = shapeOf(found.model, found.card.name, tokenWords(found.tokenizer));
  return { others, walked: { shape, tokens, folder: null }, why: null };
};

export default solve;
