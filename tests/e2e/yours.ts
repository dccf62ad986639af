/** Opens models of a person in the room "Models"; the models that tests open there, and a server that has them. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { HubConfig } from "heed/models";
import { bert, filesOf, jsonOf, t5 } from "../js/checkpoints";
import { Random } from "../js/values";
import { listen, type Server } from "./browsers";
import { Write } from "./write";

export type Files = Readonly<Record<string, Uint8Array>>;

/** A file as the browser provides it for a drop, without the name of its folder. */
interface Dropped {
  readonly name: string;
  readonly base64: string;
}

export class Yours extends Write {
  /** The number of the open model; empty if none is. */
  #model(): Promise<string> {
    return this.page.evaluate(
      () => document.querySelector<HTMLElement>(".model-card")?.dataset.model ?? "",
    );
  }

  /** Drops files on the page. */
  async drop(files: Files): Promise<void> {
    const dropped: Dropped[] = Object.entries(files).map(([name, bytes]) => ({
      ...{ name, base64: Buffer.from(bytes).toString("base64") },
    }));
    await this.page.evaluate((dropped) => {
      const dataTransfer = new DataTransfer();
      for (const { name, base64 } of dropped) {
        const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
        dataTransfer.items.add(new File([bytes], name));
      }
      const target = document.querySelector("main") as Element;
      for (const type of ["dragover", "drop"])
        target.dispatchEvent(
          new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }),
        );
    }, dropped);
  }

  /** Waits until another model is open and its text is read. Returns the facts on its card. */
  async opened(): Promise<Record<string, string>> {
    await this.page.waitForSelector(`.model-card:not([data-model="${this.#last}"])`);
    await this.page.waitForSelector(".one-head canvas");
    this.#last = await this.#model();
    return this.card();
  }
  #last = "";

  /** The facts on the card. */
  card(): Promise<Record<string, string>> {
    return this.page.$$eval(".model-card [data-fact]", (facts) =>
      Object.fromEntries(
        facts.map((fact) => [
          (fact as HTMLElement).dataset.fact ?? "",
          fact.querySelector("dd")?.textContent ?? "",
        ]),
      ),
    );
  }

  notices(): Promise<string> {
    return this.text(".input .notices");
  }

  /** Clicks a token of the text, counted from 0. Drawing may replace an element between two calls. */
  async clickToken(index: number): Promise<void> {
    await this.page.$$eval(
      ".written-text .piece",
      (all, at) => (all[at] as HTMLElement).click(),
      index,
    );
  }

  /** Opens the fold with the ways to open a model, if it is closed. */
  async showWays(): Promise<void> {
    await this.page.$$eval(".other-model", ([fold]) => {
      if (fold) (fold as HTMLDetailsElement).open = true;
    });
  }

  /** Closes the open model. */
  async closeModel(): Promise<void> {
    await this.page.$eval(".model-card details", (facts) => {
      (facts as HTMLDetailsElement).open = true;
    });
    await this.click("Close this model");
  }

  async loadAddress(address: string): Promise<void> {
    await this.showWays();
    await this.paste("#model-address", address);
    await this.click("Load", ".address");
  }

  /** The addresses of the models that are kept. */
  kept(): Promise<(string | undefined)[]> {
    return this.page.$$eval("[data-kept]", (rows) =>
      rows.map((row) => (row as HTMLElement).dataset.kept),
    );
  }

  /** Clicks a cell of the weights, and returns the weight that the readout then shows. */
  async keep(row: number, col: number, count: number): Promise<number> {
    const { x, y } = await this.cell("weights", row, col, count, count);
    await this.page.mouse.click(x, y);
    await this.page.waitForSelector(".readout[data-locked=true] .readout-formula");
    return (await this.formula()).weight;
  }
}

const specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];

/** A BERT with random weights that computes the vectors of texts. */
export function sentenceFiles(): Files {
  const { config, tensors } = bert("bert");
  const bare = Object.entries(tensors).filter(([name]) => !name.startsWith("cls."));
  const modules = ["", "1_Pooling"].map((path) => {
    const type = path === "" ? "Transformer" : "Pooling";
    return { path, type: `sentence_transformers.models.${type}` };
  });
  return {
    ...filesOf({
      config: { ...config, architectures: ["BertModel"] },
      tensors: Object.fromEntries(bare),
    }),
    "modules.json": jsonOf(modules),
    "1_Pooling/config.json": jsonOf({
      pooling_mode_max_tokens: true,
      pooling_mode_mean_tokens: false,
    }),
    "tokenizer.json": wordTokenizer(21, specials),
  };
}

/**
 * A T5 with random weights, of one layer in the encoder and two in the decoder.
 *
 * @param languages the tokens of languages, from token 5 on; the first is put before each text
 */
export const translatorFiles = (
  more: HubConfig = {},
  languages: readonly string[] = [],
): Files => ({
  ...filesOf(t5(24, { num_decoder_layers: 2, ...more })),
  "tokenizer.json": wordTokenizer(24, [...specials, ...languages], true, languages[0]),
});

/** A BERT with random weights that has a classifier of three labels. */
export function classifierFiles(task: "Sequence" | "Token" | "Question", more: HubConfig = {}) {
  const { config, tensors } = bert("bert");
  const random = new Random(11);
  const architecture =
    task === "Question" ? "BertForQuestionAnswering" : `BertFor${task}Classification`;
  const [name, count] = task === "Question" ? ["qa_outputs", 2] : ["classifier", 3];
  const bare = Object.entries(tensors).filter(([name]) => !name.startsWith("cls."));
  const id2label = { 0: "very bad", 1: "neither", 2: "good" };
  return {
    ...filesOf({
      config: { ...config, architectures: [architecture], id2label, ...more },
      tensors: {
        ...Object.fromEntries(bare),
        [`${name}.weight`]: random.array([count as number, 12]),
        [`${name}.bias`]: random.array([count as number]),
      },
    }),
    "tokenizer.json": wordTokenizer(21, specials),
  };
}

const encoder = new TextEncoder();

const special = (id: number, content: string) => ({
  ...{ id, content, single_word: false, lstrip: false, rstrip: false },
  ...{ normalized: false, special: true },
});

/** Puts a token before a text, and [SEP] after it. */
function betweenEnds(specials: readonly string[], first: string) {
  const ends = [first, "[SEP]"] as const;
  const [start, end] = ends.map((id) => ({ SpecialToken: { id, type_id: 0 } }));
  const named = ends.map((id) => [id, { id, ids: [specials.indexOf(id)], tokens: [id] }]);
  const sequence = (id: string) => ({ Sequence: { id, type_id: 0 } });
  return {
    ...{ type: "TemplateProcessing", special_tokens: Object.fromEntries(named) },
    ...{
      single: [start, sequence("A"), end],
      pair: [start, sequence("A"), end, sequence("B"), end],
    },
  };
}

/**
 * A tokenizer.json whose tokens are the words w0, w1, .., except some special ones.
 *
 * @param hasEnds whether a text gets the tokens `first` and [SEP]
 */
export function wordTokenizer(
  size: number,
  specials: readonly string[] = [],
  hasEnds = false,
  first = "[CLS]",
): Uint8Array {
  const words = Array.from({ length: size }, (_, id) => specials[id] ?? `w${id}`);
  return encoder.encode(
    JSON.stringify({
      version: "1.0",
      added_tokens: specials.map((content, id) => special(id, content)),
      ...{ normalizer: null, decoder: null },
      post_processor: hasEnds ? betweenEnds(specials, first) : null,
      pre_tokenizer: { type: "WhitespaceSplit" },
      model: {
        ...{ type: "WordPiece", unk_token: words[0], continuing_subword_prefix: "##" },
        max_input_chars_per_word: 100,
        vocab: Object.fromEntries(words.map((word, id) => [word, id])),
      },
    }),
  );
}

/** The text of some tokens. */
export const wordsOf = (ids: readonly number[]) => ids.map((id) => `w${id}`).join(" ");

/** A server of folders at another origin, which permits pages to read its files unless `permits` says no. */
export async function shareFiles(
  folders: Readonly<Record<string, Files>>,
  { permits = true, slowly = false } = {},
): Promise<Server> {
  const answer = ({ url = "" }: IncomingMessage, response: ServerResponse) => {
    const [, folder = "", ...path] = url.split("/");
    const name = path.join("/");
    const bytes = folders[folder]?.[name];
    const headers = permits ? { "Access-Control-Allow-Origin": "*" } : {};
    if (!bytes) return void response.writeHead(404, headers).end();
    response.writeHead(200, { ...headers, "Content-Length": bytes.length });
    // The last byte never arrives, so the person has to wait or to cancel.
    if (slowly && name.endsWith(".safetensors")) response.write(bytes.subarray(0, -1));
    else response.end(bytes);
  };
  const { url, stop } = await listen("127.0.0.1", answer);
  return { url: url.slice(0, -1), stop };
}
