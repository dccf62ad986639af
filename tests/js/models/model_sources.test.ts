// One way to a model: each source of files gives the same model and tokenizer, from a server, from the file system
// of Node and in a worker, too.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { Tokenizer } from "@huggingface/tokenizers";
import {
  ByteTokenizer,
  type CausalLanguageModel,
  loadModel,
  loadTokenizer,
  type ModelSource,
  type TaskModel,
  writeText,
} from "heed/models";
import { loadInWorker } from "heed/worker";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { engine, refusalOf } from "../engine.js";
import { send } from "../files_server.js";
import { any } from "../refusals/case.js";

const root = join(import.meta.dirname, "../../..");
const write = join(root, "web/public/models/write");
const dates = join(root, "web/public/models/dates-dot");
const names = ["config.json", "model.safetensors", "tokenizer.json"];
const contents = names.map((name) => new Uint8Array(readFileSync(join(write, name))));
const textOf = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);
const objectOf = <T>(make: (bytes: Uint8Array<ArrayBuffer>, name: string) => T) =>
  Object.fromEntries(contents.map((bytes, i) => [names[i], make(bytes, names[i] as string)]));
const files = objectOf((bytes, name) => new File([bytes], name));

let requests: string[] = [];
// Like the hub: files are below resolve/main.
const server = createServer((request, response) => {
  requests.push(request.url ?? "");
  const [, path] = /^\/owner\/write\/resolve\/main\/(.+?)(\?.*)?$/.exec(request.url ?? "") ?? [];
  const at = names.indexOf(path ?? "");
  if (at < 0) response.writeHead(404).end();
  else send(request, response, contents[at] as Uint8Array);
});
let address = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/owner/write/resolve/main`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const prompt = "And God said, Let there be";
const said = " a great stone upon the earth, and upon the earth";

describe("a model and its tokenizer come from", () => {
  const heed = engine({ threads: 1 });

  // language_files.test.ts has more kinds of files and of lists of them.
  test.each<[string, () => ModelSource]>([
    ["the address of a folder, as a hub has it", () => address],
    ["a URL", () => new URL(`${address}/`)],
    ["the address of the weights", () => `${address}/model.safetensors?download=true`],
    ["Files by name", () => files],
    [
      "a folder handle",
      () => ({
        async *keys() {
          yield* names;
        },
        getFileHandle: async (name) => ({ getFile: async () => files[name] as File }),
      }),
    ],
    ["an absolute path of Node", () => write],
    ["a relative path", () => relative(process.cwd(), write)],
    ["the path of the weights", () => join(write, "model.safetensors")],
    ["the path of the config", () => join(write, "config.json")],
    ["a file: URL", () => pathToFileURL(write)],
    [
      "a file: URL in a text, of the weights",
      () => pathToFileURL(join(write, "model.safetensors")).href,
    ],
    ["paths by name", () => objectOf((_, name) => join(write, name))],
    ["addresses by name", () => objectOf((_, name) => new URL(`${address}/${name}`))],
  ])("%s", async (_, source) => {
    const { model, tokenizer } = await loadModel(heed(), source(), { tokenizer: true });
    const { text } = await writeText(model, tokenizer, prompt, { maxLength: 12 });
    expect(text).toBe(said);
    model.dispose();
    expect(heed().memory().tensors.count).toBe(0);
    // The tokenizer alone, by either class.
    expect((await loadTokenizer(source())).toFile()).toBe(tokenizer.toFile());
    const theirs = await loadTokenizer(source(), Tokenizer);
    expect(theirs.encode(prompt).ids).toEqual(tokenizer.encode(prompt).ids);
  });

  test.each([
    ["its page", "https://huggingface.co/owner/write"],
    ["the page of its files", "https://huggingface.co/owner/write/tree/main"],
    ["the page of its weights", "https://huggingface.co/owner/write/blob/main/model.safetensors"],
    ["its files", "https://huggingface.co/owner/write/resolve/main/"],
  ])("the hub, by the address of %s", async (_, given) => {
    const original = fetch;
    const elsewhere = vi.spyOn(globalThis, "fetch").mockImplementation((url, init) => {
      const path = String(url).replace("https://huggingface.co/owner/write/resolve/main", address);
      return original(path, init);
    });
    try {
      const { model, tokenizer } = await loadModel(heed(), given, { tokenizer: true });
      expect([`${model}`, tokenizer.size]).toEqual([expect.stringContaining("Causal"), 4096]);
      model.dispose();
    } finally {
      elsewhere.mockRestore();
    }
  });

  test("the text and the bytes of two files, without a tokenizer", async () => {
    const given = { config: textOf(contents[0]), weights: contents[1] as Uint8Array };
    const tokenizer = ByteTokenizer.fromFile(textOf(contents[2]));
    const loaded = [await loadModel(heed(), given), await loadModel(heed(), given, {})];
    for (const model of loaded) {
      const start = [tokenizer.encode(prompt)];
      const [ids] = await any<CausalLanguageModel>(model).generate(start, { maxLength: 12 });
      expect(tokenizer.decode(ids ?? [])).toBe(said);
      model.dispose();
    }
    await expect(loadModel(heed(), given, { tokenizer: true })).rejects.toThrow(
      "files: expected tokenizer.json, got config.json, model.safetensors",
    );
  });

  test("a class of tokenizers that the caller gives", async () => {
    const { model, tokenizer } = await loadModel(heed(), write, { tokenizer: Tokenizer });
    expect(tokenizer).toBeInstanceOf(Tokenizer);
    model.dispose();
  });

  test("the package's own format, in a folder and by its weights", async () => {
    for (const source of [dates, join(dates, "model.safetensors"), pathToFileURL(dates)]) {
      const model = await loadModel(heed(), source);
      expect((model as TaskModel).config.task).toBe("dates");
      model.dispose();
    }
  });

  test("no place where there is none, and the error says so before it reads weights", async () => {
    requests = [];
    const refusal = (source: ModelSource, options = {}) =>
      refusalOf(loadModel(heed(), source, options));
    const missing = await refusal("/no/such/folder");
    expect([missing.code, missing.message]).toEqual([
      "load",
      'files: expected a folder or a file of a model at "/no/such/folder", got none there',
    ]);
    expect((await refusal("owner/name")).message).toMatch(
      /got none there; on the hub it is https:\/\/huggingface.co\/owner\/name$/,
    );
    expect((await refusal(join(write, "README.md"))).message).toMatch(
      /^files: expected a folder, or a file of safetensors or GGUF, got ".*README.md"$/,
    );
    expect((await refusal(join(root, "web/public"))).message).toMatch(
      /^files: expected config.json, got .*models/,
    );
    expect((await refusal("file://elsewhere/a")).message).toBe(
      'files: expected a file: URL of this computer, got "file://elsewhere/a"',
    );
    const absent = await refusal({ ...files, "config.json": `${address}/other.json` });
    expect([absent.code, absent.message]).toEqual([
      "load",
      `config.json: expected a file at ${address}/other.json, got none there`,
    ]);
    expect((await refusal(dates, { tokenizer: true })).message).toMatch(
      /^files: expected tokenizer.json, got config.json, model.safetensors/,
    );
    expect((await refusal(write, { tokenizer: "yes" })).message).toBe(
      'tokenizer: expected true or a class of tokenizers, got "yes"',
    );
    expect(requests.filter((url) => url.includes("safetensors"))).toEqual([]);
    expect(heed().memory().tensors.count).toBe(0);
  });
});

test("a model and its tokenizer come in a worker", async () => {
  const heed = await loadInWorker({ threads: 1 });
  const { models } = heed;
  const sources = [address, new URL(address), write, files];
  for (const source of sources) {
    const { model, tokenizer } = await models.loadModel(heed, source, { tokenizer: true });
    const written = await models.writeText(model, tokenizer, prompt, { maxLength: 12 });
    expect(written.text).toBe(said);
    const alone = await models.loadTokenizer(source);
    expect((await alone.encode(prompt)).ids).toEqual((await tokenizer.encode(prompt)).ids);
    model.dispose();
    await expect.poll(async () => (await heed.memory()).tensors.count).toBe(0);
  }
  const remote = any<{ loadTokenizer: typeof loadTokenizer }>(models);
  await expect(remote.loadTokenizer(address, Tokenizer)).rejects.toThrow(
    "Tokenizer: expected a class (in heed/worker, only a task can pass one), got a function",
  );
  heed.dispose();
});
