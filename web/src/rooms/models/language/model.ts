/** The language model that is loaded in the worker for this room. */
import type { Heed } from "heed";
import { type ByteTokenizer, type CausalLanguageModel, loadModel } from "heed/models";
import { hubFilesIn, reportIn } from "../../../worker/modelFiles";
import type { LoadingNews } from "./messages";

export interface Language {
  readonly model: CausalLanguageModel;
  readonly tokenizer: ByteTokenizer;
  readonly report: Report;
}

interface Report {
  readonly parameters: number;
  readonly bytes: number;
  readonly heldOut: { readonly all: { readonly model: { readonly perplexity: number } } };
}

let open: { readonly address: string; readonly language: Promise<Language> } | null = null;

async function loadFrom(
  heed: Heed,
  address: string,
  hear: (news: LoadingNews) => void,
): Promise<Language> {
  const report = await reportIn<Report>(address);
  const total = report.bytes;
  hear({ loaded: 0, total });
  const files = await hubFilesIn(address, (loaded) => hear({ loaded, total }));
  const { model, tokenizer } = await loadModel(heed, files, { tokenizer: true });
  return { model: model as CausalLanguageModel, tokenizer, report };
}

/** Frees the loaded model, if there is one. */
export function close(): void {
  open?.language.then(({ model }) => model.dispose()).catch(() => {});
  open = null;
}

/** @param base the base address of the page's files */
export function languageAt(
  heed: Heed,
  base: string,
  hear: (news: LoadingNews) => void = () => {},
): Promise<Language> {
  const address = `${base}models/write`;
  if (open?.address === address) return open.language;
  close();
  const language = loadFrom(heed, address, hear);
  const mine = { address, language };
  open = mine;
  // Forget a failed load, so that the next attempt loads again.
  language.catch(() => {
    if (open === mine) open = null;
  });
  return language;
}
