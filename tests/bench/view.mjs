// Measures, in Chromium, how soon <heed-heads> and the other elements of heed/view show large
// attention, and how smoothly they follow the pointer: ./dev bench --view [--only TEXT].
import { resolve } from "node:path";
import { launchChromium } from "../harness/chromium.mjs";
import { serve } from "../harness/server.mjs";
import { parse } from "./options.mjs";

const { only } = parse();

const server = await serve({ dist: resolve(import.meta.dirname, "../../dist") });

const page = `<!doctype html><title>heed/view</title><body><script type="module">
import * as view from "/dist/view.js";
Object.assign(window, { view, isReady: true });
</script>`;

/** Layers, heads and tokens of each case. */
const cases = {
  "heads, 144 of 512 tokens": ["heads", 12, 12, 512, {}],
  "heads, 144 of 512 tokens, sorted by entropy": ["heads", 12, 12, 512, { order: "entropy" }],
  "heads, 144 of 512 tokens, as lines": ["heads", 12, 12, 512, { view: "lines" }],
  "heads, 144 of 2,048 tokens": ["heads", 12, 12, 2048, {}],
  "heads, 24 of 2,048 tokens (10^8 numbers), sorted by entropy": [
    "heads",
    2,
    12,
    2048,
    { order: "entropy" },
  ],
  "matrix, 10,000 tokens (10^8 numbers)": ["matrix", 1, 1, 10_000, {}],
  "lines, 2,048 tokens": ["lines", 1, 1, 2048, {}],
  "lines, 10,000 tokens (10^8 numbers)": ["lines", 1, 1, 10_000, {}],
  "tokens, 2,048 tokens": ["tokens", 1, 1, 2048, {}],
};

/** Runs in the page: makes causal attention, shows it, and measures until all that is on the screen is drawn. */
async function show([kind, layers, heads, size, options]) {
  const data = Array.from({ length: layers }, () => {
    const weights = new Float32Array(heads * size * size);
    let seed = 1;
    for (let row = 0; row < heads * size; ++row) {
      const last = row % size;
      let sum = 0;
      for (let j = 0; j <= last; ++j) {
        seed = (seed * 1664525 + 1013904223) >>> 0;
        const weight = (seed / 2 ** 32) ** 8;
        weights[row * size + j] = weight;
        sum += weight;
      }
      for (let j = 0; j <= last; ++j) weights[row * size + j] /= sum;
    }
    return { shape: [heads, size, size], data: weights };
  });
  const { default: _, ...view } = window.view;
  const tokens = Array.from({ length: size }, (_, i) => ` token${i}`);
  const tasks = [];
  const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries()));
  observer.observe({ type: "longtask" });
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  await frame();
  await frame();
  // Setting tensors copies them, because the engine's memory may move. So a single array is given
  // directly.
  const [only] = data;
  const start = performance.now();
  const element = view[kind]({
    ...(layers === 1
      ? { data: only.data, shape: only.shape }
      : { data: data.map(({ data, shape }) => ({ data, shape })) }),
    ...{ tokens, mask: "causal", range: "head", ...options },
  });
  const set = performance.now() - start;
  document.body.append(element);
  const inner = () => element.shadowRoot.querySelector("heed-matrix, heed-lines") ?? element;
  const words = (host) => host.shadowRoot.querySelector(".readout")?.textContent ?? "";
  const blanks = () =>
    [...element.shadowRoot.querySelectorAll("[data-measure]")].filter(
      ({ textContent }) => textContent === "…",
    ).length;
  const isBusy = () =>
    /\d %$/.test(words(inner()).trim()) ||
    /Measuring/.test(element.shadowRoot.querySelector(".about")?.textContent ?? "");
  let first = 0;
  do {
    await frame();
    const isDrawn =
      kind === "heads"
        ? element.shadowRoot.querySelector(".thumbnail canvas[width]") !== null
        : kind === "lines"
          ? element.shadowRoot.querySelector(".line-others path") !== null
          : !isBusy();
    if (first === 0 && isDrawn) first = performance.now() - start;
  } while (first === 0 || isBusy() || blanks() > 0);
  const all = performance.now() - start;
  await new Promise((resolve) => setTimeout(resolve, 200));
  const longest = Math.max(
    0,
    ...tasks.filter(({ startTime }) => startTime > start + set).map(({ duration }) => duration),
  );
  Object.assign(window, { element, tasks });
  return { set, first, all, longest, error: element.error?.message };
}

/** Runs in the page: where the pointer should move. */
function target() {
  const host = window.element.shadowRoot.querySelector("heed-matrix, heed-lines") ?? window.element;
  const part = host.shadowRoot.querySelector("canvas.alive, .token-lines, [part=keys]");
  part.scrollIntoView({ block: "center" });
  const { left, top, right, bottom } = part.getBoundingClientRect();
  return [
    Math.max(0, left),
    Math.max(0, top),
    Math.min(innerWidth, right),
    Math.min(innerHeight, bottom),
  ];
}

const browser = await launchChromium("--js-flags=--max-old-space-size=8192");
const ms = (time) => `${time.toFixed(0)} ms`;
for (const [name, given] of Object.entries(cases)) {
  if (!name.includes(only)) continue;
  const tab = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  tab.setDefaultTimeout(120_000);
  await tab.route(`${server.url}/`, (route) =>
    route.fulfill({ contentType: "text/html", body: page }),
  );
  await tab.goto(`${server.url}/`);
  await tab.waitForFunction("window.isReady");
  const { set, first, all, longest, error } = await tab.evaluate(show, given);
  if (error) throw new Error(`${name}: ${error}`);
  const [left, top, right, bottom] = await tab.evaluate(target);
  await tab.evaluate(() => {
    window.frames = [];
    const tick = (time) => {
      window.frames.push(time);
      window.next = requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    window.tasks.length = 0;
  });
  for (let i = 0; i < 60; ++i)
    await tab.mouse.move(
      left + ((right - left) * (5 + ((i * 37) % 90))) / 100,
      top + ((bottom - top) * (5 + i * 1.5)) / 100,
    );
  const { frames, tasks, heap } = await tab.evaluate(() => {
    cancelAnimationFrame(window.next);
    const times = window.frames
      .slice(1)
      .map((time, i) => time - window.frames[i])
      .sort((a, b) => a - b);
    return {
      frames: { median: times[times.length >> 1], slow: times[Math.floor(times.length * 0.95)] },
      tasks: Math.max(0, ...window.tasks.map(({ duration }) => duration)),
      heap: performance.memory.usedJSHeapSize,
    };
  });
  console.log(
    `${name}: set ${ms(set)}, first picture ${ms(first)}, all on the screen ${ms(all)}, longest task ${longest === 0 ? "< 50 ms" : ms(longest)}; ` +
      `hover: frames of ${ms(frames.median)}, 95 % within ${ms(frames.slow)}, longest task ${tasks === 0 ? "< 50 ms" : ms(tasks)}; heap ${(heap / 1e6).toFixed(0)} MB`,
  );
  await tab.close();
}
await browser.close();
server.stop();
