// Language models loaded from files in the layout of Hugging Face's hub: every architecture compared with the
// oracle, and every kind of source and of numbers.

import type { Heed, Tensor } from "heed";
import {
  CausalLanguageModel,
  type LoadProgress,
  loadModel,
  MaskedLanguageModel,
} from "heed/models";
import { nn, safetensors } from "heed/nn";
import { describe, expect, test } from "vitest";
import {
  bert,
  type Checkpoint,
  distilbert,
  fileOf,
  filesOf,
  gpt2,
  jsonOf,
  llama,
  parametersOf,
  phi3,
  roundedToBfloat16,
  shardsOf,
  type Tensors,
} from "../checkpoints.js";
import { describeEngines, engine, isNode } from "../engine.js";
import * as oracle from "../language_oracle.js";
import { errorOf, expectStates, load, seen, using } from "../loaded.js";
import { expectValues } from "../modules.js";
import type { Values } from "../oracle.js";
import { any } from "../refusals/case.js";
import { Random } from "../values.js";

const [B, L] = [2, 6];
const random = new Random(311);
/** Texts of random tokens from 2 on. With `padding`, the last tokens are padding. */
const textsOf = (vocabulary: number, padding?: number): Values & { data: number[] } => ({
  data: Array.from({ length: B * L }, (_, i) =>
    padding !== undefined && i >= B * L - 2 ? padding : random.whole(2, vocabulary - 1),
  ),
  shape: [B, L],
});
const idsOf = (heed: Heed, { data, shape }: Values) => heed.tensor(Int32Array.from(data), shape);

describeEngines((heed) => {
  test.each([
    ["with the prefix of its names", gpt2(), "transformer."],
    [
      "with scores that each layer scales down",
      gpt2({ scale_attn_by_inverse_layer_idx: true }),
      "",
    ],
    ["with scores that are not scaled", gpt2({ scale_attn_weights: false }), ""],
  ])("GPT-2 %s", async (_, { config, tensors }, prefix) => {
    const own = Object.entries(tensors).map(([name, tensor]) => [
      prefix === "" ? name.replace("transformer.", "") : name,
      tensor,
    ]);
    // Published files also have the masks of GPT-2, which are no parameters.
    const mask = { data: new Float32Array(16), shape: [1, 1, 4, 4] };
    const all: Tensors = { ...Object.fromEntries(own), "h.0.attn.bias": mask };
    const files = { "config.json": jsonOf(config), "model.safetensors": fileOf(all) };
    const model = await load(heed(), files, CausalLanguageModel);
    using(heed(), model, () => {
      const texts = textsOf(19);
      const answer = oracle.gpt2(parametersOf({ tensors }), config, texts);
      const weights: Values[] = [];
      const { logits, hiddenStates } = nn.captureAttention(model, seen(weights), () =>
        model.forward(idsOf(heed(), texts), { needHiddenStates: true }),
      );
      expectValues(logits, answer.logits as Values);
      expectStates(answer, hiddenStates, weights);
      // The same text in two parts, the second of which starts at a later position.
      const cache = model.createCache({ batch: B, capacity: L });
      for (const [start, length] of [[0, 4] as const, [4, 2] as const]) {
        const part = [0, L].flatMap((row) => texts.data.slice(row + start, row + start + length));
        const ids = idsOf(heed(), { data: part, shape: [B, length] });
        const wanted = heed().slice(logits, { axis: 1, start, length });
        const shape = [B, length, 19];
        expectValues(model.forward(ids, { cache }).logits, { data: wanted.data, shape } as Values);
      }
    });
  });

  test("BERT with the older names of its norms", async () => {
    const { config, tensors } = bert("bert");
    const older = Object.entries(tensors).map(([name, tensor]) => {
      const gamma = name.replace("LayerNorm.weight", "LayerNorm.gamma");
      return [gamma.replace("LayerNorm.bias", "LayerNorm.beta"), tensor];
    });
    const files = filesOf({ config, tensors: Object.fromEntries(older) });
    const model = await load(heed(), files, MaskedLanguageModel);
    const wanted = await load(heed(), filesOf({ config, tensors }), MaskedLanguageModel);
    expect(safetensors.write(model.stateDict())).toEqual(safetensors.write(wanted.stateDict()));
    wanted.dispose();
    model.dispose();
  });

  test.each([
    ["BERT", bert("bert"), "bert"],
    ["RoBERTa, whose positions count from its padding", bert("roberta"), "roberta"],
    ["DistilBERT", distilbert(), "distilbert"],
  ] as const)("%s, with token types, padding and its head", async (_, checkpoint, kind) => {
    const model = await load(heed(), filesOf(checkpoint), MaskedLanguageModel);
    const p = parametersOf(checkpoint, `${kind}.`);
    const padding = kind === "roberta" ? 1 : 0;
    const ids = textsOf(21, padding);
    const keys = { data: ids.data.map((id) => (id === padding ? 0 : 1)), shape: ids.shape };
    const types = kind === "bert" && {
      types: { data: ids.data.map((_, i) => (i % L > 2 ? 1 : 0)), shape: ids.shape },
    };
    const sizes = { layers: 2, heads: 2, eps: kind === "distilbert" ? 1e-12 : 1e-5 };
    const layout = kind === "distilbert" ? "distilbert" : "bert";
    const given = { ...sizes, ...(kind === "roberta" && { padding }) };
    const answer = oracle.bert(p, layout, given, { ids, keys, ...types });
    const heads = {
      bert: [
        "cls.predictions.transform.dense",
        "cls.predictions.transform.LayerNorm",
        "cls.predictions.bias",
      ],
      roberta: ["lm_head.dense", "lm_head.layer_norm", "lm_head.bias"],
      distilbert: ["vocab_transform", "vocab_layer_norm", "vocab_projector.bias"],
    };
    const [dense = "", norm = "", bias = ""] = heads[kind];
    const head = { dense: p.of(dense), norm: p.of(norm), bias: p.get(bias) };
    const table = p.get("embeddings.word_embeddings.weight");
    const last = answer.hidden.at(-1) as Values;
    const logits = oracle.maskedLogits({ ...head, table }, last, sizes.eps);
    using(heed(), model, () => {
      const weights: Values[] = [];
      const keyMask = heed().tensor(Uint8Array.from(keys.data), keys.shape, "bool");
      const result = nn.captureAttention(model, seen(weights), () =>
        model.forward(idsOf(heed(), ids), {
          ...{ keyMask, needLogits: true, needHiddenStates: true },
          ...(types && { typeIds: idsOf(heed(), types.types) }),
        }),
      );
      expectStates(answer, result.hiddenStates, weights);
      expectValues(result.output, last);
      expectValues(result.logits, logits);
      if (answer.pooled) expectValues(result.pooled as Tensor, answer.pooled);
      else expect(result.pooled).toBe(undefined);
    });
  });

  test("Llama without the prefix of its names, and in three files with an index", async () => {
    const checkpoint = llama();
    const short = Object.entries(checkpoint.tensors).map(([name, tensor]) => [
      name.replace("model.", ""),
      tensor,
    ]);
    const { config } = checkpoint;
    const texts = textsOf(23);
    const answer = oracle.llama(parametersOf(checkpoint), config, texts);
    for (const files of [
      filesOf({ config, tensors: Object.fromEntries(short) }),
      shardsOf(checkpoint, 3),
    ]) {
      const model = await load(heed(), files, CausalLanguageModel);
      using(heed(), model, () => {
        expectValues(model.forward(idsOf(heed(), texts)).logits, answer.logits as Values);
      });
    }
  });

  test.each(["float32", "float16", "int8", "int4"] as const)(
    "Phi-3, whose tensors have several parameters, in %s",
    async (dtype) => {
      const { own, apart } = phi3();
      const texts = textsOf(23);
      const read = async (checkpoint: Checkpoint) => {
        const model = await load(heed(), filesOf(checkpoint), CausalLanguageModel, { dtype });
        try {
          return heed().scope(() => model.forward(idsOf(heed(), texts)).logits.data.slice());
        } finally {
          model.dispose();
        }
      };
      expect(await read(own)).toEqual(await read(apart));
      expect(heed().memory().tensors.count).toBe(0);
    },
  );

  test("bfloat16 is read exactly", async () => {
    const { config, tensors } = llama();
    const file = fileOf(tensors, "bfloat16");
    const model = await load(
      heed(),
      { "config.json": jsonOf(config), "model.safetensors": file },
      CausalLanguageModel,
    );
    const texts = textsOf(23);
    const p = parametersOf({ tensors: roundedToBfloat16(tensors) });
    using(heed(), model, () => {
      const answer = oracle.llama(p, config, texts);
      expectValues(model.forward(idsOf(heed(), texts)).logits, answer.logits as Values);
    });
  });
});

describe("weights in fewer bits", () => {
  const heed = engine({ threads: 1 });
  /** Of a row of the table, 16 numbers; packed with a scale, and with int8 also a sum. */
  const bytesOfRow = { float32: 64, float16: 32, int8: 16 + 8, int4: 16 + 2 };

  test.each([
    ["float16", 0.002],
    ["int8", 0.06],
    ["int4", 0.4],
  ] as const)("%s: logits are close, in less memory", async (dtype, most) => {
    const checkpoints: [string, Checkpoint][] = [
      ["GPT-2", gpt2()],
      ["Llama", llama()],
      ["Llama with tied embeddings", llama({ tie_word_embeddings: true })],
    ];
    for (const [name, checkpoint] of checkpoints) {
      const texts = textsOf(19);
      const exact = await load(heed(), filesOf(checkpoint), CausalLanguageModel);
      const rounded = await load(heed(), filesOf(checkpoint), CausalLanguageModel, { dtype });
      const run = (model: CausalLanguageModel) =>
        heed().scope(() => model.forward(idsOf(heed(), texts)).logits.data.slice());
      const error = errorOf(run(rounded), run(exact));
      expect(error, name).toBeLessThan(most);
      expect(error, name).toBeGreaterThan(0);
      exact.dispose();
      rounded.dispose();
    }
    for (const kind of ["bert", "roberta"] as const) {
      const model = await load(heed(), filesOf(bert(kind)), MaskedLanguageModel, { dtype });
      const exact = await load(heed(), filesOf(bert(kind)), MaskedLanguageModel);
      const texts = textsOf(21);
      const run = (model: MaskedLanguageModel) =>
        heed().scope(() =>
          model.forward(idsOf(heed(), texts), { needLogits: true }).logits.data.slice(),
        );
      const error = errorOf(run(model), run(exact));
      expect(error).toBeLessThan(most);
      expect(error).toBeGreaterThan(0);
      model.dispose();
      exact.dispose();
    }
    expect(heed().memory().tensors.count + heed().memory().packedWeights.count).toBe(0);
  });

  test("float16: logits have the bits of float32 weights with the same numbers", async () => {
    const halved = ({ data, shape }: { data: Float32Array; shape: readonly number[] }) =>
      heed().scope(() => {
        const halves = heed().cast(heed().tensor(data, shape), "float16");
        return { data: heed().cast(halves, "float32").data.slice() as Float32Array, shape };
      });
    for (const checkpoint of [gpt2(), llama(), llama({ tie_word_embeddings: true })]) {
      const entries = Object.entries(checkpoint.tensors);
      const tensors = Object.fromEntries(entries.map(([name, each]) => [name, halved(each)]));
      const files = filesOf({ ...checkpoint, tensors });
      const logits = async (dtype: "float32" | "float16", length: number) => {
        const model = await load(heed(), files, CausalLanguageModel, { dtype });
        const read = heed().scope(() => {
          const ids = heed().tensor(Int32Array.from({ length }, (_, i) => 2 + ((5 * i) % 15)));
          const { logits } = model.forward(heed().reshape(ids, [1, length]));
          return logits.data.slice();
        });
        model.dispose();
        return read;
      };
      for (const length of [1, 13])
        expect(await logits("float16", length)).toEqual(await logits("float32", length));
    }
  });

  test("a table larger than what is read at a time is whole, in every type", async () => {
    // Of five reads, four are one block of packed weights.
    const rows = 2 ** 17 + 3000;
    const checkpoint = llama({ tie_word_embeddings: true }, rows);
    const files = filesOf(checkpoint);
    const far = [0, rows - 1, 2 ** 15 - 1, 2 ** 15, 2 ** 17 - 1, 2 ** 17];
    const table = checkpoint.tensors["model.embed_tokens.weight"]?.data as Float32Array;
    let wanted: Float32Array = new Float32Array();
    for (const dtype of ["float32", "float16", "int8", "int4"] as const) {
      const seen: LoadProgress[] = [];
      const onProgress = (progress: LoadProgress) => seen.push(progress);
      const model = await load(heed(), files, CausalLanguageModel, { dtype, onProgress });
      const { tensors, packedWeights } = heed().memory();
      const others = tensors.bytes + packedWeights.bytes - rows * bytesOfRow[dtype];
      expect(others).toBeGreaterThan(0);
      expect(others).toBeLessThan(25_000);
      expect(seen.filter(({ tensor }) => tensor === "model.embed_tokens.weight").length).toBe(5);
      expect(seen.at(-1)?.loaded).toBe(seen.at(-1)?.total);
      heed().scope(() => {
        const ids = heed().tensor([far], undefined, "int32");
        const { logits, hiddenStates } = model.forward(ids, { needHiddenStates: true });
        const embedded = far.flatMap((row) => [...table.subarray(16 * row, 16 * row + 16)]);
        const found = (hiddenStates[0] as Tensor).data as Float32Array;
        expect(errorOf(found, embedded)).toBeLessThan(dtype.startsWith("int") ? 0.01 : 0.001);
        const read = logits.data.slice(3 * rows) as Float32Array;
        if (dtype === "float32") wanted = read;
        const most = { float32: 0.01, float16: 0.01, int8: 0.1, int4: 0.6 };
        expect(errorOf(read, wanted)).toBeLessThan(most[dtype]);
      });
      model.dispose();
    }
    // Nothing is left as it was allocated.
    expect(wanted.every((logit) => logit !== 0)).toBe(true);
  });
});

/** The same bytes, in Node as a Buffer, whose `slice` does not copy. */
function moved(bytes: Uint8Array): Uint8Array {
  const whole = new Uint8Array(bytes.length + 1);
  whole.set(bytes, 1);
  return isNode ? Buffer.from(whole.buffer, 1) : whole.subarray(1);
}

describe("files come", () => {
  const heed = engine({ threads: 1 });
  const files = filesOf(llama());
  const blobs = Object.entries(files).map(
    ([name, bytes]) => [name, new Blob([bytes as Uint8Array<ArrayBuffer>])] as const,
  );
  const named = (name: string, blob: Blob, webkitRelativePath: string) =>
    Object.assign(blob.slice(), { name, webkitRelativePath });
  const other = new Blob(["{}"]);
  const sources: Record<string, unknown> = {
    "as bytes": files,
    "as views whose address is no multiple of 4": Object.fromEntries(
      Object.entries(files).map(([name, bytes]) => [name, moved(bytes)]),
    ),
    "as Blobs": Object.fromEntries(blobs),
    "as a list of files, of which those in subfolders do not count": [
      named("config.json", other, "model/onnx/config.json"),
      ...blobs.map(([name, blob]) => named(name, blob, `model/${name}`)),
      named("config.json", other, "model/other/config.json"),
    ],
    "as handles": Object.fromEntries(
      blobs.map(([name, blob]) => [name, { getFile: async () => blob }]),
    ),
    "as a folder": {
      async *keys() {
        yield* Object.keys(files);
      },
      getFileHandle: async (name: string) => ({
        getFile: async () => Object.fromEntries(blobs)[name],
      }),
    },
    "as ArrayBuffers": Object.fromEntries(
      Object.entries(files).map(([name, bytes]) => [name, bytes.slice().buffer]),
    ),
    "as a list of handles": blobs.map(([name, blob]) => ({ name, getFile: async () => blob })),
    "with another name of the weights": {
      "config.json": files["config.json"],
      "my llama (1).safetensors": files["model.safetensors"],
    },
    "as the text of the config and the bytes of the weights": {
      config: new TextDecoder().decode(files["config.json"]),
      weights: files["model.safetensors"],
    },
    // Node's `fetch` reads no ranges of such an address.
    ...(!isNode && {
      "at addresses of their own": Object.fromEntries(
        blobs.map(([name, blob]) => [name, URL.createObjectURL(blob)]),
      ),
    }),
    "from a reader of ranges": Object.fromEntries(
      Object.entries(files).map(([name, bytes]) => [
        name,
        { size: bytes.length, read: async (a: number, b: number) => bytes.slice(a, b) },
      ]),
    ),
  };

  test.each(Object.entries(sources))("%s", async (_, source) => {
    const model = await load(heed(), any(source), CausalLanguageModel);
    const wanted = await load(heed(), files, CausalLanguageModel);
    expect(safetensors.write(model.stateDict())).toEqual(safetensors.write(wanted.stateDict()));
    expect(model.training).toBe(false);
    model.dispose();
    wanted.dispose();
  });

  test("with matrices of GPT-2, which are turned, in several reads", async () => {
    const checkpoint = gpt2({ n_inner: 50_000 });
    const model = await load(heed(), filesOf(checkpoint), CausalLanguageModel);
    for (const [own, theirs] of [["up_proj", "c_fc"] as const, ["down_proj", "c_proj"] as const]) {
      const given = checkpoint.tensors[`transformer.h.1.mlp.${theirs}.weight`] as Tensors[string];
      const [rows, columns] = given.shape as [number, number];
      const { shape, data } = model.stateDict()[`model.layers.1.mlp.${own}.weight`] as Tensor;
      expect(shape).toEqual([columns, rows]);
      const other = data.findIndex(
        (x, i) => x !== given.data[(i % rows) * columns + Math.floor(i / rows)],
      );
      expect(other).toBe(-1);
    }
    model.dispose();
    expect(heed().memory().tensors.count).toBe(0);
  });

  test("with progress, and can be stopped", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const seen: LoadProgress[] = [];
    const loading = loadModel(heed(), files, {
      signal: controller.signal,
      onProgress: (progress) => {
        seen.push(progress);
        if (seen.length === 5) controller.abort(reason);
      },
    });
    await expect(loading).rejects.toBe(reason);
    expect(seen.length).toBe(5);
    expect(heed().memory().tensors.count).toBe(0);
    const stopped = loadModel(heed(), files, { signal: AbortSignal.abort(reason) });
    await expect(stopped).rejects.toBe(reason);
  });

  test("with pauses, in which a page handles its events", async () => {
    const large = filesOf(llama({}, 2 ** 18));
    const reason = new Error("a click");
    const controller = new AbortController();
    const loading = loadModel(heed(), large, { dtype: "int8", signal: controller.signal });
    setTimeout(() => controller.abort(reason), 20);
    await expect(loading).rejects.toBe(reason);
    expect(heed().memory().tensors.count + heed().memory().packedWeights.count).toBe(0);
  });
});
