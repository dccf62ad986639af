/** Drives the room "RNN, Bahdanau, self-attention", and computes the same numbers with the engine, without a page. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { load } from "heed";
import {
  loadModel,
  type RecurrentModel,
  type TransformerModel,
  type Translation,
  tasks,
} from "heed/models";
import { Room } from "./room";

export const example = "the 3rd of March, 2021";
export const shown = ["rnn", "bahdanau", "transformer"] as const;
export type Name = (typeof shown)[number] | "dot";

export const fileOf = (name: Name, file: string) =>
  readFileSync(
    fileURLToPath(new URL(`../../web/public/models/dates-${name}/${file}`, import.meta.url)),
  );

export const heed = await load();
export const models = Object.fromEntries(
  [...shown, "dot" as const].map((name) => [
    name,
    loadModel(heed, {
      config: fileOf(name, "config.json").toString(),
      weights: new Uint8Array(fileOf(name, "model.safetensors")),
    }) as RecurrentModel | TransformerModel,
  ]),
) as Record<Name, RecurrentModel | TransformerModel>;
const task = tasks.dates();
export const exampleOf = (text: string) => (task.solve?.(text) ?? task.read?.(text)) as Translation;

/** The most likely token and its probability at each step, with these input tokens. */
export function likeliestAfter(name: Name, text: string, given: readonly string[]) {
  const [found] = models[name].probabilities([{ ...exampleOf(text), target: given }]);
  const { tokens = [], rows = 0, probabilities = new Float32Array() } = found ?? {};
  return Array.from({ length: rows }, (_, row) => {
    const all = probabilities.subarray(row * tokens.length, (row + 1) * tokens.length);
    const probability = Math.max(...all);
    const token = tokens[all.indexOf(probability)] as string;
    return { token: token === "<end>" ? "end" : token, probability };
  });
}

/** The answer that a model generates after a given beginning. */
export function greedyAfter(name: Name, text: string, begun: readonly string[]): string[] {
  for (let written = [...begun]; ; ) {
    const next = likeliestAfter(name, text, written).at(-1)?.token as string;
    if (next === "end" || written.length >= 12) return written;
    written = [...written, next];
  }
}

/**
 * The attention of one head of the last layer on the right places, row by row. The Transformer's head is the second
 * one, which the room selects initially.
 */
export function massesOf(name: Name, text: string, written: readonly string[]): (number | null)[] {
  const example = exampleOf(text);
  const attentions = models[name].weights([{ ...example, target: written }])[0];
  const { heads, rows, columns, weights } = attentions?.at(-1) ?? {
    ...{ heads: 0, rows: 0, columns: 0, weights: new Float32Array() },
  };
  return example.alignment.map((places, row) => {
    if (places.length === 0) return null;
    const at = (head: number, place: number) =>
      weights[(head * rows + row) * columns + place] as number;
    return places.reduce((sum, place) => sum + at(Math.min(1, heads - 1), place), 0);
  });
}

export class Recurrent extends Room {
  /** The tokens of an answer with their probabilities and signs. */
  answer(name: Name): Promise<{ token: string; sign: string; probability: number }[]> {
    return this.page.$$eval(`.answers [data-model=${name}] .said-token`, (tokens) =>
      tokens.map((token) => ({
        token: token.querySelector("b")?.textContent ?? "",
        sign: token.querySelector(".mark")?.textContent ?? "",
        probability: Number(token.querySelector(".number")?.textContent),
      })),
    );
  }

  async written(name: Name): Promise<string> {
    return (await this.answer(name)).map(({ token }) => token).join("");
  }

  /** The visible input and output tokens of a lane, or their signs. */
  lane(name: Name, way: "taught" | "alone", of = "b"): Promise<string[]> {
    return this.page.$$eval(
      `.lanes[data-model=${name}] [data-way=${way}] tr`,
      (rows, of) =>
        rows.map((row) =>
          [...row.querySelectorAll(`.piece ${of}`)].map(({ textContent }) => textContent).join(" "),
        ),
      of,
    );
  }

  /** The three most likely tokens of the selected step. */
  likeliest(name: Name, way: "taught" | "alone"): Promise<string[]> {
    return this.page.$$eval(`.lanes[data-model=${name}] [data-way=${way}] .top-three li`, (items) =>
      items.map((item) => item.textContent ?? ""),
    );
  }

  /** The weight on the right places, row by row. */
  masses(name: Name): Promise<string[]> {
    return this.page.$$eval(`.map:has([data-matrix=${name}]) .mass`, (items) =>
      items.map(({ textContent }) => textContent ?? ""),
    );
  }

  /** The counts of a model, even while the panel is folded. */
  counts(name: Name): Promise<number[]> {
    return this.page.$$eval(`.paths td[data-column=${name}]`, (cells) =>
      cells.map(({ textContent }) => Number(textContent)),
    );
  }
}
