/** The pure parts of the view of language models: sources, links and results. */
import { type Heed, HeedError, load } from "heed";
import {
  CausalLanguageModel,
  classify,
  classifyTokens,
  embed,
  loadModel,
  type MaskedLanguageModel,
  type Seq2SeqLanguageModel,
  similarity,
  withoutHeads,
} from "heed/models";
import { nn } from "heed/nn";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { at, viewOn } from "#parts";
import { aligned, differenceAt } from "../../web/src/rooms/models/language/comparing";
import { explainWeight } from "../../web/src/rooms/models/language/explain";
import { languageName } from "../../web/src/rooms/models/language/Languages";
import type { Card, ReadRequest } from "../../web/src/rooms/models/language/messages";
import { whyNotLoaded } from "../../web/src/rooms/models/language/refusals";
import solve from "../../web/src/rooms/models/language/solve";
import {
  addressOf,
  type FilesSource,
  filesDropped,
  folderIn,
  missingIn,
  nameOf,
} from "../../web/src/rooms/models/language/source";
import { referenceText, type WeightType } from "../../web/src/rooms/models/language/state";
import { shownHead } from "../../web/src/rooms/models/language/useReading";
import { hiddenIn, weightedByLength } from "../../web/src/rooms/models/language/weighting";
import { formulaOf } from "../../web/src/shared/attended";
import { bytesOfToken, ReadableTokenizer } from "../../web/src/shared/readableTokenizer";
import { readIn, sharesOfHead } from "../../web/src/worker/languageHeads";
import { bert, filesOf, gpt2, llama, vit } from "../js/checkpoints";
import { ggufOf, pack, plain } from "../js/gguf";
import { Random } from "../js/values";
import { meanOutput } from "./means";
import { dot } from "./networkSums";
import { contextOf } from "./solverContext";
import { classifierFiles, sentenceFiles, translatorFiles, wordTokenizer } from "./yours";

let heed: Heed;
beforeEach(async () => {
  heed = await load({ threads: 1 });
});
afterEach(async () => {
  await close();
  const { tensors, caches } = heed.memory();
  heed.dispose();
  expect([tensors.count, caches.count]).toEqual([0, 0]);
});

const found = (...paths: string[]) =>
  paths.map((path) => ({ path, file: new File([], path.split("/").at(-1) as string) }));

const needed = (folder: string) =>
  ["config.json", "model.safetensors", "tokenizer.json"].map((name) => `${folder}${name}`);

describe("Files", () => {
  test("of a folder are found in it, and not in its other folders", () => {
    const deeper = ["tiny/onnx/config.json", "tiny/README.md"];
    const source = folderIn(found(...deeper, ...needed("tiny/"))) as FilesSource;
    expect(source.name).toBe("tiny");
    expect(Object.keys(source.files).sort()).toEqual([...needed(""), "README.md"].sort());
    expect(folderIn(found(...needed("")))).toMatchObject({ kind: "files", name: "chosen files" });
    const inside = folderIn(found("all/notes.txt", ...needed("all/tiny/")));
    expect(inside).toMatchObject({ kind: "files", name: "tiny" });
  });

  test("of its modules are found in their folders", () => {
    const pooling = "1_Pooling/config.json";
    for (const folder of ["all/tiny/", ""]) {
      const all = [...needed(folder), `${folder}modules.json`, folder + pooling];
      const { files } = folderIn(found(...all)) as FilesSource;
      expect(Object.keys(files).sort()).toEqual([...needed(""), "modules.json", pooling].sort());
    }
  });

  test("that are dropped are read as files where their entries cannot be read", async () => {
    const files = needed("").map((name) => new File([], name));
    const transferOf = (read: (file: File) => File | DOMException) =>
      ({
        files,
        items: files.map((file) => ({
          webkitGetAsEntry: () => ({
            ...{ isFile: true, fullPath: `/tiny/${file.name}` },
            file(resolve: (file: File) => void, reject: (error: DOMException) => void) {
              const got = read(file);
              if (got instanceof File) resolve(got);
              else reject(got);
            },
          }),
        })),
      }) as unknown as DataTransfer;
    const paths = async (transfer: DataTransfer) =>
      (await filesDropped(transfer)).map(({ path }) => path);
    expect(await paths(transferOf((file) => file))).toEqual(needed("tiny/"));
    const refuse = () => new DOMException("Path does not exist", "NotFoundError");
    expect(await paths(transferOf(refuse))).toEqual(needed(""));
  });

  test("that lack something say what", () => {
    expect(missingIn(needed(""))).toBeNull();
    const sharded = ["config.json", "model.safetensors.index.json", "tokenizer.json"];
    expect(missingIn(sharded)).toBeNull();
    expect(missingIn(["model.safetensors"])).toBe(
      "model.safetensors found, config.json and tokenizer.json are not.",
    );
    expect(missingIn(["config.json", "tokenizer.json", "pytorch_model.bin"])).toBe(
      "config.json and tokenizer.json found, model.safetensors is not. The weights in pytorch_model.bin cannot be read: safetensors can.",
    );
    expect(missingIn(["config.json", "model.safetensors", "preprocessor_config.json"])).toBe(
      "preprocessor_config.json found, tokenizer.json is not: the model reads images or sound, and this room takes text.",
    );
    expect(missingIn(["a.txt", "b.txt"])).toMatch(/^Neither config.json .* among the 2 files/);
    const both = folderIn(found(...needed("all/one/"), ...needed("all/two/")));
    expect(both).toEqual({
      why: "There are several models: one and two. Choose the folder of one.",
    });
    expect(folderIn([])).toHaveProperty("why");
    expect(missingIn(["a-Q4_0.gguf", "b-Q8_0.gguf"])).toBe(
      "There are several GGUF files: a-Q4_0.gguf and b-Q8_0.gguf. Choose one.",
    );
  });

  test("in GGUF are a model alone", () => {
    const source = folderIn(found("models/Tiny-Q4_0.gguf", "models/README.md"));
    expect(source).toMatchObject({ kind: "files", name: "Tiny-Q4_0" });
  });
});

describe("Addresses", () => {
  test("may be short for the hub", () => {
    const gpt2 = "https://huggingface.co/openai-community/gpt2";
    expect(addressOf(" openai-community/gpt2 ")).toBe(gpt2);
    expect(addressOf(gpt2)).toBe(gpt2);
    expect(addressOf("http://localhost:8000/tiny/")).toBe("http://localhost:8000/tiny/");
    for (const wrong of ["", "gpt2 small", "a/b/c", "ftp://a/b", "https://", "javascript:x"])
      expect(addressOf(wrong), wrong).toBeNull();
  });

  test("name the model", () => {
    expect(nameOf("https://huggingface.co/openai-community/gpt2/tree/main")).toBe("gpt2");
    expect(nameOf("https://huggingface.co/a/b/resolve/main/")).toBe("b");
    expect(nameOf("http://localhost:8000/")).toBe("localhost");
  });
});

describe("Refusals", () => {
  const address = "https://models.example/tiny";
  const source = { kind: "address", name: "tiny", address, keep: false } as const;
  const why = (code: string, message: string) =>
    whyNotLoaded(new HeedError(code as "load", message), source);

  test("are told in words for the person", () => {
    expect(why("load", "files: expected config.json, got none there")).toBe(
      `There is no config.json at ${address}. Is it the folder of a model?`,
    );
    expect(why("load", "files: expected tokenizer.json, got none there")).toBe(
      `There is no tokenizer.json at ${address}. Is it the folder of a model of text? One that reads images has no tokenizer.`,
    );
    expect(
      why(
        "load",
        `${address}/config.json: expected the file, but it is not reachable, or its server does not permit this page to read it`,
      ),
    ).toMatch(/^models\.example is not reachable, or does not permit .* \(CORS\)\. Download/);
    expect(why("load", `${address}/config.json: expected the file, got status 401`)).toMatch(
      /status 401\): the model does not exist, or only members may read it/,
    );
    expect(why("load", `${address}/x: expected the file, got status 503`)).toMatch(/Try again/);
    expect(why("load", `${address}/x: the connection broke off at byte 7 of 9`)).toBe(
      `The connection broke off at byte 7 of 9: ${address}/x. Try again.`,
    );
    expect(
      why("format", 'config.json: config.model_type: expected "gpt2" or "bert" or "vit", got "t5"'),
    ).toBe('The architecture "t5" is not one that this page can run. It can run "gpt2", "bert".');
    expect(
      why(
        "format",
        "weights: expected the tensors of llama, got 2 missing: a.b, c.d; 1 not fitting: e",
      ),
    ).toBe(
      "The weights are not those of the llama that config.json describes. Tensors: 2 missing: a.b, c.d; 1 not fitting: e.",
    );
    expect(why("memory", "no room")).toMatch(/does not fit into the memory \(no room\)/);
    expect(why("format", "something new")).toBe("The model could not be loaded: something new");
    expect(whyNotLoaded("odd", source)).toBe("The model could not be loaded: odd");
  });
});

describe("Tokens", () => {
  const text = (raw: string, isByteLevel: boolean) =>
    new TextDecoder().decode(bytesOfToken(raw, isByteLevel));

  test("of byte-level tokenizers are bytes", () => {
    expect(text("Ġthe", true)).toBe(" the");
    expect(text("Ċ", true)).toBe("\n");
    expect([...bytesOfToken("é¯", true)]).toEqual([0xe9, 0xaf]);
    // Each of the 256 bytes has a different character. The last character from 256 on represents the soft hyphen.
    expect([...bytesOfToken("ĀġĢŁłŃ", true)]).toEqual([0, 33 - 1 + 95, 128, 159, 160, 173]);
    // A special token need not be one.
    expect(text("日本", true)).toBe("日本");
  });

  test("of SentencePiece have a mark for a space, and single bytes", () => {
    expect(text("▁the", false)).toBe(" the");
    expect([...bytesOfToken("<0xE9>", false)]).toEqual([0xe9]);
    expect(text("##ing", false)).toBe("##ing");
  });
});

describe("One head", () => {
  test.each([
    [
      "with a scale of its own",
      gpt2({ scale_attn_by_inverse_layer_idx: true }),
      1 / 2 / Math.sqrt(4),
    ],
    ["with rotations and grouped keys", llama(), 1 / Math.sqrt(4)],
    ["that sees a window", llama({ model_type: "mistral", sliding_window: 3 }), 1 / Math.sqrt(4)],
    ["that sees both sides", bert("bert"), 1 / Math.sqrt(6)],
  ])("%s has scores that are products of its queries and keys", async (_, checkpoint, scale) => {
    const model = (await loadModel(heed, filesOf(checkpoint))) as CausalLanguageModel;
    const ids = [5, 9, 2, 7, 5, 3];
    const [count, layer] = [ids.length, 1];
    const head = model.config.heads - 1;
    const { weights, scores, queries, keys, lengths } = sharesOfHead(
      model,
      { ids },
      { layer, head },
    );
    const size = model.config.headSize;
    const vectorOf = (all: Float32Array, i: number) => all.subarray(i * size, (i + 1) * size);
    for (let row = 0; row < count; ++row) {
      const sums = { weights: 0, powers: 0 };
      for (let col = 0; col < count; ++col) {
        const [score, weight] = [scores, weights].map((all) => all[row * count + col] as number);
        const [query, key] = [vectorOf(queries, row), vectorOf(keys, col)];
        if (score === Number.NEGATIVE_INFINITY) expect(weight).toBe(0);
        else expect(score).toBeCloseTo(dot(query, key) * scale, 4);
        sums.weights += weight as number;
        sums.powers += Math.exp(score as number);
      }
      expect(sums.weights).toBeCloseTo(1, 4);
      expect(weights[row * count + row]).toBeCloseTo(
        Math.exp(scores[row * count + row] as number) / sums.powers,
        4,
      );
    }
    expect(lengths).toHaveLength(count);
    expect(Math.min(...lengths)).toBeGreaterThan(0);
    model.dispose();
  });

  test("with limited scores has formulas that name the limit", () => {
    const { config } = llama({ model_type: "gemma2", attn_logit_softcapping: 0.5, head_dim: 4 });
    const model = new CausalLanguageModel(heed, { ...config, initializer_range: 1 }, { seed: 2 });
    const ids = [5, 9, 2];
    const shares = sharesOfHead(model, { ids }, { layer: 0, head: 1 });
    const [scale = 1] = model.config.scales;
    const words = ids.map(String);
    const between = { heads: 1, rows: words, columns: words, scale, softcap: 0.5 };
    for (let col = 0; col < ids.length; ++col) {
      const key = shares.keys.subarray(4 * col, 4 * col + 4);
      const product = dot(shares.queries.subarray(8, 12), key);
      const lines = formulaOf(between, shares, 0, { row: 2, col }).map(({ text }) => text);
      const [score = "", limited = ""] = lines
        .join("")
        .split("\n")
        .filter((line) => /^(score|limited)/.test(line));
      expect(Number(score.split(" = ")[2]?.replace("−", "-"))).toBeCloseTo(product * scale, 2);
      expect(limited).toContain("limited: 0.5 × tanh(");
      const end = Number(limited.split(" = ")[1]?.replace("−", "-"));
      expect(end).toBeCloseTo(0.5 * Math.tanh((product * scale) / 0.5), 2);
    }
    model.dispose();
  });
});

const tiny: Record<string, Uint8Array> = {
  ...filesOf(gpt2()),
  "tokenizer.json": wordTokenizer(19),
};
const specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
const masked: Record<string, Uint8Array> = {
  ...filesOf(bert("bert")),
  "tokenizer.json": wordTokenizer(21, specials),
};

const sourceOf = (files: Record<string, Uint8Array>): FilesSource => ({
  ...{ kind: "files", name: "tiny" },
  files: Object.fromEntries(
    Object.entries(files).map(([name, bytes]) => [name, new File([bytes as BlobPart], name)]),
  ),
});

type Asked = Parameters<typeof solve>[0];
type Answer = NonNullable<Awaited<ReturnType<typeof solve>>>;

const send = (request: Asked) => solve(request, contextOf(heed));

/** The answer to a request, which must be of the same kind. */
async function ask<K extends Answer["kind"] & Asked["kind"]>(
  request: Asked & { readonly kind: K },
): Promise<Extract<Answer, { kind: K }>> {
  const answer = await send(request);
  expect(answer).toMatchObject({ kind: request.kind });
  return answer as Extract<Answer, { kind: K }>;
}

async function open(
  files: Record<string, Uint8Array>,
  dtype: WeightType = "float32",
): Promise<Card> {
  const card = await send({ kind: "load", source: sourceOf(files), dtype });
  expect(card).toMatchObject({ kind: "card" });
  return card as Card;
}

const close = () => send({ kind: "close", whose: "yours" });

/** A model of one layer with a token for each of four letters. */
function tinyGguf(): Uint8Array<ArrayBuffer> {
  const random = new Random(7);
  const size = 32;
  const tokens = ["a", "b", "c", "Ġ"];
  const matrix = (rows: number) => pack("Q4_0", [rows, size], random);
  const vector = (count: number) => plain(random.array([count]).data, [count]);
  const projections = ["q", "k", "v"].flatMap((part) => [
    [`blk.0.attn_${part}.weight`, matrix(size)] as const,
    [`blk.0.attn_${part}.bias`, vector(size)] as const,
  ]);
  const others = ["attn_output", "ffn_gate", "ffn_up", "ffn_down"].map(
    (part) => [`blk.0.${part}.weight`, matrix(size)] as const,
  );
  const norms = ["blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"].map(
    (name) => [`${name}.weight`, vector(size)] as const,
  );
  const sizes = {
    ...{ embedding_length: size, block_count: 1, feed_forward_length: size, context_length: 16 },
    "attention.head_count": 2,
  };
  return ggufOf(
    {
      "general.architecture": "qwen2",
      ...Object.fromEntries(Object.entries(sizes).map(([key, value]) => [`qwen2.${key}`, value])),
      ...{ "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": tokens },
    },
    Object.fromEntries([["token_embd.weight", matrix(4)], ...projections, ...others, ...norms]),
  );
}

const sampling = { temperature: 0.7, topK: 0, topP: 0.9, from: null, to: null };

describe("The solver", () => {
  test("opens a GGUF file with its tokenizer", async () => {
    const card = await open({ "tiny.gguf": tinyGguf() }, "int8");
    expect(card).toMatchObject({
      architecture: "qwen2",
      attentions: [expect.objectContaining({ layers: 1 })],
      whyNoNetwork: null,
    });
    const written = { seed: 1, length: 2, kept: [] };
    await ask({ kind: "read", model: card.model, text: "ab", ...sampling, ...written });
  });

  test("frees a model that is closed while a request of it waits after that request", async () => {
    let pauses = 0;
    const context = contextOf(heed, {
      async pause() {
        if (++pauses === 1) await close();
      },
    });
    const { model } = await open(tiny);
    const written = { seed: 1, length: 30, kept: [] };
    const text = "w3 w4 w5";
    // Each look at the clock takes 20 ms, so the request pauses on a machine of any speed.
    let time = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (time += 20));
    const answer = await solve({ kind: "read", model, text, ...sampling, ...written }, context);
    clock.mockRestore();
    expect(answer).toMatchObject({ kind: "read" });
    expect(pauses).toBeGreaterThan(0);
    expect(heed.memory().tensors.count).toBe(0);
    expect(await send({ kind: "card", whose: "yours" })).toBeNull();
  });

  test("answers with one model at a time, and leaves nothing in the engine's memory", async () => {
    const ablating = { ablated: ["1.2"], ablation: "mean" } as const;
    const readAll = async ({ model }: Card, text: string) => {
      const written = { seed: 1, length: 5, kept: [3] };
      const answer = await ask({ kind: "read", model, text, ...sampling, ...written });
      const { ids } = answer;
      await ask({ kind: "next", model, ids, place: 1, ...ablating, ...sampling });
      await ask({ kind: "heads", model, ids, ...ablating });
      await ask({ kind: "head", model, ids, head: "2.1", ...ablating });
      await ask({ kind: "other", model, text: `${text} w8`, head: "1.1", ...ablating });
      return answer;
    };
    const first = await open(tiny);
    const held = heed.memory().tensors.bytes;
    /** Expects that the engine holds the bytes that the card shows, and some padding that aligns each tensor. */
    const isHeld = ({ bytes }: Card, more = 0) => {
      const { tensors, packedWeights } = heed.memory();
      const padding = tensors.bytes + packedWeights.bytes + more - bytes;
      expect(padding).toBeGreaterThanOrEqual(0);
      expect(padding).toBeLessThan(64 * (tensors.count + packedWeights.count));
    };
    isHeld(first);
    const read = await readAll(first, "w3 w4 w5");
    expect(read.ids.slice(0, 4)).toEqual([3, 4, 5, 3]);
    expect(read.ids).toHaveLength(8);
    expect(heed.memory().tensors.bytes).toBe(held);

    const second = await open(masked, "int8");
    // A request for the model before is not answered by this one.
    const text = "w7 [MASK] w9";
    const late = {
      kind: "other",
      model: first.model,
      ...{ text, head: "1.1" },
      ...ablating,
    } as const;
    expect(await send(late)).toBeNull();
    await readAll(second, text);
    // The table of the tokens is in the memory of JavaScript: 21 rows of 12 bytes and a scale.
    isHeld(second, 21 * (12 + 4));
    const { parameters } = await open(masked);
    expect(second.parameters).toBe(parameters);

    const { "config.json": _, ...without } = tiny;
    const { "tokenizer.json": tokenizer, ...bare } = { ...tiny, ...filesOf(vit("ViTModel")) };
    for (const [files, why] of [
      [without, "model.safetensors and tokenizer.json found, config.json is not."],
      [bare, "config.json and model.safetensors found, tokenizer.json is not."],
      [
        { ...bare, "tokenizer.json": tokenizer as Uint8Array },
        "The model could not be loaded: it reads images, and this room takes text.",
      ],
    ] as const) {
      const source = sourceOf(files as Record<string, Uint8Array>);
      const refused = await send({ kind: "load", source, dtype: "float16" });
      expect(refused).toEqual({ kind: "refused", why });
    }
    await close();
    expect(await send({ kind: "card", whose: "yours" })).toBeNull();
    const after = heed.memory();
    expect([after.tensors.count, after.packedWeights.count]).toEqual([0, 0]);

    // However often models are opened and closed, the engine takes no more memory.
    for (let turn = 0; turn < 20; ++turn) {
      await readAll(await open(turn % 2 === 0 ? tiny : masked, "int8"), text);
      if (turn % 3 === 0) await close();
    }
    await close();
    expect(heed.memory()).toEqual(after);
  });

  test("tells what comes and what heads attend to without those that are ablated", async () => {
    const ablated = ["1.2", "2.1"];
    const ablation = "zero" as const;
    const named = [
      { path: "model.layers.0.self_attn", head: 1 },
      { path: "model.layers.1.self_attn", head: 0 },
    ];
    const idsOf = (ids: readonly number[]) => heed.tensor(Int32Array.from(ids), [1, ids.length]);

    for (const [files, ids, place] of [
      [tiny, [3, 7, 11, 7], 2],
      [masked, [7, 4, 9, 8], 1],
    ] as const) {
      const { model } = await open(files);
      const asked = { model, ids, place, ablation, ...sampling };
      const whole = await ask({ kind: "next", ...asked, ablated: [] });
      const without = await ask({ kind: "next", ...asked, ablated });
      const own = (await loadModel(heed, files)) as CausalLanguageModel | MaskedLanguageModel;
      const shares = await withoutHeads(own, named, () =>
        heed.scope(() => {
          const { logits } =
            own instanceof CausalLanguageModel
              ? own.forward(idsOf(ids.slice(0, place + 1)), { onlyLast: true })
              : own.forward(idsOf(ids), { needLogits: true });
          const all = heed.softmax(logits).data as Float32Array;
          const size = all.length / (logits.shape[1] as number);
          const start = own instanceof CausalLanguageModel ? 0 : place * size;
          return all.slice(start, start + size);
        }),
      );
      own.dispose();
      expect(without.tables).toHaveLength(1);
      const [table] = without.tables;
      expect(table?.candidates).toEqual(whole.tables[0]?.candidates);
      expect(whole.tables[0]?.instead).toBeNull();
      const instead = table?.instead;
      for (const [rank, id] of [...(table?.candidates.ids ?? [])].entries())
        expect(instead?.model[rank]).toBeCloseTo(shares[id] as number, 6);
      expect(instead?.best.probability).toBeCloseTo(Math.max(...shares), 6);
      expect(instead?.bestPiece).toBe(`w${shares.indexOf(Math.max(...shares))}`);

      // The first layer attends as before, the second does not.
      const before = await ask({ kind: "heads", model, ids, ablated: [], ablation });
      const after = await ask({ kind: "heads", model, ids, ablated, ablation });
      const half = before.heads.length / 2;
      expect(after.heads.slice(0, half)).toEqual(before.heads.slice(0, half));
      for (const [i, head] of after.heads.entries())
        if (i >= half) expect(head.small).not.toEqual(before.heads[i]?.small);
      const one = await ask({ kind: "head", model, ids, head: "2.2", ablated, ablation });
      const small = after.heads.find(({ key }) => key === "2.2")?.small.data;
      expect(one.shares.weights).toEqual(small);
    }
  });
});

describe("A head that classifies", () => {
  const ids = [7, 4, 9, 8];
  const place = 2;
  const texts = { encode: () => ids, decode: () => "" };
  const head = { path: "model.layers.0.self_attn", head: 1 };

  test.each([
    ["Sequence", {}],
    ["Sequence", { problem_type: "multi_label_classification" }],
    ["Token", {}],
  ] as const)(
    "%s %o has the probabilities of heed/models, with and without a head",
    async (task, more) => {
      const files = classifierFiles(task, more);
      const { model, classifier } = await open(files);
      expect(classifier?.labels).toEqual(["very bad", "neither", "good"]);
      const asked = { kind: "next", model, ids, place, ablation: "zero", ...sampling } as const;
      const answer = await ask({ ...asked, ablated: ["1.2"] });
      const own = (await loadModel(heed, files)) as MaskedLanguageModel;
      const scores = async () =>
        task === "Sequence"
          ? (await classify(own, texts, [""]))[0]?.scores
          : (await classifyTokens(own, texts, [""]))[0]?.[place]?.scores;
      const [whole = [], less = []] = [await scores(), await withoutHeads(own, [head], scores)];
      own.dispose();
      const [table] = answer.tables;
      expect(answer.tables).toHaveLength(1);
      const { candidates, pieces, instead } = table as (typeof answer.tables)[number];
      expect(candidates.ids).toHaveLength(3);
      for (const [rank, id] of candidates.ids.entries()) {
        expect(pieces[rank]).toBe(classifier?.labels[id]);
        expect(candidates.model[rank]).toBeCloseTo(whole[id] as number, 6);
        expect(instead?.model[rank]).toBeCloseTo(less[id] as number, 6);
        expect(instead?.model[rank]).not.toBeCloseTo(whole[id] as number, 4);
      }
      expect([...candidates.model]).toEqual([...candidates.model].sort((a, b) => b - a));
      expect(instead?.bestPiece).toBe(classifier?.labels[less.indexOf(Math.max(...less))]);
    },
  );

  test.each([
    [classifierFiles("Question"), /answers questions/],
    [classifierFiles("Sequence", { problem_type: "regression" }), /gives values/],
  ])("that gives no probabilities of labels says why nothing is predicted", async (files, why) => {
    const { model, classifier, whyNoPredictions } = await open(files);
    expect(classifier).toBeNull();
    expect(whyNoPredictions).toMatch(why);
    const asked = { kind: "next", model, ids, place, ...sampling } as const;
    const answer = await ask({ ...asked, ablated: [], ablation: "zero" });
    expect(answer.tables).toEqual([]);
  });
});

describe("An encoder of sentences", () => {
  test("compares two texts as heed/models does, with and without a head", async () => {
    const files = sentenceFiles();
    const { model, compares, whyNoPredictions } = await open(files);
    expect(compares).toEqual({ by: "cosine", tokens: null });
    expect(whyNoPredictions).toContain("compare two texts");
    const held = heed.memory().tensors;
    const [first, text] = ["w7 w9 w8", "w7 w12 w8 w20"];
    const asked = { kind: "similarity", model, texts: [first, text], ablation: "zero" } as const;
    const all = await ask({ ...asked, ablated: [] });
    const both = await ask({ ...asked, ablated: ["1.2"] });
    expect(heed.memory().tensors).toEqual(held);

    const tokenizer = new ReadableTokenizer(
      JSON.parse(new TextDecoder().decode(files["tokenizer.json"])),
      {},
    );
    const own = (await loadModel(heed, files)) as MaskedLanguageModel;
    const compare = async () => {
      const [a, b] = [await embed(own, tokenizer, [first]), await embed(own, tokenizer, [text])];
      const score = heed.scope(() => similarity(own, a, b).data[0] as number);
      for (const each of [a, b]) each.dispose();
      return score;
    };
    const head = { path: "model.layers.0.self_attn", head: 1 };
    const wanted = [await compare(), await withoutHeads(own, [head], compare)];
    expect(all.without).toBeNull();
    expect(both.all).toBe(all.all);
    expect(all.all).toBeCloseTo(wanted[0] as number, 5);
    expect(both.without).toBeCloseTo(wanted[1] as number, 5);
    expect(wanted[0]).not.toBeCloseTo(wanted[1] as number, 3);
    own.dispose();
  });
});

describe("An encoder with windows", () => {
  test("hides the keys that its layers hide, and counts the others", async () => {
    const config = {
      ...{ model_type: "modernbert", vocab_size: 23, hidden_size: 12, intermediate_size: 20 },
      ...{ num_hidden_layers: 3, num_attention_heads: 3, max_position_embeddings: 32 },
      ...{ local_attention: 4, global_attn_every_n_layers: 2 },
      architectures: ["ModernBertModel"],
    };
    const random = new Random(5);
    const layer = (i: number): [name: string, shape: number[]][] => [
      ...(i > 0 ? [[`layers.${i}.attn_norm`, [12]] as [string, number[]]] : []),
      [`layers.${i}.attn.Wqkv`, [36, 12]],
      [`layers.${i}.attn.Wo`, [12, 12]],
      [`layers.${i}.mlp_norm`, [12]],
      [`layers.${i}.mlp.Wi`, [40, 12]],
      [`layers.${i}.mlp.Wo`, [12, 20]],
    ];
    const shapes: [name: string, shape: number[]][] = [
      ["embeddings.tok_embeddings", [23, 12]],
      ["embeddings.norm", [12]],
      ...[0, 1, 2].flatMap(layer),
      ["final_norm", [12]],
    ];
    const tensors = shapes.map(([name, shape]) => [`model.${name}.weight`, random.array(shape)]);
    const files = {
      ...filesOf({ config, tensors: Object.fromEntries(tensors) }),
      "tokenizer.json": wordTokenizer(23),
    };
    const card = await open(files);
    const text = "w7 w9 w8 w12 w20 w6 w11 w7";
    const asked = { kind: "read", model: card.model, text, ...sampling, seed: 1 } as const;
    const read = await ask({ ...asked, temperature: 0, length: 1, kept: [] });
    const { ids, tokens } = read;
    const none = { ablated: [], ablation: "zero" } as const;
    const hidden = [];
    for (const head of ["1.1", "2.3"]) {
      const found = await ask({ kind: "head", model: card.model, ids, head, ...none });
      const shown = shownHead(card, { tokens, shares: found.shares }, head);
      const hides = hiddenIn(shown) ?? (() => false);
      const size = tokens.length;
      const cells = Array.from(found.shares.weights, (weight, i) => {
        const cell = { row: Math.floor(i / size), col: i % size };
        return { cell, weight, isHidden: hides(cell.row, cell.col) };
      });
      hidden.push(cells.filter(({ isHidden }) => isHidden).length);
      for (const { cell, weight, isHidden } of cells) {
        expect(isHidden).toBe(weight === 0);
        const words = explainWeight(cell, shown).formula.map(({ text }) => text);
        const seen = cells.filter((each) => each.cell.row === cell.row && each.weight > 0).length;
        const wanted = isHidden ? "hidden: this layer sees 2 on each side" : `1 ÷ ${seen} = `;
        expect(words.join("")).toContain(wanted);
      }
    }
    expect(hidden[0]).toBe(0);
    expect(hidden[1]).toBeGreaterThan(20);
  });
});

describe("A model with an encoder and a decoder", () => {
  test("answers as heed/models computes it, with and without a head", async () => {
    const files = translatorFiles();
    const card = await open(files);
    const { model } = card;
    expect(card.attentions).toEqual([
      { name: "encoder", layers: 1, heads: 2, headSize: 6, groups: 2 },
      { name: "decoder", layers: 2, heads: 2, headSize: 6, groups: 2 },
      { name: "cross", layers: 2, heads: 2, headSize: 6, groups: 2 },
    ]);
    expect(card.whyNotWalked).toContain("an encoder and a decoder");
    expect(card.whyNoNetwork).toBe("it has an encoder and a decoder");
    const held = heed.memory().tensors;
    const own = (await loadModel(heed, files)) as Seq2SeqLanguageModel;
    const source = [2, 7, 9, 8, 3];
    const [target] = await own.generate([source], { maxLength: 6 });
    const text = "w7 w9 w8";
    const asked = { kind: "read", model, text, ...sampling, seed: 1, length: 6 } as const;
    const read = (kept: number[]) => ask({ ...asked, temperature: 0, kept });
    const answer = await read([]);
    const { ids, sources } = answer;
    expect(ids).toEqual([...source, 0, ...(target as number[])]);
    expect([sources, answer.given]).toEqual([5, 6]);
    expect(answer.tokens.map(({ piece }) => piece)[sources]).toBe("start");
    // A branch keeps the tokens before it, and the model goes on from them.
    const branch = await read([14]);
    const [after] = await own.generate([source], { startTokens: [0, 14], maxLength: 5 });
    expect(branch.ids.slice(6)).toEqual([14, ...(after as number[])]);

    const tensor = (ids: readonly number[]) => heed.tensor(Int32Array.from(ids), [1, ids.length]);
    const run = () => own.forward(tensor(source), tensor(ids.slice(sources)));
    const weights = new Map<string, Float32Array>();
    const keep: nn.ReceiveWeights = (path, { data }) =>
      void weights.set(path, data.slice() as Float32Array);
    const logits = heed.scope(
      () => nn.captureAttention(own, keep, run).logits.data.slice() as Float32Array,
    );
    const kinds = {
      "encoder.1.2": "model.encoder.layers.0.self_attn",
      "decoder.2.1": "model.decoder.layers.1.self_attn",
      "cross.2.2": "model.decoder.layers.1.cross_attn",
    };
    expect(answer.heads.map(({ key }) => key)).toEqual([
      ...["encoder.1.1", "encoder.1.2", "decoder.1.1", "decoder.1.2", "cross.1.1", "cross.1.2"],
      ...["decoder.2.1", "decoder.2.2", "cross.2.1", "cross.2.2"],
    ]);
    const none = { ablated: [], ablation: "zero" } as const;
    for (const [key, path] of Object.entries(kinds)) {
      const found = await ask({ kind: "head", model, ids, sources, head: key, ...none });
      const { shares } = found;
      const shown = shownHead(card, { tokens: answer.tokens, shares }, key, sources);
      const { attention, spans } = shown;
      const [rows, columns] = [attention.rows.length, attention.columns.length];
      const head = Number(key.at(-1)) - 1;
      const wanted = weights
        .get(path)
        ?.subarray(head * rows * columns, (head + 1) * rows * columns);
      expect(shares.weights).toHaveLength(rows * columns);
      for (const [i, weight] of shares.weights.entries())
        expect(weight).toBeCloseTo(wanted?.[i] as number, 5);
      expect([spans.rows.start, spans.columns.start]).toEqual(
        { encoder: [0, 0], decoder: [5, 5], cross: [5, 0] }[attention.name],
      );
      const seen = attention.isCausal ? (row: number) => row + 1 : () => columns;
      for (let row = 0; row < rows; ++row)
        expect(
          explainWeight({ row, col: 0 }, shown)
            .formula.map(({ text }) => text)
            .join(""),
        ).toContain(`1 ÷ ${seen(row)} = `);
      // The scores, with the numbers of the distances, give the weights.
      for (let row = 0; row < rows; ++row) {
        const scores = shares.scores.subarray(row * columns, (row + 1) * columns);
        const sum = scores.reduce((all, score) => all + Math.exp(score), 0);
        for (const [col, score] of scores.entries())
          expect(Math.exp(score) / sum).toBeCloseTo(
            shares.weights[row * columns + col] as number,
            5,
          );
      }
      const formula = formulaOf(attention, shares, 0, { row: 1, col: 0 })
        .map(({ text }) => text)
        .join("");
      expect(formula.includes("the number of this distance")).toBe(attention.name !== "cross");
    }

    const place = 7;
    const next = { kind: "next", model, ids, sources, place, ...sampling } as const;
    const tableOf = async (more: { ablated: string[]; ablation: "zero" | "mean" }) => {
      const { tables } = await ask({ ...next, ...more });
      return tables[0] as (typeof tables)[number];
    };
    const probability = (logits: Float32Array, id: number) => {
      const row = logits.subarray((place - sources) * 24, (place - sources + 1) * 24);
      return Math.exp(row[id] as number) / row.reduce((all, each) => all + Math.exp(each), 0);
    };
    const path = "model.decoder.layers.1.cross_attn";
    const table = await tableOf({ ablated: ["cross.2.2"], ablation: "zero" });
    const without = await withoutHeads(own, [{ path, head: 1 }], () =>
      heed.scope(() => run().logits.data.slice() as Float32Array),
    );
    for (const [i, id] of table.candidates.ids.entries()) {
      expect(table.candidates.model[i]).toBeCloseTo(probability(logits, id), 5);
      expect(table.instead?.model[i]).toBeCloseTo(probability(without, id), 5);
    }
    const mean = await tableOf({ ablated: ["cross.2.2"], ablation: "mean" });
    expect(mean.instead?.model).not.toEqual(table.instead?.model);
    // A token of the source has no prediction: the first one of the target is shown.
    const first = await ask({ ...next, place: 1, ...none });
    expect(first).toMatchObject({ tables: [{ place: sources }] });
    own.dispose();
    expect(heed.memory().tensors).toEqual(held);
  });

  test("reads and writes the wanted languages", async () => {
    const names = ["eng_Latn", "deu_Latn", "fra_Latn"];
    const [english, german, french] = [5, 6, 7];
    const files = translatorFiles({}, names);
    const card = await open(files);
    expect(card).toMatchObject({ languages: names, marksLanguage: true });
    const own = (await loadModel(heed, files)) as Seq2SeqLanguageModel;
    // A language that is part of the text stays.
    const text = "w9 fra_Latn eng_Latn w8";
    const asked = { kind: "read", model: card.model, text, ...sampling, temperature: 0 } as const;
    const read = async (more: Partial<ReadRequest>) => {
      const request = { ...asked, kept: [], seed: 1, length: 6, ...more };
      const { ids, sources } = await ask(request);
      return { source: ids.slice(0, sources), target: ids.slice(sources) };
    };
    const wanted = async (language: number, starts: number[]) => {
      const source = [language, 9, french, english, 8, 3];
      const options = { startTokens: starts, maxLength: 6 };
      const [written = []] = await own.generate([source], options);
      return { source, target: [...starts, ...written] };
    };
    expect(await read({})).toEqual(await wanted(english, [0]));
    expect(await read({ from: "tlh_Latn", to: "tlh_Latn" })).toEqual(await wanted(english, [0]));
    expect(await read({ to: "deu_Latn" })).toEqual(await wanted(english, [0, german]));
    expect(await read({ from: "deu_Latn", to: "eng_Latn" })).toEqual(
      await wanted(german, [0, english]),
    );
    // The longest text still leaves room for a whole answer.
    const long = await read({ text: "w9 ".repeat(468), to: "deu_Latn", length: 40 });
    expect(long.source).toHaveLength(470);
    const longer = { ...asked, text: "w9 ".repeat(469), to: "deu_Latn", kept: [], seed: 1 };
    expect(await send({ ...longer, length: 40 })).toMatchObject({ kind: "refused" });
    // A model that begins with a language begins with the wanted one.
    const other = translatorFiles({ decoder_start_token_id: english }, names);
    const { model } = await open(other);
    expect((await read({ model, to: "deu_Latn" })).target[0]).toBe(german);
    // Tokens that the model does not have are no choice.
    const short = {
      ...files,
      "tokenizer.json": wordTokenizer(
        26,
        [...Array(24).keys()].map((id) => `w${id}`).concat(names.slice(0, 2)),
        false,
      ),
    };
    expect((await open(short)).languages).toEqual([]);
    const plain = await open(translatorFiles());
    expect(plain).toMatchObject({ languages: [], marksLanguage: false });
    own.dispose();
  });

  test.each([
    ["deu_Latn", "German"],
    ["zho_Hant", "Traditional Chinese"],
    ["de_DE", "German"],
    ["__fr__", "French"],
  ])("names the language %s %s", (token, name) => {
    expect(languageName(token)).toBe(name);
  });

  test("leaves room for an answer, writes none of the forbidden words, and is not ended before the end", async () => {
    // The padding token is forbidden, as in Marian, and the config forces an end.
    const files = translatorFiles({ bad_words_ids: [[0], [9], [6, 7]], forced_eos_token_id: 1 });
    const { model } = await open(files);
    const asked = { kind: "read", model, ...sampling, kept: [], seed: 4 } as const;
    const read = (text: string, more: { length: number; kept?: number[] }) =>
      ask({ ...asked, temperature: 1, ...more, text });
    const long = Array.from({ length: 469 }, (_, i) => `w${5 + (i % 19)}`).join(" ");
    const answer = await read(long, { length: 500 });
    expect(answer.sources).toBe(471);
    expect(answer.ids.length).toBeLessThanOrEqual(512);
    const longer = await send({ ...asked, text: `${long} w8`, length: 40 });
    expect(longer).toEqual({
      kind: "refused",
      why: "The text has 472 tokens, and this room shows 471 at most: leave out 1.",
    });
    const whole = await read("w7 w9", { length: 60 });
    const written = whole.ids.slice(whole.given);
    for (const forbidden of [0, 9]) expect(written).not.toContain(forbidden);
    for (const [i, id] of written.entries()) if (id === 6) expect(written[i + 1]).not.toBe(7);
    const short = await read("w7 w9", { length: 3 });
    expect(short.ids.slice(short.given)).toEqual(written.slice(0, 3));
    expect(short.hasEnded).toBe(false);
    // The tokens after kept ones are drawn as they were.
    const kept = written.slice(0, 2);
    expect((await read("w7 w9", { length: 60, kept })).ids).toEqual(whole.ids);
    const next = { kind: "next", model, ids: whole.ids, sources: whole.sources, place: 6 } as const;
    const none = { ablated: [], ablation: "zero" } as const;
    const { tables } = await ask({ ...next, ...sampling, ...none, most: 24 });
    const { ids, model: shares } = tables[0]?.candidates ?? {};
    for (const forbidden of [0, 9]) expect(shares?.[ids?.indexOf(forbidden) ?? -1]).toBe(0);
  });
});

describe("A mean in place of a head's output", () => {
  test.each([
    ["gpt2", tiny],
    ["bert", masked],
    ["llama", { ...filesOf(llama()), "tokenizer.json": wordTokenizer(23) }],
  ])("is over all positions of the reference text: %s", async (_, files) => {
    const { model, context: most } = await open(files);
    const own = (await loadModel(heed, files)) as CausalLanguageModel | MaskedLanguageModel;
    const read = (ids: readonly number[]) => heed.scope(() => readIn(own, { ids }));
    // These tokenizers know no word of the text: each one is token 0.
    const words = referenceText.split(/\s+/).map(() => 0);
    const place = { path: "model.layers.0.self_attn", head: 1 };
    const output = meanOutput(own, place, () => read(words.slice(0, most)));
    const asked = [3, 7, 11, 7];
    const second = () => {
      let found: number[] = [];
      const receive: nn.ReceiveWeights = (path, { data }) => {
        if (path !== "model.layers.1.self_attn") return;
        found = [...data.subarray(asked.length ** 2, 2 * asked.length ** 2)];
      };
      nn.captureAttention(own, receive, () => read(asked));
      return found;
    };
    const mean = await withoutHeads(own, [{ ...place, output }], second);
    const zero = await withoutHeads(own, [place], second);
    own.dispose();
    const request = { kind: "head", model, ids: asked, head: "2.2", ablated: ["1.2"] } as const;
    for (const [ablation, wanted] of [
      ["mean", mean],
      ["zero", zero],
    ] as const) {
      const answer = await ask({ ...request, ablation });
      for (const [i, weight] of answer.shares.weights.entries())
        expect(weight).toBeCloseTo(wanted[i] as number, 5);
    }
    expect(mean).not.toEqual(zero);
  });
});

describe("Weights", () => {
  test("times the lengths of values are shares of their rows", () => {
    const weighted = weightedByLength(
      viewOn(Float32Array.of(1, 0, 0.5, 0.5), 2, 2),
      Float32Array.of(1, 3),
    );
    expect(Array.from(weighted.data)).toEqual([1, 0, 0.25, 0.75]);
    const none = weightedByLength(viewOn(Float32Array.of(1, 0), 1, 2), Float32Array.of(0, 1));
    expect(Array.from(none.data)).toEqual([0, 0]);
  });

  test("of two texts differ where their tokens line up", () => {
    const pairs = aligned([5, 6, 7, 8], [5, 9, 7, 8, 8]);
    expect(pairs).toEqual([
      [0, 0],
      [2, 2],
      [3, 3],
    ]);
    expect(aligned([1, 2], [3])).toEqual([]);
    const a = viewOn(
      Float32Array.from({ length: 16 }, (_, i) => i),
      4,
      4,
    );
    const b = viewOn(
      Float32Array.from({ length: 25 }, (_, i) => 2 * i),
      5,
      5,
    );
    const difference = differenceAt(pairs, a, b);
    expect(at(difference, 1, 2)).toBe(2 * 4 + 3 - 2 * (2 * 5 + 3));
  });
});
