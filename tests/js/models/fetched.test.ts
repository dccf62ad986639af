// Models loaded from a server: with ranges and without, with connections that break off, wrong lengths, and
// answers that are errors.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Tokenizer } from "@huggingface/tokenizers";
import type { HeedError } from "heed";
import {
  CausalLanguageModel,
  deleteKept,
  type LoadProgress,
  listKept,
  loadModel,
  loadTokenizer,
} from "heed/models";
import { safetensors } from "heed/nn";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { filesOf, jsonOf, llama, shardsOf } from "../checkpoints.js";
import { engine, refusalOf } from "../engine.js";
import { send } from "../files_server.js";
import { ggufOf, llamaSizes, metadataOf, packedOf, plain } from "../gguf.js";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const file = filesOf(llama({}, 3000));
const weights = file["model.safetensors"] as Uint8Array;

describe("a model from a server", () => {
  const heed = engine({ threads: 1 });
  let requests: string[] = [];
  let answers: Record<string, Answer> = {};
  const server = createServer((request, response) => {
    const name = (request.url ?? "").slice("/model/".length);
    requests.push(`${name} ${request.headers.range ?? "all"}`);
    const answer = answers[name];
    if (answer) answer(request, response);
    else response.writeHead(404).end();
  });
  let address = "";
  beforeEach(async () => {
    requests = [];
    answers = Object.fromEntries(
      Object.entries(file).map(([name, bytes]) => [name, (a, b) => send(a, b, bytes)]),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/model/`;
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  async function expectLoaded(options = {}): Promise<void> {
    const model = (await loadModel(heed(), address, options)) as CausalLanguageModel;
    expect(model).toBeInstanceOf(CausalLanguageModel);
    const { tensors } = safetensors.read(weights);
    for (const [name, { data }] of Object.entries(model.stateDict()))
      expect(data).toEqual(tensors[name]?.data);
    model.dispose();
    expect(heed().memory().tensors.count).toBe(0);
  }

  async function refusal(options = {}): Promise<HeedError> {
    const error = await refusalOf(loadModel(heed(), address, options));
    expect(heed().memory().tensors.count).toBe(0);
    return error;
  }

  test("has the tokens of generation_config.json, and a page is no file", async () => {
    const page: Answer = (_, response) =>
      response
        .writeHead(200, { "Content-Type": "text/html; charset=utf-8" })
        .end("<!doctype html>");
    answers["generation_config.json"] = page;
    const endTokensOf = async () => {
      const model = (await loadModel(heed(), address, {})) as CausalLanguageModel;
      model.dispose();
      return model.config.endTokens;
    };
    expect(await endTokensOf()).toEqual([]);
    const given = { eos_token_id: [3, 4], temperature: 0.6, pad_token_id: null };
    answers["generation_config.json"] = (a, b) => send(a, b, jsonOf(given));
    expect(await endTokensOf()).toEqual([3, 4]);
    answers["generation_config.json"] = (a, b) => send(a, b, jsonOf({ eos_token_id: "end" }));
    await expect(endTokensOf()).rejects.toThrow(
      'generation_config.json: config.eos_token_id: expected a token or a list of tokens, got "end"',
    );
    answers["config.json"] = page;
    await expect(endTokensOf()).rejects.toThrow("files: expected config.json, got none there");
    expect(heed().memory().tensors.count).toBe(0);
  });

  test("is read with one request for each file", async () => {
    await expectLoaded();
    const names = ["config.json", "generation_config.json", "model.safetensors"];
    expect(requests).toEqual(names.map((name) => `${name} bytes=0-`));
  });

  test("is read from several files, whose requests wait for their turn", async () => {
    const shards = shardsOf(llama({}, 3000), 2);
    answers = Object.fromEntries(
      Object.entries(shards).map(([name, bytes]) => [name, (a, b) => send(a, b, bytes)]),
    );
    await expectLoaded();
  });

  test("goes on where the connection broke off", async () => {
    let cuts = 0;
    answers["model.safetensors"] = (request, response) =>
      send(request, response, weights, { most: ++cuts < 4 ? 50_000 : Number.POSITIVE_INFINITY });
    const seen: LoadProgress[] = [];
    await expectLoaded({ onProgress: (progress: LoadProgress) => seen.push(progress) });
    expect(requests.slice(2)).toEqual(
      [0, 50_000, 100_000, 150_000].map((at) => `model.safetensors bytes=${at}-`),
    );
    expect(seen.at(-1)?.loaded).toBe(seen.at(-1)?.total);
  });

  test("is no longer requested where only the beginning of a GGUF file is needed", async () => {
    const tokens = {
      ...{ "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": ["a", "b"] },
      "tokenizer.ggml.merges": [],
    };
    // Larger than the buffers of the system, so that the end of a request can be told from the end of the file.
    const large = plain(new Float32Array(2 ** 23), [2 ** 23]);
    const tensors = { ...packedOf(llama().tensors, 4), large };
    const known = ggufOf({ ...metadataOf("llama", llamaSizes), ...tokens }, tensors);
    const unknown = ggufOf(metadataOf("rwkv6", llamaSizes), tensors);
    let open = 0;
    const sending = (bytes: Uint8Array): Answer => {
      return (request, response) => {
        ++open;
        response.on("close", () => --open);
        send(request, response, bytes);
      };
    };
    answers["known.gguf"] = sending(known);
    answers["unknown.gguf"] = sending(unknown);
    const tokenizer = await loadTokenizer(`${address}known.gguf`, Tokenizer);
    expect(tokenizer.encode("ab").ids).toEqual([0, 1]);
    await expect.poll(() => open).toBe(0);
    await expect(loadModel(heed(), `${address}unknown.gguf`)).rejects.toThrow("rwkv6");
    await expect.poll(() => open).toBe(0);
  });

  test("goes on, too, if the server knows no ranges", async () => {
    let cuts = 0;
    const name = "model.safetensors";
    answers[name] = (request, response) =>
      send(request, response, weights, {
        ranges: false,
        most: ++cuts < 3 ? 50_000 * cuts : Number.POSITIVE_INFINITY,
      });
    await expectLoaded();
    expect(requests.filter((request) => request.startsWith(name)).length).toBe(3);
  });

  test("waits for a server that is overloaded", async () => {
    let attempts = 0;
    const answer = answers["config.json"] as Answer;
    answers["config.json"] = (request, response) =>
      ++attempts < 3 ? response.writeHead(503).end() : answer(request, response);
    await expectLoaded();
    expect(attempts).toBe(3);
  });

  test("is refused if a file is not there, or not for everyone", async () => {
    const { "config.json": config, "model.safetensors": _, ...rest } = answers;
    answers = { ...rest, ...(config && { "config.json": config }) };
    const missing = await refusal();
    expect(missing.code).toBe("load");
    expect(missing.message).toBe(
      "files: expected model.safetensors or model.safetensors.index.json, got none there",
    );
    answers = {};
    expect((await refusal()).message).toBe("files: expected config.json, got none there");
    answers["config.json"] = (_, response) => response.writeHead(401).end();
    expect((await refusal()).message).toBe(
      `${address}config.json: expected the file, got status 401`,
    );
    expect(requests.filter((request) => request.startsWith("config.json")).length).toBe(3);
  });

  test("has a tokenizer without a config if there is none, but not if it cannot be read", async () => {
    class Tokenizer {
      constructor(
        readonly json: object,
        readonly config: object,
      ) {}
      encode = () => ({ ids: [] });
      decode = () => "";
      token_to_id = () => undefined;
      id_to_token = () => undefined;
    }
    answers["tokenizer.json"] = (a, b) => send(a, b, jsonOf({ version: "1.0" }));
    expect((await loadTokenizer(address, Tokenizer)).config).toEqual({});
    answers["tokenizer_config.json"] = (_, response) => response.writeHead(401).end();
    await expect(loadTokenizer(address, Tokenizer)).rejects.toThrow(
      `${address}tokenizer_config.json: expected the file, got status 401`,
    );
  });

  test("is refused if the file is shorter than its header says", async () => {
    answers["model.safetensors"] = (request, response) =>
      send(request, response, weights.subarray(0, 90_000));
    const { code, message } = await refusal();
    expect(code).toBe("format");
    expect(message).toMatch(/data_offsets: expected \[begin, end\] within the \d+ bytes of data/);
  });

  test("is refused if the file has another length or tag when it goes on", async () => {
    let cuts = 0;
    const longer = new Uint8Array(weights.length + 8);
    answers["model.safetensors"] = (request, response) =>
      send(request, response, ++cuts > 1 ? longer : weights, { most: 50_000 });
    expect((await refusal()).message).toBe(
      `${address}model.safetensors: the file changed while it was read`,
    );
    cuts = 0;
    answers["model.safetensors"] = (request, response) =>
      send(request, response, weights, { most: 50_000, tag: `"${++cuts}"` });
    const { code, message } = await refusal();
    expect(code).toBe("format");
    expect(message).toBe(`${address}model.safetensors: the file changed while it was read`);
  });

  test("is refused if no connection brings a byte more", async () => {
    answers["model.safetensors"] = (request, response) =>
      request.headers.range === "bytes=0-"
        ? send(request, response, weights, { most: 50_000 })
        : response.destroy();
    const { code, message } = await refusal();
    expect(code).toBe("load");
    expect(message).toBe(
      `${address}model.safetensors: expected the file, but it is not reachable, or its server does not permit this page to read it`,
    );
  }, 60_000);

  test("is refused if every connection breaks off at the same byte", async () => {
    answers["model.safetensors"] = (request, response) =>
      send(request, response, weights, { ranges: false, most: 50_000 });
    const { code, message } = await refusal();
    expect(code).toBe("load");
    const place = `at byte 50000 of ${weights.length}`;
    expect(message).toBe(`${address}model.safetensors: the connection broke off ${place}`);
  }, 60_000);

  test("is not kept in Node", async () => {
    const seen = new Set<boolean>();
    await expectLoaded({ keep: true, onProgress: ({ kept }: LoadProgress) => seen.add(kept) });
    expect(seen).toEqual(new Set([false]));
    expect(await listKept()).toEqual([]);
    expect(await deleteKept(address)).toBe(0);
  });

  test("stops at once, also while it waits", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    answers["model.safetensors"] = (_, response) => {
      response.writeHead(503).end();
      setTimeout(() => controller.abort(reason), 50);
    };
    await expect(loadModel(heed(), address, { signal: controller.signal })).rejects.toBe(reason);
    expect(requests.length).toBe(3);
  });
});
