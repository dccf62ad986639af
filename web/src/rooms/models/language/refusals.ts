/** Explains the engine's errors to the person who opens a model. */
import { missingIn, type Source } from "./source";

/** The code and the message of an error of any type. */
function partsOf(error: unknown): { code: string; message: string } {
  const { code = "", message = String(error) } = (error ?? {}) as {
    code?: string;
    message?: string;
  };
  return { code, message };
}

type Rule = readonly [RegExp, (found: string[], source: Source) => string];

const hostOf = ({ kind, ...source }: Source) =>
  kind === "address" ? new URL((source as { address: string }).address).host : "It";

const rules: readonly Rule[] = [
  [
    /^files: expected tokenizer\.json, got none there$/,
    (_, source) =>
      `There is no tokenizer.json at ${(source as { address: string }).address}. Is it the folder of a model of text? One that reads images has no tokenizer.`,
  ],
  [
    /^files: expected (.+), got none there$/,
    ([, file], source) =>
      `There is no ${file} at ${(source as { address: string }).address}. Is it the folder of a model?`,
  ],
  [
    /^files: expected (.+), got (.+)$/,
    ([, file, got], source) =>
      (source.kind === "files" && missingIn(Object.keys(source.files))) ||
      `${got} found, ${file} is not.`,
  ],
  [
    /it is not reachable, or its server does not permit/,
    (_, source) =>
      `${hostOf(source)} is not reachable, or does not permit other pages to read its files (CORS). Download the folder and drop it here.`,
  ],
  [
    /^(\S+): expected the file, got status (\d+)$/,
    ([, url, status], source) =>
      ["401", "403"].includes(status as string)
        ? `${hostOf(source)} refuses ${url} (status ${status}): the model does not exist, or only members may read it. Download it there and drop its folder here.`
        : `${hostOf(source)} does not send ${url} (status ${status}). Try again later.`,
  ],
  [
    /^(\S+): the connection broke off at (.+)$/,
    ([, url, place]) => `The connection broke off at ${place}: ${url}. Try again.`,
  ],
  [
    /expected a response that says its size/,
    (_, source) => `${hostOf(source)} does not say how large the files are. Download them first.`,
  ],
  [
    /config\.model_type: expected (.+), got (.+)$/,
    ([, known, got]) =>
      `The architecture ${got} is not one that this page can run. It can run ${known?.replace(' or "vit"', "").replace(/ or /g, ", ")}.`,
  ],
  [
    /^tokenizer\.json: expected a tokenizer .*, got (.+)$/s,
    ([, got]) => `The tokenizer in tokenizer.json is of a kind that is not known: ${got}`,
  ],
  [
    /^weights: expected the tensors of (\S+), got (.+)$/s,
    ([, architecture, faults]) =>
      `The weights are not those of the ${architecture} that config.json describes. Tensors: ${faults}.`,
  ],
];

/** Why a model could not be loaded. */
export function whyNotLoaded(error: unknown, source: Source): string {
  const { code, message } = partsOf(error);
  if (code === "memory")
    return `The model does not fit into the memory (${message}). Choose float16, int8 or int4, or close the model that is open.`;
  if (code === "storage")
    return `The browser has no room to keep the model (${message}). Delete one that is kept, or load it without keeping it.`;
  for (const [pattern, words] of rules) {
    const found = pattern.exec(message);
    if (found) return words(found, source);
  }
  return `The model could not be loaded: ${message}`;
}
