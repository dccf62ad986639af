// Models that the browser keeps: loaded again, after stopped downloads, with changed files, in two pages at the same
// time, and with a storage that is full or missing. See files_server.ts for the server.

import {
  type CausalLanguageModel,
  deleteKept,
  type LoadModelOptions,
  listKept,
  loadModel,
  loadTokenizer,
} from "heed/models";
import { safetensors } from "heed/nn";
import { afterEach, beforeEach, describe, expect, inject, test, vi } from "vitest";
import { filesOf, jsonOf, llama, shardsOf } from "../checkpoints.js";
import { engine, refusalOf } from "../engine.js";
import type { Answer } from "../files_server.js";

const origin = inject("files");
const part = 2 ** 22;
const name = "model.safetensors";
const checkpoint = llama({}, 100_000);
const files = filesOf(checkpoint);
const weights = files[name] as Uint8Array;
const small = filesOf(llama({}));

/** The parts of the weights that are complete after a number of bytes. */
const wholeParts = (bytes: number) => Math.floor(bytes / part) * part;

let turn = 0;
/** The address of a folder that no other test uses. */
const newFolder = () => `${origin}/${Date.now()}-${++turn}`;

/** The address at which the server has received bytes, because it takes seconds to receive them again. */
const received = new Map<Uint8Array, string>();

async function put(address: string, bytes: Uint8Array, answer: Answer = {}): Promise<void> {
  const send = (to: string, answer: Answer, body: Uint8Array | null) => {
    const headers = { "x-answer": JSON.stringify(answer) };
    return fetch(to, { method: "PUT", headers, body: body as Uint8Array<ArrayBuffer> | null });
  };
  const from = received.get(bytes) ?? newFolder();
  if (!received.has(bytes)) await send(from, {}, bytes);
  received.set(bytes, from);
  await send(address, { ...answer, bytesOf: new URL(from).pathname }, null);
}

/** Serves the files of a model, and returns the address of its folder. */
async function serve(given: Record<string, Uint8Array>, answer: Answer = {}): Promise<string> {
  const folder = newFolder();
  for (const [file, bytes] of Object.entries(given))
    await put(`${folder}/${file}`, bytes, file.endsWith(".safetensors") ? answer : {});
  return folder;
}

/** The requests of files of a folder, such as "config.json bytes=0-", without the file that no folder here has. */
async function requestsOf(folder: string): Promise<string[]> {
  const all: string[] = await (await fetch(`${origin}/requests`)).json();
  const path = `${folder.slice(origin.length)}/`;
  const own = all.filter((line) => line.startsWith(path)).map((line) => line.slice(path.length));
  return own.filter((line) => !line.startsWith("generation_config.json"));
}

/** The kept files of a folder: for each its name, its bytes, and whether it is complete. */
async function keptOf(folder: string): Promise<[string, number, boolean][]> {
  const own = (await listKept()).filter(({ address }) => address.startsWith(`${folder}/`));
  return own.map(({ address, bytes, isComplete }) => [
    address.slice(folder.length + 1),
    bytes,
    isComplete,
  ]);
}

const wholeList = (given: Record<string, Uint8Array>) =>
  Object.entries(given)
    .map(([file, { length }]) => [file, length, true])
    .sort();

/** WebKitGTK's pages have no file system where WebDriver drives them: there, all tests use Cache Storage. */
const hasFileSystem = navigator.storage !== undefined;

type Listed = FileSystemDirectoryHandle & { keys(): AsyncIterable<string> };
const fileSystem = async () =>
  (await (await navigator.storage.getDirectory()).getDirectoryHandle("heed")) as Listed;

/** The names of all that is stored. */
async function storedNames(): Promise<string[]> {
  if (!hasFileSystem) return (await (await caches.open("heed files")).keys()).map(({ url }) => url);
  const names: string[] = [];
  for await (const each of (await fileSystem()).keys()) names.push(each);
  return names;
}

/** Makes the storage refuse all that is written after a number of times. */
function refuseWrites(after: number): void {
  let writes = 0;
  function limited<Given extends unknown[]>(write: (...given: Given) => Promise<void>) {
    return function (this: unknown, ...given: Given): Promise<void> {
      if (++writes <= after) return write.apply(this, given);
      return Promise.reject(new DOMException("full", "QuotaExceededError"));
    };
  }
  if (hasFileSystem) {
    const { write } = FileSystemWritableFileStream.prototype;
    vi.spyOn(FileSystemWritableFileStream.prototype, "write").mockImplementation(limited(write));
  } else {
    const { put } = Cache.prototype;
    vi.spyOn(Cache.prototype, "put").mockImplementation(limited(put));
  }
}

// The browser writes many megabytes to the disk, which takes 40 seconds in one test where the disk is slow.
describe("a model that the browser keeps", { timeout: 180_000 }, () => {
  const heed = engine({ threads: 1 });
  beforeEach(async () => {
    await deleteKept(origin);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    expect(heed().memory().tensors.count).toBe(0);
  });

  /** Loads a model, and compares its weights; returns whether the last tensor's file was kept. */
  async function expectLoaded(
    folder: string,
    options: LoadModelOptions = {},
    expected = weights,
  ): Promise<boolean | undefined> {
    let wasKept: boolean | undefined;
    const onProgress: LoadModelOptions["onProgress"] = ({ kept }) => {
      wasKept = kept;
    };
    const loading = loadModel(heed(), folder, { keep: true, onProgress, ...options });
    const model = (await loading) as CausalLanguageModel;
    const { tensors } = safetensors.read(expected);
    const isEqual = Object.entries(model.stateDict()).map(([key, { data }]) => {
      const other = tensors[key]?.data;
      return other?.length === data.length && data.every((x, i) => x === other[i]);
    });
    model.dispose();
    expect(new Set(isEqual)).toEqual(new Set([true]));
    return wasKept;
  }

  const refusal = (folder: string) => refusalOf(loadModel(heed(), folder, { keep: true }));

  /** Stops a download after some bytes of tensors. */
  async function stopAfter(folder: string, bytes: number): Promise<void> {
    const controller = new AbortController();
    const reason = new Error("enough");
    const { signal } = controller;
    const onProgress: LoadModelOptions["onProgress"] = ({ loaded }) => {
      if (loaded > bytes) controller.abort(reason);
    };
    const loading = loadModel(heed(), folder, { keep: true, signal, onProgress });
    await expect(loading).rejects.toBe(reason);
  }

  test("is loaded again without a request", async () => {
    const folder = await serve(files);
    expect(await expectLoaded(folder)).toBe(true);
    const requests = ["config.json bytes=0-", `${name} bytes=0-`];
    expect(await requestsOf(folder)).toEqual(requests);
    expect(await keptOf(folder)).toEqual(wholeList(files));
    const [first] = await listKept();
    expect(first?.size).toBe(first?.bytes);
    expect(Math.abs(Date.now() - Number(first?.date))).toBeLessThan(600_000);
    for (const address of [folder, `${folder}/`]) await expectLoaded(address);
    expect(await requestsOf(folder)).toEqual(requests);
  });

  test("is not kept unless that is asked for", async () => {
    const folder = await serve(small);
    expect(await expectLoaded(folder, { keep: false }, small[name])).toBe(false);
    expect(await listKept()).toEqual([]);
    await expect(loadModel(heed(), folder, { keep: 1 as never })).rejects.toThrow(
      "keep: expected true or false, got 1",
    );
  });

  test("continues where its download was stopped", async () => {
    const folder = await serve(files);
    await stopAfter(folder, weights.length / 2);
    const [, [, bytes = 0, isComplete] = []] = await keptOf(folder);
    expect(isComplete).toBe(false);
    expect(bytes).toBeGreaterThan(weights.length / 3);
    expect(bytes).toBe(wholeParts(bytes));
    await expectLoaded(folder);
    expect((await requestsOf(folder)).slice(1)).toEqual([
      `${name} bytes=0-`,
      `${name} bytes=${bytes}-`,
    ]);
    expect(await keptOf(folder)).toEqual(wholeList(files));
  });

  test("continues where its page was closed", async () => {
    const folder = await serve(files);
    const source = `
      // Vitest's server adds a call of this to modules, for its own pages.
      globalThis.__vitest_browser_runner__ = { wrapDynamicImport: (load) => load() };
      onmessage = async ({ data: [dist, folder] }) => {
        const { load } = await import(dist + "/index.js");
        const { loadModel } = await import(dist + "/models.js");
        const heed = await load({ threads: 1 });
        const onProgress = ({ loaded }) => loaded > ${weights.length / 2} && postMessage("half");
        await loadModel(heed, folder, { keep: true, onProgress });
      };
      onunhandledrejection = ({ reason }) => postMessage(String(reason));`;
    const worker = new Worker(URL.createObjectURL(new Blob([source])));
    const said = await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = reject;
      worker.postMessage([`${location.origin}/dist`, folder]);
    });
    worker.terminate();
    expect(said).toBe("half");
    await expectLoaded(folder);
    const [, first, second, ...rest] = await requestsOf(folder);
    expect(first).toBe(`${name} bytes=0-`);
    // The worker may have stored one part more before its end, or all of them.
    if (second) expect(Number(/\d+/.exec(second)?.[0])).toBeGreaterThanOrEqual(part);
    expect(rest).toEqual([]);
    expect(await keptOf(folder)).toEqual(wholeList(files));
  });

  test("is whole after connections that broke off, also without ranges", async () => {
    const cuts = [5_000_000, 2_000_000];
    const folder = await serve(files, { cuts });
    await expectLoaded(folder);
    // Where they start differs: a browser may drop bytes that came before the end of their connection.
    expect((await requestsOf(folder)).length).toBe(1 + 3);
    const other = await serve(files, { ranges: false, cuts });
    await stopAfter(other, 6_000_000);
    await expectLoaded(other);
    for (const each of [folder, other]) expect(await keptOf(each)).toEqual(wholeList(files));
  });

  test("begins anew if the file changed, or if its tag does not promise the same bytes", async () => {
    const changed = Uint8Array.from(weights);
    changed[weights.length - 2] = 1;
    for (const [before, after, next] of [
      ['"1"', '"2"', changed],
      ['W/"1"', 'W/"1"', changed],
      [null, null, changed],
      ['"1"', '"1"', small[name] as Uint8Array],
    ] as const) {
      const folder = await serve(files, { tag: before });
      await stopAfter(folder, 9_000_000);
      await put(`${folder}/${name}`, next, { tag: after });
      if (next !== changed) await put(`${folder}/config.json`, small["config.json"] as Uint8Array);
      if (next !== changed) await deleteKept(`${folder}/config.json`);
      await expectLoaded(folder, {}, next);
      const requests = (await requestsOf(folder)).filter((line) => line.startsWith(name));
      expect(requests.at(-1)).toBe(`${name} bytes=0-`);
      expect((await keptOf(folder))[1]).toEqual([name, next.length, true]);
    }
  });

  test("is refused if its server shows it to no other origin, and nothing is kept", async () => {
    const folder = await serve(small, { shown: "nothing" });
    const { code, message } = await refusal(folder);
    expect(code).toBe("load");
    expect(message).toContain("its server does not permit this page to read it");
    expect((await keptOf(folder)).map(([file]) => file)).toEqual(["config.json"]);
  });

  test("is kept, too, if its server shows the usual headers alone", async () => {
    const folder = await serve(files, { shown: "body" });
    await stopAfter(folder, 9_000_000);
    expect(await expectLoaded(folder)).toBe(true);
    // Without a tag, the versions cannot be compared.
    expect((await requestsOf(folder)).at(-1)).toBe(`${name} bytes=0-`);
    expect(await keptOf(folder)).toEqual(wholeList(files));
  });

  test("is refused if the file is shorter than its header says, and can be deleted", async () => {
    const folder = await serve({ ...small, [name]: (small[name] as Uint8Array).slice(0, 5000) });
    expect((await refusal(folder)).message).toMatch(/data_offsets: expected \[begin, end\] within/);
    expect((await keptOf(folder)).map(([file]) => file)).toContain(name);
    expect(await deleteKept(`${folder}/${name}`)).toBe(1);
    await put(`${folder}/${name}`, small[name] as Uint8Array);
    await expectLoaded(folder, {}, small[name]);
  });

  test("is deleted by the address of its folder or of a file", async () => {
    const [folder, other] = [await serve(small), await serve(small)];
    for (const each of [folder, other]) await expectLoaded(each, {}, small[name]);
    expect(await deleteKept(new URL(`${folder}/`))).toBe(2);
    expect(await keptOf(folder)).toEqual([]);
    expect(await keptOf(other)).toEqual(wholeList(small));
    expect(await deleteKept(`${other}/config.json#here`)).toBe(1);
    expect(await deleteKept(other)).toBe(1);
    expect(await deleteKept(other)).toBe(0);
    for (const wrong of [3, undefined, "http://"])
      await expect(deleteKept(wrong as never)).rejects.toThrow("address: expected an address, got");
  });

  test("leaves nothing in the storage that is deleted", async () => {
    const folder = await serve(files);
    await stopAfter(folder, 9_000_000);
    await deleteKept(folder);
    expect(await storedNames()).toEqual([]);
  });

  test("is whole when two load it at once", async () => {
    const folder = await serve(files);
    expect(await Promise.all([expectLoaded(folder), expectLoaded(folder)])).toEqual([true, true]);
    expect(await keptOf(folder)).toEqual(wholeList(files));
    const before = await requestsOf(folder);
    await expectLoaded(folder);
    expect(await requestsOf(folder)).toEqual(before);
  });

  test("does not wait for ever for a page that is frozen", async () => {
    const folder = await serve(files);
    await stopAfter(folder, 9_000_000);
    const before = await keptOf(folder);
    const { setTimeout: later } = globalThis;
    const sooner = (run: () => void, time = 0) => later(run, time === 20_000 ? 50 : time);
    vi.spyOn(globalThis, "setTimeout").mockImplementation(sooner as typeof setTimeout);
    let thaw = () => {};
    const frozen = navigator.locks.request(`heed: ${folder}/${name}`, () => {
      return new Promise<void>((resolve) => {
        thaw = resolve;
      });
    });
    expect(await expectLoaded(folder)).toBe(false);
    expect(await keptOf(folder)).toEqual(before);
    const inUse = /model\.safetensors: expected a file that no page loads/;
    await expect(deleteKept(folder)).rejects.toThrow(inUse);
    const controller = new AbortController();
    const reason = new Error("enough");
    later(() => controller.abort(reason), 20);
    const { signal } = controller;
    await expect(loadModel(heed(), folder, { keep: true, signal })).rejects.toBe(reason);
    thaw();
    await frozen;
    expect(await expectLoaded(folder)).toBe(true);
    expect(await keptOf(folder)).toEqual(wholeList(files));
  });

  test("is loaded whole while another page deletes it or begins another version", async () => {
    for (const tag of ['"1"', 'W/"1"']) {
      // The second part waits until the other page has asked for the lock.
      const folder = await serve(files, { tag, cuts: [5_000_000], isHeld: true });
      const lock = `heed: ${folder}/${name}`;
      async function interfere(): Promise<void> {
        const done = tag === '"1"' ? deleteKept(folder) : expectLoaded(folder);
        const waiting = async () => (await navigator.locks.query()).pending;
        await expect.poll(waiting).toContainEqual(expect.objectContaining({ name: lock }));
        await fetch(`${origin}/cut`);
        await done;
      }
      let other: Promise<void> | undefined;
      let wasKept: boolean | undefined;
      const onProgress: LoadModelOptions["onProgress"] = ({ loaded, kept }) => {
        wasKept = kept;
        if (loaded > 1_000_000) other ??= interfere();
      };
      await expectLoaded(folder, { onProgress });
      await other;
      expect(wasKept).toBe(false);
      expect(await keptOf(folder)).toEqual(tag === '"1"' ? [] : wholeList(files));
      await deleteKept(folder);
      expect(await storedNames()).toEqual([]);
    }
  });

  test("in several files is loaded again without a network", async () => {
    const shards = shardsOf(llama({}, 3000), 2);
    const whole = filesOf(llama({}, 3000))[name];
    const folder = await serve(shards);
    await expectLoaded(folder, {}, whole);
    await put(`${folder}/${name}`, new Uint8Array(0), { isGone: true });
    await expectLoaded(folder, {}, whole);
    expect(await keptOf(folder)).toEqual(wholeList(shards));
  });

  test.runIf(hasFileSystem)(
    "is refused before its download if the storage has no room",
    async () => {
      const before = await serve(small);
      await expectLoaded(before, {}, small[name]);
      const folder = await serve(files);
      const estimate = { quota: 10_000_000, usage: 2_000_000 };
      vi.spyOn(navigator.storage, "estimate").mockResolvedValue(estimate);
      const { code, message } = await refusal(folder);
      expect(code).toBe("storage");
      const expected = `expected ${weights.length} bytes of free storage to keep the file`;
      expect(message).toBe(`${folder}/${name}: ${expected}, got 8000000`);
      expect((await keptOf(folder)).map(([file]) => file)).toEqual(["config.json"]);
      await expectLoaded(before, {}, small[name]);
      expect(await expectLoaded(folder, { keep: false })).toBe(false);
    },
  );

  test("is refused if the storage is full before its end, and continues when there is room", async () => {
    const folder = await serve(files);
    // The record and the bytes of the config, the records of a missing file and of the weights, and two parts.
    refuseWrites(6);
    if (hasFileSystem) vi.spyOn(navigator.storage, "estimate").mockResolvedValue({});
    const { code, message } = await refusal(folder);
    expect(code).toBe("storage");
    const expected = `expected ${weights.length - 2 * part} bytes of free storage to keep the file`;
    expect(message).toBe(`${folder}/${name}: ${expected}, got less`);
    expect((await keptOf(folder))[1]).toEqual([name, 2 * part, false]);
    vi.restoreAllMocks();
    await expectLoaded(folder);
    expect((await requestsOf(folder)).at(-1)).toBe(`${name} bytes=${2 * part}-`);
  });

  test.runIf(hasFileSystem)(
    "is kept in Cache Storage where there is no file system, or is not kept",
    async () => {
      const refuse = () => Promise.reject(new DOMException("refused", "SecurityError"));
      vi.spyOn(navigator.storage, "getDirectory").mockImplementation(refuse);
      await deleteKept(origin);
      const folder = await serve(files);
      await stopAfter(folder, weights.length / 2);
      const [, [, bytes = 0] = []] = await keptOf(folder);
      expect(bytes).toBeGreaterThan(weights.length / 3);
      expect(await expectLoaded(folder)).toBe(true);
      expect((await requestsOf(folder)).at(-1)).toBe(`${name} bytes=${bytes}-`);
      expect(await keptOf(folder)).toEqual(wholeList(files));
      expect(await deleteKept(folder)).toBe(2);
      expect(await listKept()).toEqual([]);
      vi.spyOn(caches, "open").mockImplementation(refuse);
      expect(await expectLoaded(folder)).toBe(false);
      expect(await listKept()).toEqual([]);
      expect(await deleteKept(folder)).toBe(0);
    },
  );

  test("may be named by files at addresses, and has a tokenizer that is kept, too", async () => {
    const folder = await serve({ ...small, "tokenizer.json": jsonOf({ version: "1.0" }) });
    const named = Object.fromEntries(Object.keys(small).map((file) => [file, `${folder}/${file}`]));
    const model = await loadModel(heed(), named, { keep: true });
    model.dispose();
    class Tokenizer {
      constructor(readonly json: object) {}
      encode = () => ({ ids: [] });
      decode = () => "";
      token_to_id = () => undefined;
      id_to_token = () => undefined;
    }
    for (let time = 0; time < 2; ++time) {
      const { json } = await loadTokenizer(folder, Tokenizer, { keep: true });
      expect(json).toEqual({ version: "1.0" });
    }
    const requests = await requestsOf(folder);
    expect(requests.filter((line) => line.startsWith("tokenizer.json")).length).toBe(1);
    expect((await keptOf(folder)).map(([file]) => file)).toEqual([
      ...["config.json", name, "tokenizer.json"],
    ]);
  });

  test.runIf(hasFileSystem)("is not trusted: a record that is none is ignored", async () => {
    const folder = await serve(small);
    await expectLoaded(folder, {}, small[name]);
    const entries = await fileSystem();
    for (const each of await storedNames()) {
      if (!each.endsWith(".json")) continue;
      const writable = await (await entries.getFileHandle(each)).createWritable();
      await writable.write('{"address":"a","size":1,"tag":null,"id":"../../x","date":1}');
      await writable.close();
    }
    expect(await listKept()).toEqual([]);
    await expectLoaded(folder, {}, small[name]);
    expect(await keptOf(folder)).toEqual(wholeList(small));
  });
});
