// A worker of a page that is ended in the middle of a call. lifecycle.test.ts has the same in Node.

import { load } from "heed";
import { expect, test } from "vitest";
import { expectWorks } from "../values.js";

const source = `
  // Vitest's server adds a call of this to modules, for its own pages.
  globalThis.__vitest_browser_runner__ = { wrapDynamicImport: (load) => load() };
  onmessage = async ({ data: dist }) => {
    const { load } = await import(dist + "/index.js");
    const heed = await load({ threads: 2, maxMemory: 2 ** 28 });
    const x = heed.ones([1, 4, 16384, 64]);
    postMessage("begins");
    heed.attention(x, x, x);
    postMessage("ended before it was stopped");
  };
  onunhandledrejection = ({ reason }) => postMessage(String(reason));`;

test("a worker that ends in the middle of a call disturbs no other engine, and can be started again", async () => {
  const heed = await load({ threads: 2, maxMemory: 2 ** 28 });
  for (let again = 0; again < 3; ++again) {
    const address = URL.createObjectURL(new Blob([source]));
    const worker = new Worker(address);
    const said: unknown[] = [];
    await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(said.push(data));
      worker.onerror = reject;
      worker.postMessage(`${location.origin}/dist`);
    });
    expectWorks(heed);
    worker.terminate();
    expectWorks(heed);
    URL.revokeObjectURL(address);
    expect(said).toEqual(["begins"]);
  }
  heed.dispose();
});
