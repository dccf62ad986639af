// Starts the system's Firefox, which playwright cannot drive.

import puppeteer from "puppeteer-core";
import { programOf } from "./program.mjs";

const actors =
  "chrome://remote/content/shared/js-process-actors/WebDriverWorkerListenerActor.sys.mjs";

/** Evaluates a function in the window of Firefox itself, which may import Firefox's modules. */
async function inside(browser, run) {
  const { connection } = browser;
  const tree = await connection.send("browsingContext.getTree", { "moz:scope": "chrome" });
  const answer = await connection.send("script.evaluate", {
    expression: `(${run})(ChromeUtils.importESModule(${JSON.stringify(actors)}))`,
    target: { context: tree.result.contexts[0].context },
    awaitPromise: true,
  });
  const { type, result, exceptionDetails } = answer.result;
  if (type !== "success") throw new Error(`Firefox: ${exceptionDetails.text}`);
  return result.value;
}

/**
 * Starts Firefox without the listener to workers that a WebDriver session adds. With a listener, a
 * worker that starts another one waits on the same condition variable as the event loop of the new
 * worker. Firefox 153 notifies only one of them (WorkerPrivate::WaitForIsDebuggerRegistered). If it
 * is the wrong one, the first worker hangs forever.
 *
 * @returns {Promise<import("puppeteer-core").Browser>}
 */
export async function launchFirefox() {
  const browser = await puppeteer.launch({
    browser: "firefox",
    executablePath: programOf("HEED_FIREFOX", "firefox-esr", "firefox"),
    headless: true,
    protocolTimeout: 0, // a reply may take minutes
    args: ["--remote-allow-system-access"],
  });
  await inside(browser, (actors) => actors.unregisterWebDriverWorkerListenerActor());
  return browser;
}

/**
 * The addresses of all workers. One of them must contain `mark`. A process reports all of its
 * workers together, so the list is complete as soon as this worker is in it.
 */
export async function workersOfFirefox(browser, mark) {
  const ask = async (actors, mark) => {
    const found = [];
    const { workerListenerRegistry: registry } = actors;
    const hear = (_, { url }) => found.push(url);
    registry.on("worker-registered", hear);
    actors.registerWebDriverWorkerListenerActor();
    for (let turns = 0; turns < 100 && !found.some((url) => url.includes(mark)); ++turns)
      await new Promise((resolve) => setTimeout(resolve, 20));
    actors.unregisterWebDriverWorkerListenerActor();
    registry.off("worker-registered", hear);
    return JSON.stringify(found);
  };
  return JSON.parse(await inside(browser, `(actors) => (${ask})(actors, ${JSON.stringify(mark)})`));
}
