// Measures how smooth the Playground is: `./dev bench --page`.
//
// In every room the script acts like a user: it moves the pointer over a map, changes a setting repeatedly,
// plays a computation, trains a model. Meanwhile it records the frames of the page: the longest interval is
// the time for which the page did not respond, and the frame rate shows how smoothly it moved. The processor
// both draws and computes here; with a graphics card the page is smoother.

import { resolve } from "node:path";
import { launchChromium } from "../harness/chromium.mjs";
import { launchFirefox } from "../harness/firefox.mjs";
import { serve } from "../harness/server.mjs";

const root = resolve(import.meta.dirname, "../..");

const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** Moves the pointer over a matrix, one or more cells at a time. */
const hover = (matrix) => async (page) => {
  const canvas = page.locator(`main [data-matrix=${matrix}] canvas`).first();
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  const { width, height } = page.viewportSize();
  const [left, top] = [Math.max(0, box.x + box.width / 3), Math.max(0, box.y + box.height / 3)];
  const across = Math.min(width, box.x + box.width) - left - 4;
  const down = Math.min(height, box.y + box.height) - top - 4;
  return async () => {
    for (let i = 0; i < 60; ++i) {
      await page.mouse.move(left + ((i * 37) % across), top + ((i * 23) % down));
      await wait(16);
    }
    await page.mouse.move(1, 1);
  };
};

/** Presses a key on a control, no faster than the page can follow. */
const press = (selector, key) => async (page) => {
  await page.locator(selector).first().focus();
  return async () => {
    for (let i = 0; i < 6; ++i) {
      await page.keyboard.press(key);
      await wait(400);
    }
  };
};

const play = (scope) => async (page) => {
  const button = page.locator(`${scope} button.play`).first();
  await button.scrollIntoViewIfNeeded();
  return async () => {
    await button.click();
    await wait(4000);
  };
};

const clickAt = (selector) => async (page) => async () => {
  await page.locator(selector).first().click();
  await wait(3000);
};

const watch = async () => () => wait(4000);

function stepsScenes(tokens) {
  const room = `Step by step, ${tokens} tokens, 8 heads`;
  const text = Array.from({ length: tokens }, (_, i) => `word${i % 60}`).join("+");
  const at = (stage, more = "") => `text=${text}&heads=8&size=8&step=${stage}${more}`;
  const causal = at("weights", "&mask=causal");
  return [
    [room, "hover the weights, causal", causal, hover("weights")],
    [room, "hover the scores", at("scores"), hover("scores")],
    [room, "temperature", causal, press('.settings input[type="range"]', "ArrowRight")],
    [room, "another head", causal, press(".heads input[type=radio]", "ArrowRight")],
    [room, "another stage", at("tokens"), press(".stage-bar .scrub", "ArrowRight")],
    [room, "play the weights", causal, play(".player")],
    [room, "play the scores", at("scores"), play(".player")],
  ];
}

/** [room, action, link, run]: `run` prepares the room and returns the function to measure. */
const scenes = [
  ...stepsScenes(128),
  ...stepsScenes(512),
  ["Models", "hover", "room=models&model=pronouns", hover("weights")],
  [
    "Models",
    "ablate a head",
    "room=models&model=pronouns",
    press(".one-head .ablate-head", "Space"),
  ],
  ["Learn", "train", "room=learn", watch],
  ["Learn", "train two", "room=learn&compare=on", watch],
  ["Learn", "hover while it trains", "room=learn", hover("head-4")],
  ["RNN, Bahdanau, self-attention", "hover", "room=recurrent", hover("transformer")],
  ["RNN, Bahdanau, self-attention", "play", "room=recurrent", play("main")],
  ["Models", "hover", "room=models&place=30", hover("weights")],
  ["Models", "play", "room=models&place=12", play("main")],
  ["Models", "write", "room=models&length=0", clickAt(".text-foot > button")],
  ["Beyond words", "noise", "room=beyond", press("main input[type=range]", "ArrowRight")],
  ["Beyond words", "hover the melody", "room=beyond&show=melody", hover("attention")],
];

/** The frames of a page during an action. */
async function framesDuring(page, act) {
  await page.evaluate(() => {
    const gaps = [];
    let last = performance.now();
    globalThis.gaps = gaps;
    requestAnimationFrame(function frame() {
      const now = performance.now();
      gaps.push(now - last);
      last = now;
      if (globalThis.gaps === gaps) requestAnimationFrame(frame);
    });
  });
  await act();
  return page.evaluate(() => {
    const { gaps } = globalThis;
    globalThis.gaps = null;
    const seconds = gaps.reduce((sum, gap) => sum + gap, 0) / 1000;
    return { longest: Math.max(...gaps), perSecond: gaps.length / seconds };
  });
}

export async function measurePage({ only, firefox, web = resolve(root, "build/web") }) {
  const server = await serve({ page: web });
  const browser = await (firefox ? launchFirefox() : launchChromium());
  const say = (...cells) => process.stdout.write(`| ${cells.join(" | ")} |\n`);
  try {
    say("room", "what is done", "longest frame, ms", "frames per second");
    say("---", "---", "---:", "---:");
    for (const [room, what, link, how] of scenes) {
      if (!`${room}: ${what}`.includes(only)) continue;
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
      page.setDefaultTimeout(20_000);
      await page.goto(`${server.url}/page/index.html#${link}`);
      await page.waitForSelector("[data-footnote]");
      await wait(2000);
      const act = await how(page);
      await wait(500);
      const { longest, perSecond } = await framesDuring(page, act);
      say(room, what, longest.toFixed(0), perSecond.toFixed(0));
      await page.close();
    }
  } finally {
    await browser.close();
    server.stop();
  }
}
