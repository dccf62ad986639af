// Tests of the types of language models in heed/models, checked by `tsc -p tests/js`; nothing here runs. A line under
// a ts-expect-error that compiles is an error.

import { Tokenizer } from "@huggingface/tokenizers";
import type { Heed, Tensor } from "heed";
import {
  answerQuestion,
  type ByteTokenizer,
  CausalLanguageModel,
  type FoundAnswer,
  fillMasks,
  loadModel,
  loadTokenizer,
  MaskedLanguageModel,
  type MaskedWord,
  type ModelFiles,
  pixelsOf,
  type Seq2SeqLanguageModel,
  type TaskModel,
  VisionTransformer,
  type WrittenText,
  writeText,
} from "heed/models";
import { same } from "../same.js";

declare const heed: Heed;
declare const ids: Tensor;
declare const files: ModelFiles;
declare const chosen: FileList;
declare const folder: FileSystemDirectoryHandle;
declare const blob: Blob;

/** One text gives one result, and a list gives a list. */
export async function lists(model: MaskedLanguageModel, bytes: ByteTokenizer): Promise<void> {
  const filled = await fillMasks(model, bytes, ["The [MASK]"], { count: 2, batchSize: 4 });
  same<typeof filled, MaskedWord[][][]>(true);
  const answer = await answerQuestion(model, bytes, "Who?", "A cat.");
  same<typeof answer, FoundAnswer>(true);
  const pairs = [{ id: 3, question: "Who?", context: "A cat." }];
  const answers = await answerQuestion(model, bytes, pairs, { batchSize: 4 });
  same<typeof answers, FoundAnswer[]>(true);
  // @ts-expect-error a question needs its text
  await answerQuestion(model, bytes, "Who?");
  const written = await writeText(model, bytes, ["The", "A"], {
    maxLength: 9,
    onText: (piece, i) => same<[typeof piece, typeof i], [string, number]>(true),
  });
  same<typeof written, WrittenText[]>(true);
  // @ts-expect-error a list of texts draws with one seed
  await writeText(model, bytes, ["The", "A"], { maxLength: 9, seed: [1, 2] });
}

/** The type of the result depends on the source of the files and on the options. */
export async function load(): Promise<void> {
  const task = loadModel(heed, files);
  same<typeof task, TaskModel>(true);
  const sources = [
    chosen,
    [...chosen],
    folder,
    "https://example.org/model",
    new URL("https://a.b"),
  ];
  for (const source of sources) await loadModel(heed, source, { dtype: "int8" });
  const model = await loadModel(heed, { "config.json": blob, "model.safetensors": blob });
  type HubModels = CausalLanguageModel | MaskedLanguageModel | Seq2SeqLanguageModel;
  same<typeof model, TaskModel | HubModels | VisionTransformer>(true);
  const own = await loadModel(heed, "model", { tokenizer: true, dtype: "int8" });
  same<typeof own.tokenizer, ByteTokenizer>(true);
  same<typeof own.model, typeof model>(true);
  const other = await loadModel(heed, chosen, { tokenizer: Tokenizer });
  same<typeof other.tokenizer, Tokenizer>(true);
  await writeText(own.model, own.tokenizer, "The", { maxLength: 9 });
  await writeText(other.model, other.tokenizer, "The", { maxLength: 9 });
  const filled = fillMasks(own.model, own.tokenizer, "The [MASK]");
  same<typeof filled, MaskedWord[][]>(true);
  const inMemory = await loadModel(heed, files, {});
  same<typeof inMemory, typeof model>(true);
  const bytes = await loadTokenizer(blob, { keep: true });
  same<typeof bytes, ByteTokenizer>(true);
  // @ts-expect-error there is no such type
  await loadModel(heed, "model", { dtype: "int2" });
  // @ts-expect-error `loadModel` returns a promise, also for contents in memory
  loadModel(heed, files, { dtype: "int8" }).config;
  // @ts-expect-error a number is no source
  await loadModel(heed, 3);

  if (model instanceof CausalLanguageModel) {
    const { logits, hiddenStates } = model.forward(ids);
    same<typeof logits, Tensor>(true);
    same<typeof hiddenStates, undefined>(true);
    const { hiddenStates: states } = model.forward(ids, { needHiddenStates: true });
    same<typeof states, Tensor[]>(true);
    // @ts-expect-error a decoder sees no padding
    model.forward(ids, { keyMask: ids });
    const tokenizer = await loadTokenizer(chosen, Tokenizer);
    same<typeof tokenizer, Tokenizer>(true);
    const { reason } = await writeText(model, tokenizer, "The", { maxLength: 9, stop: ["."] });
    same<typeof reason, "stop" | "end" | "length">(true);
    await writeText(model, bytes, "The", { maxLength: 9 });
    await model.generate([bytes.encode("The"), tokenizer.encode("The"), [1, 2]], { maxLength: 9 });
    // @ts-expect-error the maximum length is required
    await writeText(model, tokenizer, "The", {});
  }
  if (model instanceof MaskedLanguageModel) {
    const { output, pooled, logits } = model.forward(ids, { keyMask: ids });
    same<typeof output, Tensor>(true);
    same<typeof pooled, Tensor | undefined>(true);
    same<typeof logits, undefined>(true);
    const { logits: given } = model.forward(ids, { needLogits: true });
    same<typeof given, Tensor>(true);
  }
  if (model instanceof VisionTransformer) {
    const pixels = pixelsOf(model, new ImageData(224, 224), { image_mean: [0.5, 0.5, 0.5] });
    const { output, pooled, logits, hiddenStates } = model.forward(pixels);
    same<typeof output, Tensor>(true);
    same<typeof pooled, Tensor | undefined>(true);
    same<typeof logits, Tensor | undefined>(true);
    same<typeof hiddenStates, undefined>(true);
    const { hiddenStates: states } = model.forward(pixels, { needHiddenStates: true });
    same<typeof states, Tensor[]>(true);
    // @ts-expect-error an image has no padding
    model.forward(pixels, { keyMask: ids });
  }
}
