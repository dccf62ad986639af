// The types of heed/worker, which the compiler checks: `npm run check`.

import type { AttentionResult, Tensor } from "heed";
import type { FoundAnswer, MaskedWord, WrittenText } from "heed/models";
import { loadInWorker, type RemoteHeed, type RemoteTensor } from "heed/worker";
import { serve, type TaskContext } from "heed/worker/serve";

/** Compiles if both types are the same. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never;
const same = <A, B>(_: Same<A, B>) => {};

const tasks = {
  embed: ({ ids }: { ids: Int32Array; table: Tensor }, { heed }: TaskContext) =>
    heed.embedding(heed.tensor(ids), heed.ones([2, 2])),
  async train({ steps }: { steps: number }, { progress }: TaskContext<{ step: number }>) {
    for (let step = 0; step < steps; ++step) progress({ step });
    return { losses: new Float32Array(steps), steps };
  },
  double: ({ named }: { named: Map<string, Tensor> }, { heed }: TaskContext) =>
    new Map([...named].map(([name, x]) => [name, heed.add(x, x)])),
};

export async function use(): Promise<void> {
  const heed = await loadInWorker<typeof tasks>({ threads: 2 });
  const x = await heed.tensor([[1, 2]]);
  same<typeof x, RemoteTensor>(true);
  const { signal } = new AbortController();

  const plain = await heed.attention(x, x, x);
  same<(typeof plain)["output"], RemoteTensor>(true);
  same<(typeof plain)["weights"], undefined>(true);
  const weighed = await heed.attention(x, x, x, { needWeights: true, bias: x, signal });
  same<(typeof weighed)["weights"], RemoteTensor>(true);
  const staged = await heed.attention(x, x, x, { capture: ["scores", "masked"] });
  same<keyof (typeof staged)["capture"], "scores" | "masked">(true);
  const joined = await heed.attention(x, x, x, { past: { key: x, value: x } });
  same<(typeof joined)["presentKey"], RemoteTensor>(true);
  const cache = await heed.createKvCache({ heads: 1, headSize: 2, capacity: 3 });
  const cached = await heed.attention(x, x, x, { past: cache });
  same<(typeof cached)["presentKey"], undefined>(true);
  same<Awaited<typeof cache.lengths>, number[]>(true);

  same<Awaited<ReturnType<typeof heed.softmax>>, RemoteTensor>(true);
  await heed.softmax(x, { signal });
  await heed.linear(x, x, { bias: x, signal });
  await heed.linear(x, x, x);
  const parts = await heed.split(x, 2);
  same<typeof parts, RemoteTensor[]>(true);
  same<(typeof heed.info)["threads"], number>(true);

  const layer = await heed.nn.TransformerEncoderLayer(heed, 8, 2, { dropout: 0 });
  const y = await layer.forward(x, {
    onWeights: (path, weights) => void [path.length, weights.shape],
  });
  same<typeof y, RemoteTensor>(true);
  const adam = await heed.optim.Adam(layer, { learningRate: 1 });
  await adam.step([y]);

  const doubled = await heed.tasks.double({ named: new Map([["x", x]]) });
  same<typeof doubled, Map<string, RemoteTensor>>(true);

  const model = await heed.models.loadModel(heed, "https://huggingface.co/a/b", {
    onProgress: ({ loaded }) => void loaded.toFixed(),
    signal,
  });
  model.dispose();
  const written = await heed.models.loadModel(heed, new URL("https://a.b/c"), {
    tokenizer: true,
    signal,
  });
  const { ids } = await written.tokenizer.encode("The");
  same<typeof ids, number[]>(true);
  const tokenizer = await heed.models.loadTokenizer(new Blob(["{}"]), { signal });
  await tokenizer.decode([1]);

  const one = await heed.models.writeText(written.model, tokenizer, "The", {
    maxLength: 3,
    signal,
  });
  same<typeof one, WrittenText>(true);
  const all = await heed.models.writeText(written.model, tokenizer, ["The"], { maxLength: 3 });
  same<typeof all, WrittenText[]>(true);
  const filled = await heed.models.fillMasks(written.model, tokenizer, ["a"], { count: 1, signal });
  same<typeof filled, MaskedWord[][][]>(true);
  const pairs = [{ question: "Who?", context: "A cat." }];
  const answers = await heed.models.answerQuestion(written.model, tokenizer, pairs);
  same<typeof answers, FoundAnswer[]>(true);

  const rows = await heed.tasks.embed({ ids: Int32Array.of(1), table: x });
  same<typeof rows, RemoteTensor>(true);
  const { losses } = await heed.tasks.train(
    { steps: 3 },
    { onProgress: ({ step }) => void step.toFixed(), signal },
  );
  losses.subarray(1);

  // @ts-expect-error a tensor of another thread
  await heed.softmax(null as unknown as Tensor);
  // @ts-expect-error an unknown option
  await heed.attention(x, x, x, { causal: true });
  // @ts-expect-error a signal is no number
  await heed.softmax(x, { signal: 3 });
  // @ts-expect-error a message cannot carry a function that returns something
  heed.blockMask;
  // @ts-expect-error elements are read with await
  x.data[0];
  // @ts-expect-error no task of this name
  heed.tasks.predict;
  // @ts-expect-error the request of this task
  await heed.tasks.train({ step: 3 });
  // @ts-expect-error glue is a function, which cannot be sent
  await loadInWorker({ glue: () => Promise.resolve() });
}

export const result = (heed: RemoteHeed, x: RemoteTensor): Promise<RemoteTensor> => heed.add(x, 1);
export type Whole = AttentionResult;
serve(tasks);
