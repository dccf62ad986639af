// The recipes of the guides, each as the guide has it, from the installed package and in Chromium.

import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import type * as view from "heed/view";
import type { Browser, Page } from "playwright";
import { compile } from "svelte/compiler";
import { build as buildWithVite } from "vite";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { compileScript, parse } from "vue/compiler-sfc";
import { launchChromium } from "../../harness/chromium.mjs";
import { bert, fileOf, filesOf, jsonOf, llama, t5 } from "../checkpoints.js";
import { succeed } from "../child.js";
import { npy } from "../zipped.js";
import { recipesOf } from "./examples.js";
import { copyEngine, isolation, writeFiles } from "./places.js";
import { type Served, serve } from "./serve.js";

const root = join(import.meta.dirname, "../../..");
const { project } = inject("installed");
const folder = join(project, "recipes");

const home = join(project, "node_modules/heed");
const recipes = recipesOf(home, "web/guides/view.md");

/** The strictest policy that the elements need; frameworks that write styles into markup need no more. */
const policy = { "Content-Security-Policy": "default-src 'self'" };

/** Compiles a component of Vue as its own plugins do, with the option that the guide names. */
const vue: Plugin = {
  name: "vue",
  setup({ onLoad }) {
    onLoad({ filter: /\.vue$/ }, ({ path }) => {
      const { descriptor } = parse(readFileSync(path, "utf8"), { filename: path });
      const compilerOptions = { isCustomElement: (tag: string) => tag.startsWith("heed-") };
      const { content } = compileScript(descriptor, {
        ...{ id: "attention", inlineTemplate: true, templateOptions: { compilerOptions } },
      });
      return { contents: content, loader: "js" };
    });
  },
};

const svelte: Plugin = {
  name: "svelte",
  setup({ onLoad }) {
    onLoad({ filter: /\.svelte$/ }, ({ path }) => {
      const { js } = compile(readFileSync(path, "utf8"), { generate: "client", css: "injected" });
      return { contents: js.code, loader: "js" };
    });
  },
};

const bundle = (entry: string, outfile = join(entry.split("/")[0] as string, "out.js")) =>
  build({
    entryPoints: [join(folder, entry)],
    outfile: join(folder, outfile),
    ...{ bundle: true, format: "esm", jsx: "automatic", logLevel: "error" },
    ...{ nodePaths: [join(root, "node_modules")], conditions: ["browser"] },
    define: {
      "process.env.NODE_ENV": '"production"',
      ...{ __VUE_OPTIONS_API__: "true", __VUE_PROD_DEVTOOLS__: "false" },
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
    },
    plugins: [vue, svelte],
  });

const appPage = `<!doctype html><title>Attention</title><div id="app"></div><script type="module" src="out.js"></script>`;

let browser: Browser;
let served: Served;

beforeAll(async () => {
  writeFiles(folder, recipes);
  for (const name of ["react", "vue", "svelte"])
    writeFileSync(join(folder, name, "index.html"), appPage);
  cpSync(home, join(folder, "plain/node_modules/heed"), { recursive: true });
  served = await serve(folder, policy);
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  served?.close();
});

/** Opens a page of the recipes' folder, and closes it after `look`, which must leave no error behind. */
async function open(path: string, look: (page: Page) => Promise<void>): Promise<void> {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    const isIcon = message.location().url.endsWith("/favicon.ico");
    if (["error", "warning"].includes(message.type()) && !isIcon) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(`${served.url}${path}`);
  await look(page);
  await page.close();
  expect(complaints).toEqual([]);
}

/** The numbers and the mask of a matrix, and its error if it refuses them. */
const drawn = (page: Page) =>
  page.locator("heed-matrix").evaluate(async (element: view.HeedMatrix) => {
    await element.updateComplete;
    return { csv: element.csv(), mask: element.mask, error: element.error?.message };
  });

const expected = {
  csv: '"","I","see"\r\n"I",1,0\r\n"see",0.25,0.75\r\n',
  mask: "causal",
};

/** Points at the second row's first cell, as a person does, and reads the page's own sentence about it. */
async function pointAt(page: Page): Promise<string | null> {
  const canvas = page.locator("heed-matrix canvas.alive");
  const { left, top, width, height } = await canvas.evaluate((canvas: HTMLCanvasElement) => ({
    left: Number(canvas.dataset.left),
    top: Number(canvas.dataset.top),
    width: canvas.clientWidth,
    height: canvas.clientHeight,
  }));
  const [x, y] = [left + (width - left) / 4, top + (3 * (height - top)) / 4];
  await canvas.hover({ position: { x, y } });
  await page.waitForTimeout(50);
  return page.locator("#cell").textContent();
}

test("The guide has all recipes", () => {
  expect(new Set(Object.keys(recipes).map((name) => name.split("/")[0]))).toEqual(
    new Set(["plain", "react", "vue", "svelte", "observable", "jupyter", "reveal"]),
  );
});

test.for([
  ["A plain page", "plain", null],
  ["React", "react", "react/main.jsx"],
  ["Vue", "vue", "vue/main.js"],
  ["Svelte", "svelte", "svelte/main.js"],
] as const)("%s shows the matrix and hears what is pointed at", async ([, name, entry]) => {
  if (entry) await bundle(entry);
  await open(`${name}/index.html`, async (page) => {
    await page.locator("heed-matrix canvas.alive").waitFor();
    expect(await drawn(page)).toEqual(expected);
    expect(await page.locator("#cell").textContent()).toBe("Point at a cell.");
    expect(await pointAt(page)).toBe("The weight is 0.25.");
    // The policy forbids images from blobs.
    const type = page.locator("heed-matrix").evaluate(async (element: view.HeedMatrix) => {
      return (await element.png()).type;
    });
    expect(await type).toBe("image/png");
  });
});

describe("Which of the three", () => {
  const pages = recipesOf(home, "web/guides/which.md");
  const weights = /0\.42\d*,0\.57\d*,0\r\n/;
  const site = join(folder, "which");

  beforeAll(() => {
    const next = `
      import { createRoot } from "react-dom/client";
      import Page from "./next/app/page.jsx";
      createRoot(document.querySelector("#app")).render(<Page />);`;
    writeFiles(folder, {
      ...pages,
      "which/next/app/attend.js": pages["which/attend.js"] as string,
      "which/next.jsx": next,
    });
    copyEngine(home, site);
  });

  async function expectWeights(address: string): Promise<void> {
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    await page.goto(address);
    await page.locator("heed-matrix canvas.alive").waitFor();
    expect(await drawn(page)).toMatchObject({ csv: expect.stringMatching(weights) });
    expect(errors).toEqual([]);
    await page.close();
  }

  // The page of Next is rendered by React alone here. The matrix of bundlers has Next.
  test.each(["react.jsx", "vue.js", "svelte.js", "next.jsx"])(
    "%s computes weights and shows them",
    async (entry) => {
      await bundle(`which/${entry}`, `which/${entry}.out.js`);
      const name = `${entry}.html`;
      writeFileSync(join(site, name), appPage.replace("out.js", `${entry}.out.js`));
      const engines = await serve(site, isolation);
      await expectWeights(`${engines.url}${name}`);
      engines.close();
    },
  );

  test("the computation in a worker has the same result, bundled by Vite", async () => {
    const main = `
      import { defineElements, matrix } from "heed/view";
      import { attend } from "./attendInWorker.js";
      attend([[0.1, 0.2], [0.5, 0.6], [0.9, 1.0]]).then((data) => document.body.append(matrix({ data })));`;
    const source = join(project, "which-worker");
    writeFiles(source, {
      "attendInWorker.js": pages["which/attendInWorker.js"] as string,
      "main.js": main,
      "index.html": appPage.replace("out.js", "/main.js"),
    });
    await buildWithVite({ root: source, logLevel: "silent", configFile: false });
    const engines = await serve(join(source, "dist"), isolation);
    await expectWeights(engines.url);
    engines.close();
  });
});

test("The guide's task learns in a worker, bundled by Vite", async () => {
  const tasks = recipesOf(home, "bindings/js/README.md");
  const source = join(project, "tasks");
  writeFiles(project, {
    "tasks/line.worker.ts": tasks["tasks/line.worker.ts"] as string,
    "tasks/page.ts": tasks["tasks/page.ts"] as string,
    "tasks/index.html": appPage.replace("out.js", "/page.ts"),
  });
  const target = "es2022";
  await buildWithVite({ root: source, logLevel: "silent", configFile: false, build: { target } });
  const engines = await serve(join(source, "dist"), isolation);
  const page = await browser.newPage();
  await page.goto(engines.url);
  await expect.poll(() => page.locator("body").innerText(), { timeout: 30_000 }).toBe("y = 2.0 x");
  expect(await page.title()).toMatch(/^loss 0\.00\d\d$/);
  await page.close();
  engines.close();
});

test("A cell of an Observable notebook shows the element that it returns", async () => {
  // The runtime of notebooks computes cells in the order of their dependencies. Observable's compiler splits the source
  // of a cell into a name, a text, and the other names in it; the test does this with regular expressions.
  const main = `
    import { Runtime } from "@observablehq/runtime";
    const module = new Runtime().module();
    const cells = ${JSON.stringify([recipes["observable/picture.js"], recipes["observable/view.js"]])}
      .map((cell) => /^(?:(\\w+) = )?(.*)$/s.exec(cell.trim()).slice(1));
    const named = cells.flatMap(([name]) => name ?? []);
    for (const [name, code] of cells) {
      const place = document.body.appendChild(document.createElement("div"));
      const needs = named.filter((each) => each !== name && new RegExp("\\\\b" + each + "\\\\b").test(code));
      const shows = {
        fulfilled: (value) => value instanceof Element && place.replaceChildren(value),
        rejected: (error) => console.error(error),
      };
      module.variable(shows).define(name ?? null, needs, new Function(...needs, "return " + code));
    }`;
  const site = join(folder, "notebook");
  writeFiles(site, { "main.js": main, "index.html": appPage });
  await bundle("notebook/main.js");
  // Its cells are texts, which a notebook evaluates.
  const notebook = await serve(site, {});
  const page = await browser.newPage();
  const cdn = "https://cdn.jsdelivr.net/npm/heed/";
  await page.route(`${cdn}**`, (route) => {
    const path = join(home, route.request().url().slice(cdn.length));
    const headers = { "access-control-allow-origin": "*", "content-type": "text/javascript" };
    return route.fulfill({ body: readFileSync(path), headers });
  });
  await page.goto(notebook.url);
  await page.locator("heed-matrix canvas.alive").waitFor();
  expect(await drawn(page)).toEqual(expected);
  await page.close();
  notebook.close();
});

test("A cell of a Jupyter notebook shows the one file in its frame", async () => {
  const site = join(folder, "jupyter");
  // A notebook shows the text of HTML(...), and the test needs no other part of IPython.
  writeFiles(site, {
    "IPython/__init__.py": "",
    "IPython/display.py": "class HTML:\n    def __init__(self, data):\n        self.data = data\n",
  });
  writeFileSync(join(site, "attentions.npy"), npy([2, 2], [1, 0, 0.25, 0.75]));
  const zip = "import zipfile; zipfile.ZipFile('attentions.npz', 'w').write('attentions.npy')";
  await succeed("python3", ["-c", zip], { cwd: site });
  const lines = (recipes["jupyter/cell.py"] as string).trim().split("\n");
  const shown = `shown = ${lines.at(-1)}\nprint(shown.data)`;
  const cell = [...lines.slice(0, -1), shown].join("\n");
  const output = await succeed("python3", ["-c", cell], { cwd: site });
  const frame = output.slice(output.indexOf("<div><iframe"));
  writeFileSync(join(site, "index.html"), `<!doctype html><title>Notebook</title>${frame}`);
  const notebook = await serve(site, {});
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(notebook.url);
  const heads = page.frameLocator("iframe").locator("heed-heads");
  await heads.waitFor();
  const csv = await heads.evaluate(async (element: view.HeedHeads) => {
    await element.updateComplete;
    return element.csv();
  });
  expect(csv.split("\r\n")[2]).toMatch(/,0\.25,0\.75$/);
  expect(errors).toEqual([]);
  await page.close();
  notebook.close();
});

test("A slide of reveal.js goes through the steps by its own keys", async () => {
  await bundle("reveal/main.js");
  const index = recipes["reveal/index.html"] as string;
  writeFileSync(join(folder, "reveal/index.html"), index.replace("main.js", "out.js"));
  cpSync(join(root, "node_modules/reveal.js/dist/reveal.css"), join(folder, "reveal/reveal.css"));
  await open("reveal/index.html", async (page) => {
    const steps = page.locator("heed-steps");
    const read = () =>
      steps.evaluate(async (element: view.HeedSteps) => {
        await element.updateComplete;
        const readout = element.shadowRoot?.querySelector<HTMLElement>("[part=readout]");
        return { step: element.step, words: readout?.innerText.replace(/\s+/g, " ") };
      });
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => steps.isVisible()).toBe(true);
    await page.keyboard.press("ArrowRight");
    await expect
      .poll(read)
      .toEqual({ step: 1, words: expect.stringContaining("0.500 × 1.000, so far 0.500") });
    await page.keyboard.press("ArrowRight");
    await expect.poll(async () => (await read()).step).toBe(2);
    await page.keyboard.press("ArrowLeft");
    await expect.poll(async () => (await read()).step).toBe(1);
    // Slides are enlarged by a transform: the event must still report the cell under the pointer.
    await steps.evaluate((element) => {
      element.addEventListener("heed-hover", (event) => {
        (element as HTMLElement).dataset.told = JSON.stringify((event as CustomEvent).detail);
      });
    });
    const canvas = page.locator("heed-steps [data-matrix=q] canvas");
    // hover() waits until the slide no longer moves.
    await canvas.hover();
    const box = (await canvas.boundingBox()) ?? expect.fail("expected the matrix Q on the slide");
    await page.mouse.move(box.x + box.width - 4, box.y + box.height - 4);
    const told = () => steps.getAttribute("data-told").then((text) => JSON.parse(text ?? "null"));
    await expect.poll(told).toEqual({ matrix: "q", row: 1, col: 1, value: 2 });
  });
});

describe("Search, classify, translate and chat", () => {
  const guide = recipesOf(home, "web/guides/texts.md");
  const words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "a", "kitten", "needs", "train", "."];
  const special = (name: string) => ({ SpecialToken: { id: name, type_id: 0 } });
  const text = { Sequence: { id: "A", type_id: 0 } };
  const tokenizer = {
    ...{ version: "1.0", added_tokens: [], decoder: null },
    normalizer: { type: "BertNormalizer", lowercase: true, handle_chinese_chars: true },
    pre_tokenizer: { type: "BertPreTokenizer" },
    model: {
      ...{ type: "WordPiece", unk_token: "[UNK]", continuing_subword_prefix: "##" },
      ...{ max_input_chars_per_word: 100, vocab: Object.fromEntries(words.map((w, i) => [w, i])) },
    },
    post_processor: {
      ...{ type: "TemplateProcessing", single: [special("[CLS]"), text, special("[SEP]")] },
      pair: [],
      special_tokens: Object.fromEntries(
        ["[CLS]", "[SEP]"].map((name) => [
          name,
          { id: name, ids: [words.indexOf(name)], tokens: [name] },
        ]),
      ),
    },
  };
  const { config, tensors } = bert("bert");
  const classifier = {
    "classifier.weight": { data: new Float32Array(24), shape: [2, 12] },
    "classifier.bias": { data: Float32Array.of(0, Math.log(3)), shape: [2] },
  };
  const kinds = {
    search: {
      "config.json": jsonOf({ ...config, architectures: ["BertModel"] }),
      "modules.json": jsonOf([
        { path: "", type: "sentence_transformers.models.Transformer" },
        { path: "1_Pooling", type: "sentence_transformers.models.Pooling" },
      ]),
      "1_Pooling/config.json": jsonOf({ pooling_mode_mean_tokens: true }),
    },
    classify: {
      "config.json": jsonOf({
        ...{ ...config, architectures: ["BertForSequenceClassification"] },
        id2label: { 0: "NEGATIVE", 1: "POSITIVE" },
      }),
    },
    translate: filesOf(t5(words.length, { eos_token_id: 3 })),
    chat: {
      ...filesOf(llama({ eos_token_id: 3, max_position_embeddings: 512 }, words.length)),
      "tokenizer_config.json": jsonOf({
        chat_template: "{% for message in messages %}{{ message['content'] }} {% endfor %}",
      }),
    },
  };

  /** Opens a page of the guide with a small model in place of the hub's. */
  async function openRecipe(
    kind: keyof typeof kinds,
    look: (page: Page) => Promise<void>,
  ): Promise<void> {
    writeFiles(project, guide);
    const source = join(project, kind);
    const alias = {
      "@huggingface/jinja": join(root, "node_modules/@huggingface/jinja"),
      "@huggingface/tokenizers": join(root, "node_modules/@huggingface/tokenizers"),
    };
    const options = { logLevel: "silent", configFile: false, resolve: { alias } } as const;
    const [target, format] = ["es2022", "es"] as const;
    await buildWithVite({ root: source, ...options, build: { target }, worker: { format } });
    const engines = await serve(join(source, "dist"), isolation);
    const context = await browser.newContext();
    const files: Readonly<Record<string, Uint8Array>> = {
      "model.safetensors": fileOf({ ...tensors, ...classifier }),
      "tokenizer.json": jsonOf(tokenizer),
      "tokenizer_config.json": jsonOf({}),
      ...kinds[kind],
    };
    const headers = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "*" };
    await context.route("https://huggingface.co/**", (route) => {
      const [, name = ""] = route.request().url().split("/resolve/main/");
      const file = files[name];
      if (!file) return route.fulfill({ status: 404, headers });
      return route.fulfill({ status: 200, headers, body: Buffer.from(file) });
    });
    const page = await context.newPage();
    await page.goto(engines.url);
    await look(page);
    await context.close();
    engines.close();
  }

  test("finds the text that is nearest to a question", () =>
    openRecipe("search", async (page) => {
      const state = () => page.locator("#state").innerText();
      await expect.poll(state, { timeout: 30_000 }).toBe("Ready: 3 texts");
      await page.getByLabel("Question").fill("a kitten needs a vaccination at eight weeks.");
      await page.getByRole("button").click();
      const first = page.locator("li").first();
      await expect
        .poll(() => first.innerText(), { timeout: 10_000 })
        .toBe("1.00 A kitten needs a vaccination at eight weeks.");
      expect(await page.locator("li").count()).toBe(3);
    }));

  test("labels each text", () =>
    openRecipe("classify", async (page) => {
      const state = () => page.locator("#state").innerText();
      await expect.poll(state, { timeout: 30_000 }).toBe("Ready");
      await page.locator("textarea").fill("a kitten\n\nthe train");
      await page.getByRole("button").click();
      const list = () => page.locator("li").allInnerTexts();
      await expect
        .poll(list, { timeout: 30_000 })
        .toEqual(["POSITIVE (75 %): a kitten", "POSITIVE (75 %): the train"]);
      expect(await state()).toBe("Ready");
    }));

  test("translates, and shows the attention to the source", () =>
    openRecipe("translate", async (page) => {
      const state = () => page.locator("#state").innerText();
      await expect.poll(state, { timeout: 30_000 }).toBe("Ready");
      await page.getByLabel("English").fill("the kitten needs a train");
      await page.getByRole("button").first().click();
      const heads = page.locator("heed-heads");
      const shown = () =>
        heads.evaluate(({ shape, keys, queries }: view.HeedHeads) => ({ shape, keys, queries }));
      await expect.poll(async () => (await shown()).keys, { timeout: 30_000 }).not.toBeNull();
      const { shape, keys, queries } = await shown();
      // Two heads, a row for each token that was written, a column for each token of the source.
      expect(shape).toEqual([2, queries?.length, keys?.length]);
      expect(keys).toContain("kitten");
      expect(await heads.evaluate(({ error }: view.HeedHeads) => error)).toBeNull();
      await expect.poll(state).toBe("Ready");
    }));

  test("answers message after message", () =>
    openRecipe("chat", async (page) => {
      const state = () => page.locator("#state").innerText();
      await expect.poll(state, { timeout: 30_000 }).toBe("Ready");
      for (const [i, message] of ["the kitten", "a train"].entries()) {
        await page.getByLabel("Message").fill(message);
        await page.getByRole("button").click();
        await expect.poll(() => page.locator("li").count(), { timeout: 30_000 }).toBe(2 * i + 2);
        await expect.poll(state, { timeout: 30_000 }).toBe("Ready");
        expect(
          await page
            .locator("li")
            .nth(2 * i)
            .innerText(),
        ).toBe(message);
      }
      expect((await page.locator("li").allInnerTexts()).join("").length).toBeGreaterThan(20);
    }));
});
