/** Uses a language model in the room "Models", and computes our model's numbers with the engine, without a page. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Heed, load } from "heed";
import { ByteTokenizer, CausalLanguageModel, withoutHeads } from "heed/models";
import { nn, safetensors } from "heed/nn";
import { Room } from "./room";

export interface ShownCandidate {
  readonly id: number;
  readonly model: number;
  /** 0 if the token cannot be drawn. */
  readonly drawn: number;
  readonly instead: number | null;
}

export class Write extends Room {
  /** The text of each token. */
  pieces(): Promise<string[]> {
    return this.page.$$eval(".written-text .piece", (all) =>
      all.map(({ textContent }) => textContent ?? ""),
    );
  }

  /** The weights by which the tokens are shaded. */
  shades(): Promise<number[]> {
    return this.page.$$eval(".piece[data-weight]", (all) =>
      all.map((piece) => Number((piece as HTMLElement).dataset.weight)),
    );
  }

  /** The most likely tokens after the current one, or at a place from 0, exactly. */
  async candidates(place?: number): Promise<ShownCandidate[]> {
    const table = place === undefined ? ".candidates" : `[data-place="${place}"] .candidates`;
    await this.page.waitForSelector(`${table} tbody tr[data-token]`);
    return this.page.$$eval(`${table} tbody tr[data-token]`, (rows) =>
      rows.map((row) => {
        const share = (column: string) => {
          const cell = row.querySelector(`[data-column=${column}] [data-share]`);
          return cell ? Number((cell as HTMLElement).dataset.share) : null;
        };
        return {
          id: Number((row as HTMLElement).dataset.token),
          model: share("model") ?? 0,
          drawn: share("drawn") ?? 0,
          instead: share("instead"),
        };
      }),
    );
  }

  /** The probability of all others in a column. */
  others(column: string): Promise<number> {
    return this.page.$eval(`.others [data-column=${column}]`, (cell) =>
      Number(cell.querySelector<HTMLElement>("[data-share]")?.dataset.share ?? 0),
    );
  }

  /** The number of the token that was read last, from 1, and how many there are. */
  async place(): Promise<{ token: number; count: number }> {
    const [, token, count] = /Token (\d+) of (\d+)/.exec(await this.text(".transport-place")) ?? [];
    return { token: Number(token), count: Number(count) };
  }

  /** The name of the head that was found for a measure, and its value. */
  async found(kind: string): Promise<{ head: string; value: number }> {
    await this.page.waitForSelector(".found");
    return this.page.$eval(`.found [data-kind=${kind}]`, (row) => {
      const [, layer, head] =
        /layer (\d+), head (\d+)/.exec(row.querySelector("td button")?.textContent ?? "") ?? [];
      const value = row.querySelector<HTMLElement>("[data-measure]")?.dataset.measure;
      return { head: `${layer}.${head}`, value: Number(value) };
    });
  }
}

const folder = fileURLToPath(new URL("../../web/public/models/write/", import.meta.url));

/** The model, found without the page. */
export class LanguageReference {
  readonly heed: Heed;
  readonly model: CausalLanguageModel;
  readonly tokenizer: ByteTokenizer;

  constructor(heed: Heed) {
    this.heed = heed;
    this.model = new CausalLanguageModel(
      heed,
      JSON.parse(readFileSync(`${folder}config.json`, "utf8")),
    );
    const weights = new Uint8Array(readFileSync(`${folder}model.safetensors`));
    this.model.loadStateDict(safetensors.read(weights).tensors);
    this.tokenizer = ByteTokenizer.fromFile(readFileSync(`${folder}tokenizer.json`, "utf8"));
  }

  static async open(): Promise<LanguageReference> {
    return new LanguageReference(await load({ threads: 1 }));
  }

  ids(text: string): number[] {
    return [this.tokenizer.endId, ...this.tokenizer.encode(text).ids];
  }

  /** The probability of every token after a text. */
  next(ids: readonly number[]): Float32Array {
    const { heed, model } = this;
    return heed.scope(() => {
      const { logits } = model.forward(this.#tensor(ids), { onlyLast: true });
      return heed.softmax(logits).data.slice() as Float32Array;
    });
  }

  nextWithout(ids: readonly number[], layer: number, head: number): Promise<Float32Array> {
    const path = `model.layers.${layer - 1}.self_attn`;
    return withoutHeads(this.model, [{ path, head: head - 1 }], () => this.next(ids));
  }

  /** The weights of a row of a head, layer and head counted from 1. */
  row(ids: readonly number[], layer: number, head: number, row: number): number[] {
    const { heed, model } = this;
    let found: number[] = [];
    heed.scope(() =>
      nn.captureAttention(
        model,
        (path, { data }) => {
          if (path !== `model.layers.${layer - 1}.self_attn`) return;
          const start = ((head - 1) * ids.length + row) * ids.length;
          found = [...data.subarray(start, start + row + 1)];
        },
        () => model.forward(this.#tensor(ids), { onlyLast: true }),
      ),
    );
    return found;
  }

  /** The keys and the values [L, D] of a head, layer and head counted from 1. */
  vectors(ids: readonly number[], layer: number, head: number): Record<"key" | "value", number[]> {
    const { heed, model } = this;
    const found = { key: [] as number[], value: [] as number[] };
    const receive: nn.ReceiveWeights = (path, _, compared) => {
      if (path !== `model.layers.${layer - 1}.self_attn`) return;
      const { key, value } = (compared as () => nn.Compared)();
      for (const [name, all] of Object.entries({ key, value })) {
        const [, groups = 1, , size = 1] = all.shape;
        const group = Math.floor(((head - 1) * groups) / model.config.heads);
        const length = ids.length * size;
        found[name as keyof typeof found] = [
          ...all.data.subarray(group * length, (group + 1) * length),
        ];
      }
    };
    heed.scope(() =>
      nn.captureAttention(model, receive, () =>
        model.forward(this.#tensor(ids), { onlyLast: true }),
      ),
    );
    return found;
  }

  /** The bytes of one token in a full cache, which allocates memory for 128 tokens at a time. */
  bytesPerToken(): number {
    const capacity = 128;
    const cache = this.model.createCache({ capacity });
    this.heed.scope(() => {
      const ids = this.#tensor(new Array<number>(capacity).fill(1));
      this.model.forward(ids, { cache, onlyLast: true });
    });
    const { bytes } = cache;
    cache.dispose();
    return bytes / capacity;
  }

  #tensor(ids: readonly number[]) {
    return this.heed.tensor(Int32Array.from(ids), [1, ids.length]);
  }
}
