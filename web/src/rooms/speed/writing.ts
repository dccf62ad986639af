/** Measures how fast our language model writes, with its cache of keys and values and without. */
import type { Heed } from "heed";
import { type CausalLanguageModel, loadModel } from "heed/models";
import { continuation } from "../../worker/continuation";
import { idsTensor } from "../../worker/languageHeads";
import { hubFilesIn } from "../../worker/modelFiles";

const beginning = "Once upon a time";
const most = 64;
/** Without the cache, a slow machine writes fewer: as many as it can in this time, in milliseconds. */
const patience = 1000;
const fewest = 4;
const likeliest = { temperature: 0, topK: 0, topP: 1, seed: 0 };

/** @param base the base address of the page's files */
export async function measureWriting(heed: Heed, base: string, pause: () => Promise<void>) {
  const files = await hubFilesIn(`${base}models/write`);
  const { model, tokenizer } = await loadModel(heed, files, { tokenizer: true });
  const language = model as CausalLanguageModel;
  const given = [tokenizer.endId, ...tokenizer.encode(beginning).ids];
  const write = (length: number) =>
    continuation(language, given, { ...likeliest, length, kept: [] }, pause);
  try {
    // The first text also warms up the engine.
    const text = await write(most);
    let [start, tokens] = [performance.now(), 0];
    for (; tokens < most; ++tokens) {
      if (tokens >= fewest && performance.now() - start > patience) break;
      const ids = [...given, ...text.slice(0, tokens)];
      heed.scope(() => {
        const { logits } = language.forward(idsTensor(heed, ids), { onlyLast: true });
        heed.sample(logits, likeliest);
      });
      await pause();
    }
    const uncached = (1000 * tokens) / (performance.now() - start);
    start = performance.now();
    await write(tokens);
    const cached = (1000 * tokens) / (performance.now() - start);
    const words = tokenizer.decode(text).trim().split(/\s+/).length / most;
    /** Tokens a second, with the cache and without it, and words for each token of the text. */
    return { tokens, cached, uncached, words };
  } finally {
    model.dispose();
  }
}
