/** Drives the models of tasks in the room "Models", and computes the same numbers with the engine, without a page. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Heed, load } from "heed";
import {
  type EncoderModel,
  type Head,
  type LabelledWeights,
  loadModel,
  type TaskModel,
  taskOf,
  withoutHeads,
} from "heed/models";
import { Room } from "./room";

const folder = fileURLToPath(new URL("../../web/public/models", import.meta.url));

/** The attention of each head on the answer positions of held-out examples, from the model's report. */
export function reportOf(name: string): { mass: number }[] {
  return JSON.parse(readFileSync(`${folder}/${name}/report.json`, "utf8")).alignment;
}

interface ShownCandidate {
  readonly token: string;
  readonly model: number;
  /** Null if no heads are ablated. */
  readonly instead: number | null;
  readonly change: number | null;
}

export class Heads extends Room {
  /** The candidates for the first of a few answers, exactly. */
  candidates(): Promise<ShownCandidate[]> {
    return this.page.$eval(".candidates[data-asked]", (table) =>
      [...table.querySelectorAll<HTMLElement>("tbody tr")].map((row) => {
        const number = (selector: string, name: string) => {
          const text = row.querySelector(selector)?.getAttribute(name);
          return text ? Number(text) : null;
        };
        return {
          token: row.dataset.token ?? "",
          model: number("[data-column=model] [data-share]", "data-share") ?? Number.NaN,
          instead: number("[data-column=instead] [data-share]", "data-share"),
          change: number("[data-change]", "data-change"),
        };
      }),
    );
  }

  /** The selector of a head's small picture. */
  head(key: string): string {
    return `.thumbnail[data-head="${key}"]`;
  }

  /** The number below each head, in the order of the page. */
  numbers(): Promise<{ head: string; text: string }[]> {
    return this.page.$$eval(".thumbnail", (all) =>
      all.map((element) => ({
        head: (element as HTMLElement).dataset.head ?? "",
        text: element.querySelector("[data-measure]")?.textContent ?? "",
      })),
    );
  }

  /** The words and numbers of the cells of the answers. */
  answers(): Promise<string[][]> {
    return this.page.$$eval(".answers tbody tr", (rows) =>
      rows.map((row) =>
        [...row.querySelectorAll("th, td")].map((cell) =>
          (cell as HTMLElement).innerText.replace(/\s+/g, " ").trim(),
        ),
      ),
    );
  }
}

/** Computes the weights of one row of a head, and the model's answers, without the page. */
export class Reference {
  readonly heed: Heed;
  readonly model: TaskModel;

  constructor(heed: Heed, name: string) {
    const read = (file: string) => readFileSync(`${folder}/${name}/${file}`);
    this.heed = heed;
    this.model = loadModel(heed, {
      config: read("config.json").toString(),
      weights: new Uint8Array(read("model.safetensors")),
    });
  }

  static async of(name: string): Promise<Reference> {
    return new Reference(await load({ threads: 1 }), name);
  }

  read(text: string) {
    const task = taskOf(this.model.config.task, this.model.config.taskOptions);
    const example = task.read?.(text);
    if (!example) throw new Error(`${task.name} reads no texts`);
    return example;
  }

  attentions(text: string): LabelledWeights[] {
    return this.model.attentions([this.read(text)], { compared: true })[0] ?? [];
  }

  /** [layer][head][row][column] of an encoder. */
  weights(text: string): number[][][][] {
    return this.attentions(text).map(({ heads, rows, columns, weights }) =>
      Array.from({ length: heads }, (_, h) =>
        Array.from({ length: rows }, (_, i) => {
          const start = (h * rows + i) * columns;
          return [...weights.subarray(start, start + columns)];
        }),
      ),
    );
  }

  /** The probability of each class at a position of an encoder's input, with some heads ablated. */
  async shares(
    text: string,
    place: number,
    ablated: readonly Head[] = [],
  ): Promise<Map<string, number>> {
    const { heed } = this;
    const model = this.model as EncoderModel;
    const example = this.read(text) as { source: readonly string[] };
    return withoutHeads(model, ablated, () => {
      const ids = Int32Array.from(model.sourceVocabulary.encode(example.source));
      // The same steps as in the model's own forward.
      const x = model.positions.forward(model.embedding.forward(heed.tensor(ids, [1, ids.length])));
      const shares = heed.softmax(model.readOut.forward(model.encoder.forward(x)));
      const labels = model.config.vocabulary.target;
      return new Map(
        labels.map((label, i) => [label, shares.data[place * labels.length + i] as number]),
      );
    });
  }

  /** The probability of one class at a position of an encoder's input, with some heads ablated. */
  async probability(
    text: string,
    place: number,
    label: string,
    ablated: readonly Head[] = [],
  ): Promise<number> {
    return (await this.shares(text, place, ablated)).get(label) ?? Number.NaN;
  }
}
