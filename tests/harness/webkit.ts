/**
 * Drives WebKit, Safari's engine, by the W3C's WebDriver protocol: WebKitGTK's MiniBrowser on a display of Xvfb, which
 * Debian's packages webkit2gtk-driver and xvfb bring. Each has processes of its own, which `close` ends.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import type { Readable } from "node:stream";
import { programOf } from "./program.mjs";

export interface WebKitOptions {
  /** Whether isolated pages have SharedArrayBuffer, as in Safari; by default WebKitGTK has none. Default: true. */
  readonly sharedMemory?: boolean;
}

/** A point of the view, in CSS pixels. */
type Point = { readonly x: number; readonly y: number };

function miniBrowser(): string {
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

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** Starts Xvfb on a free display. */
async function startDisplay(): Promise<{ display: string; process: ChildProcess }> {
  const xvfb = spawn(
    programOf("HEED_XVFB", "Xvfb"),
    ["-displayfd", "3", "-screen", "0", "1600x1200x24", "-nolisten", "tcp"],
    { stdio: ["ignore", "ignore", "ignore", "pipe"] },
  );
  const number = await new Promise<string>((resolve, reject) => {
    (xvfb.stdio[3] as Readable).once("data", (text) => resolve(String(text).trim()));
    xvfb.once("error", reject);
    xvfb.once("exit", (code) => reject(new Error(`Xvfb ended with code ${code}`)));
  });
  return { display: `:${number}`, process: xvfb };
}

export class WebKit {
  readonly #processes: ChildProcess[];
  readonly #url: string;
  #session = "";

  private constructor(processes: ChildProcess[], url: string) {
    this.#processes = processes;
    this.#url = url;
  }

  static async launch({ sharedMemory = true }: WebKitOptions = {}): Promise<WebKit> {
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

  async #open(binary: string): Promise<void> {
    for (let tries = 100; ; --tries) {
      const status = await fetch(`${this.#url}/status`).catch(() => null);
      if (status?.ok) break;
      if (tries === 0) throw new Error("WebKitWebDriver does not answer");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const args = [
      "--automation",
      // A service worker would outlive the server of its test.
      "--features=-ServiceWorkers",
    ];
    const capabilities = { alwaysMatch: { "webkitgtk:browserOptions": { binary, args } } };
    const { sessionId } = (await this.#ask("POST", "/session", { capabilities })) as {
      sessionId: string;
    };
    this.#session = `/session/${sessionId}`;
    await this.#ask("POST", "/timeouts", { script: 120_000, pageLoad: 60_000 });
  }

  async #ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${this.#url}${this.#session}${path}`, {
      method,
      ...(body !== undefined && {
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      }),
    });
    const { value } = (await response.json()) as { value: unknown };
    if (response.ok) return value;
    const { error, message } = value as { error: string; message: string };
    throw new Error(`WebDriver, ${path}: ${error}: ${message}`);
  }

  async goto(url: string): Promise<void> {
    await this.#ask("POST", "/url", { url });
  }

  /** Runs the source of a function in the page with plain values, and returns its result, awaited. */
  async evaluate(source: string, args: readonly unknown[] = []): Promise<unknown> {
    const script = `
      const [args, done] = arguments;
      Promise.resolve().then(() => (${source})(...args)).then(
        (value) => done({ value }),
        (error) => done({ error: String(error?.message ?? error) }),
      );`;
    const answer = (await this.#ask("POST", "/execute/async", { script, args: [args] })) as {
      value?: unknown;
      error?: string;
    };
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.value;
  }

  /** Sets the size of the page, without the borders of the window. */
  async resize(width: number, height: number): Promise<void> {
    let [outerWidth, outerHeight] = [width, height];
    for (let tries = 0; tries < 3; ++tries) {
      await this.#ask("POST", "/window/rect", { width: outerWidth, height: outerHeight });
      const size =
        "() => new Promise((done) => requestAnimationFrame(() => done([innerWidth, innerHeight])))";
      const [inner, tall] = (await this.evaluate(size)) as [number, number];
      if (inner === width && tall === height) return;
      outerWidth += width - inner;
      outerHeight += height - tall;
    }
  }

  async #act(source: object): Promise<void> {
    await this.#ask("POST", "/actions", { actions: [source] });
  }

  /** Moves the mouse to a point of the view, and clicks there if `click` is set. */
  async point({ x, y }: Point, { click = false } = {}): Promise<void> {
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

  /** Presses keys, releases them, or types them one after the other: characters, or WebDriver's codes of other keys. */
  async keys(keys: Iterable<string>, types = ["keyDown", "keyUp"]): Promise<void> {
    const actions = [...keys].flatMap((value) => types.map((type) => ({ type, value })));
    await this.#act({ type: "key", id: "keyboard", actions });
  }

  /** A PNG of the view. */
  async screenshot(): Promise<Buffer> {
    return Buffer.from((await this.#ask("GET", "/screenshot")) as string, "base64");
  }

  /** Ends all processes that were started. */
  async close(): Promise<void> {
    if (this.#session) await this.#ask("DELETE", "").catch(() => {});
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
