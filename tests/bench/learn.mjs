// Measures how long models take to learn in a real page:
// `./dev bench --learn reverse-transformer,dates-dot`.
//
// Each model is trained from the beginning by its recipe, in a worker of a separate page. Training
// ends when two evaluations in a row reach the goal's share of correct answers, on 200 examples of
// the validation split.

import { resolve } from "node:path";
import { launchChromium } from "../harness/chromium.mjs";
import { launchFirefox } from "../harness/firefox.mjs";
import { serve } from "../harness/server.mjs";
import { openBench } from "./page.mjs";

const root = resolve(import.meta.dirname, "../..");
const goal = 0.99;

export async function measureLearning({ learn, threads, firefox }) {
  const folders = { bench: resolve(import.meta.dirname, "page"), heed: resolve(root, "dist") };
  const server = await serve(folders);
  const browser = await (firefox ? launchFirefox() : launchChromium());
  const say = (text) => process.stdout.write(`${text}\n`);
  say(
    `${firefox ? "Firefox" : "Chromium"}; until ${goal} of 200 examples held out are answered without a fault`,
  );
  try {
    for (const name of learn.split(","))
      for (const count of threads)
        for (const variant of ["relaxed", "simd"]) {
          const bench = await openBench(browser, server.url);
          const { steps, exact, seconds, isReached } = await bench.ask("learn", {
            ...{ name, variant, threads: count, goal },
          });
          await bench.close();
          const reached = isReached ? "" : `, not reached: ${exact}`;
          say(
            `${name}, ${variant}, ${count} thread(s): ${seconds.toFixed(1)} s, ${steps} steps${reached}`,
          );
        }
  } finally {
    await browser.close();
    server.stop();
  }
}
