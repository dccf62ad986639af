/**
 * Drives WebKit, Safari's engine, by the W3C's WebDriver protocol. It uses WebKitGTK's MiniBrowser
 * on a display of Xvfb, from Debian's packages webkit2gtk-driver and xvfb. Each object starts its
 * own processes, which `close` ends.
 */
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as after } from "node:timers/promises";
import { programOf } from "./program.mjs";

function miniBrowser() {
  const given = process.env.HEED_WEBKIT;
  if (given) return given;
  for (const libraries of ["/usr/lib", "/usr/libexec", "/usr/lib64"]) {
    if (!existsSync(libraries)) continue;
    // Debian installs them in a folder named after the architecture.
    for (const folder of ["", ...readdirSync(libraries).filter((name) => name.includes("-linux-"))])
      for (const version of ["4.1", "4.0", "6.0"]) {
        const program = `${libraries}/${folder}/webkit2gtk-${version}/MiniBrowser`;
        if (existsSync(program)) return program;
      }
  }
  throw new Error(
    "MiniBrowser: expected webkit2gtk-driver to be installed, or its path in HEED_WEBKIT",
  );
}

/** @returns {Promise<number>} */
function freePort() {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Does not keep the process alive. */
const pause = (milliseconds, value) => after(milliseconds, value, { ref: false });

/** Starts Xvfb on a free display. */
async function startDisplay() {
  const xvfb = spawn(
    programOf("HEED_XVFB", "Xvfb"),
    ["-displayfd", "3", "-screen", "0", "1600x1200x24", "-nolisten", "tcp"],
    { stdio: ["ignore", "ignore", "ignore", "pipe"] },
  );
  const number = await new Promise((resolve, reject) => {
    xvfb.stdio[3].once("data", (text) => resolve(String(text).trim()));
    xvfb.once("error", reject);
    xvfb.once("exit", (code) => reject(new Error(`Xvfb ended with code ${code}`)));
  });
  return { display: `:${number}`, process: xvfb };
}

export class WebKit {
  /** @type {import("node:child_process").ChildProcess[]} */
  #processes;
  /** @type {string} */
  #url;
  #session = "";
  /** The version of MiniBrowser. */
  version = "";

  constructor(processes, url) {
    this.#processes = processes;
    this.#url = url;
  }

  /**
   * @param {object} options
   * @param {boolean} [options.sharedMemory] whether isolated pages have SharedArrayBuffer, as in
   *     Safari; true by default, while WebKitGTK's own pages have none
   */
  static async launch({ sharedMemory = true } = {}) {
    const binary = miniBrowser();
    const { display, process: xvfb } = await startDisplay();
    const port = await freePort();
    const driver = spawn(programOf("HEED_WEBKIT_DRIVER", "WebKitWebDriver"), [`--port=${port}`], {
      stdio: "ignore",
      env: {
        ...process.env,
        DISPLAY: display,
        GDK_BACKEND: "x11",
        LIBGL_ALWAYS_SOFTWARE: "1",
        // The threads of llvmpipe (Mesa 22.3) free lists that WebKit still reads, which ends its process now and then.
        LP_NUM_THREADS: "0",
        NO_AT_BRIDGE: "1",
        ...(sharedMemory && { JSC_useSharedArrayBuffer: "1" }),
        // As root, the sandbox does not start.
        ...(process.getuid?.() === 0 && { WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1" }),
      },
    });
    const webkit = new WebKit([driver, xvfb], `http://127.0.0.1:${port}`);
    try {
      await webkit.#open(binary);
    } catch (error) {
      await webkit.close();
      throw error;
    }
    return webkit;
  }

  async #open(binary) {
    for (let tries = 100; ; --tries) {
      const status = await fetch(`${this.#url}/status`).catch(() => null);
      if (status?.ok) break;
      if (tries === 0) throw new Error("WebKitWebDriver does not answer");
      await pause(50);
    }
    const args = [
      "--automation",
      // A service worker would outlive the server of its test.
      "--features=-ServiceWorkers",
    ];
    const capabilities = {
      alwaysMatch: {
        "webkitgtk:browserOptions": { binary, args },
        // `goto` does the waiting: the driver's own waiting ends with an error without a reason.
        pageLoadStrategy: "none",
      },
    };
    const { sessionId, capabilities: has } = await this.#ask("POST", "/session", { capabilities });
    this.version = has.browserVersion;
    this.#session = `/session/${sessionId}`;
    await this.#ask("POST", "/timeouts", { script: 3_600_000 });
  }

  async #ask(method, path, body) {
    const response = await fetch(`${this.#url}${this.#session}${path}`, {
      method,
      ...(body !== undefined && {
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      }),
    });
    const { value } = await response.json();
    if (response.ok) return value;
    const { error, message } = value;
    throw new Error(`WebDriver, ${path}: ${error}: ${message}`);
  }

  /**
   * Opens an address and waits until everything that its document names is loaded.
   *
   * @param {string} url
   */
  async goto(url, { timeout = 60_000 } = {}) {
    const withoutHash = (address) => address.replace(/#.*/, "");
    const before = await this.evaluate("() => (globalThis.isLeft = true, location.href)");
    const navigate = () => this.#ask("POST", "/url", { url });
    await navigate();
    if (url.includes("#") && withoutHash(url) === withoutHash(before)) return;
    const look = "() => globalThis.isLeft ? 'still ' + location : document.readyState";
    const start = performance.now();
    let seen = "";
    for (let tries = 1; performance.now() < start + timeout; await pause(10)) {
      // If its document goes away, a script ends with an error or without an answer.
      const looked = this.evaluate(look).catch(({ message }) => message);
      seen = await Promise.race([looked, pause(2000, "it does not answer")]);
      if (seen === "complete") return;
      // On a busy machine WebKitGTK 2.50 sometimes loses a navigation and stays on the old page.
      if (!seen.startsWith("still") || performance.now() < start + tries * 5000) continue;
      ++tries;
      await navigate();
    }
    throw new Error(`${url}: expected it to be loaded after ${timeout} ms: ${seen}`);
  }

  /**
   * Runs the source of a function in the page with plain values, and returns its result, awaited.
   *
   * @param {string} source
   * @param {readonly unknown[]} args
   * @returns {Promise<unknown>}
   */
  async evaluate(source, args = []) {
    const script = `
      const [args, done] = arguments;
      Promise.resolve().then(() => (${source})(...args)).then(
        (value) => done({ value }),
        (error) => done({ error: String(error?.message ?? error) }),
      );`;
    const answer = await this.#ask("POST", "/execute/async", { script, args: [args] });
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.value;
  }

  /**
   * Sets the size of the page, without the borders of the window.
   *
   * @param {number} width
   * @param {number} height
   */
  async resize(width, height) {
    let [outerWidth, outerHeight] = [width, height];
    for (let tries = 0; tries < 3; ++tries) {
      await this.#ask("POST", "/window/rect", { width: outerWidth, height: outerHeight });
      const size =
        "() => new Promise((done) => requestAnimationFrame(() => done([innerWidth, innerHeight])))";
      const [inner, tall] = await this.evaluate(size);
      if (inner === width && tall === height) return;
      outerWidth += width - inner;
      outerHeight += height - tall;
    }
  }

  async #act(source) {
    await this.#ask("POST", "/actions", { actions: [source] });
  }

  /**
   * Moves the mouse to a point of the view, in CSS pixels, and clicks there if `click` is set.
   *
   * @param {{ readonly x: number, readonly y: number }} point
   */
  async point({ x, y }, { click = false } = {}) {
    const move = { type: "pointerMove", duration: 0, x: Math.round(x), y: Math.round(y) };
    const press = [
      { type: "pointerDown", button: 0 },
      { type: "pointerUp", button: 0 },
    ];
    const actions = click ? [move, ...press] : [move];
    await this.#act({
      type: "pointer",
      id: "mouse",
      parameters: { pointerType: "mouse" },
      actions,
    });
  }

  /**
   * Presses keys, releases them, or types them one after the other: characters, or WebDriver's codes of other keys.
   *
   * @param {Iterable<string>} keys
   */
  async keys(keys, types = ["keyDown", "keyUp"]) {
    const actions = [...keys].flatMap((value) => types.map((type) => ({ type, value })));
    await this.#act({ type: "key", id: "keyboard", actions });
  }

  /** A PNG of the view. */
  async screenshot() {
    return Buffer.from(await this.#ask("GET", "/screenshot"), "base64");
  }

  /** Ends all processes that were started. */
  async close() {
    // A browser that hangs is ended too.
    if (this.#session) await Promise.race([this.#ask("DELETE", "").catch(() => {}), pause(10_000)]);
    await Promise.all(
      this.#processes.map((child) => {
        const hasEnded = child.exitCode !== null || child.signalCode !== null;
        const ended = hasEnded ? null : new Promise((resolve) => child.once("exit", resolve));
        child.kill();
        return ended;
      }),
    );
  }
}
