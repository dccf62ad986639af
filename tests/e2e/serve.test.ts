import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Server, serve } from "./browsers";

/** The first line of the response to a raw request, which client libraries would normalise. */
function statusOf(url: string, path: string): Promise<string> {
  const { port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), "localhost", () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    });
    let answer = "";
    socket.on("data", (text) => {
      answer += text;
    });
    socket.on("end", () => resolve(answer.split("\r\n")[0] ?? ""));
    socket.on("error", reject);
  });
}

describe("The page's server", () => {
  let server: Server;
  beforeAll(async () => {
    server = await serve();
  });
  afterAll(() => server?.stop());

  test.each([
    ["", "text/html; charset=utf-8"],
    ["theme.js", "text/javascript; charset=utf-8"],
    ["icon.svg", "image/svg+xml"],
    ["heed/heed-simd.mjs", "text/javascript; charset=utf-8"],
    ["heed/heed-relaxed.wasm", "application/wasm"],
    ["heed/heed-wide.wasm", "application/wasm"],
  ])("sends /%s as %s", async (path, type) => {
    const answer = await fetch(server.url + path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe(type);
    expect((await answer.arrayBuffer()).byteLength).toBe(
      Number(answer.headers.get("content-length")),
    );
  });

  test("always sends a strict Content-Security-Policy", async () => {
    const plain = await serve("--no-isolation");
    try {
      for (const url of [server.url, plain.url, `${server.url}missing`]) {
        const policy = (await fetch(url)).headers.get("content-security-policy");
        expect(policy).toContain(
          "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'",
        );
        expect(policy).not.toContain("unsafe-inline");
      }
    } finally {
      plain.stop();
    }
  });

  test("isolates the page unless it is started with --no-isolation", async () => {
    const plain = await serve("--no-isolation");
    try {
      const names = ["cross-origin-opener-policy", "cross-origin-embedder-policy"];
      const of = async (url: string) => {
        const { headers } = await fetch(url);
        return names.map((name) => headers.get(name));
      };
      expect(await of(server.url)).toEqual(["same-origin", "require-corp"]);
      expect(await of(plain.url)).toEqual([null, null]);
    } finally {
      plain.stop();
    }
  });

  test.each([
    "/../vite.config.ts",
    "/../../package.json",
    "/%2e%2e/%2e%2e/package.json",
    "/..%2f..%2fpackage.json",
    "/heed/..%5c..%5cpackage.json",
    "/%00",
    "/%",
    "/heed",
    "//",
  ])("does not leave its folder nor fail for %s", async (path) => {
    expect(await statusOf(server.url, path)).toBe("HTTP/1.1 404 Not Found");
    expect((await fetch(server.url)).status).toBe(200);
  });

  test("uses the next port if one is in use", async () => {
    const { port } = new URL(server.url);
    const second = await serve("--port", port);
    try {
      expect(Number(new URL(second.url).port)).toBeGreaterThan(Number(port));
    } finally {
      second.stop();
    }
  });
});
