/**
 * A small static server for the built page.
 *
 *   node web/serve.mjs [--port N] [--dir build/web] [--no-isolation]
 *
 * It sends the headers of cross-origin isolation, which allow the engine to use threads. `--no-isolation` omits them.
 * It always sends a strict Content-Security-Policy. If the port is in use, it tries the next one.
 */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, resolve, sep } from "node:path";
import { pipeline } from "node:stream";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "8080" },
    dir: { type: "string", default: fileURLToPath(new URL("../build/web", import.meta.url)) },
    "no-isolation": { type: "boolean", default: false },
  },
});
const root = resolve(values.dir);

const types = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".mjs": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/**
 * The room "Models" reads models from any address. A page on https cannot reach http addresses, except on the same
 * machine.
 */
const sources = "'self' https: http://localhost:* http://127.0.0.1:*";

const policy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "frame-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  `connect-src ${sources}`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join("; ");

const headers = {
  "Content-Security-Policy": policy,
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-cache",
  ...(!values["no-isolation"] && {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
  }),
};

/** The file of an address; null if there is none inside the root. */
async function fileOf(url) {
  let path;
  try {
    path = decodeURIComponent(new URL(url, "http://localhost").pathname);
  } catch {
    return null;
  }
  if (path.includes("\0")) return null;
  const file = join(root, path.endsWith("/") ? `${path}index.html` : path);
  // URL has already resolved dots, but not encoded ones.
  if (!file.startsWith(root + sep)) return null;
  const status = await stat(file).catch(() => null);
  return status?.isFile() ? { file, size: status.size } : null;
}

const server = createServer(async (request, response) => {
  const answer = (code, words) => {
    response.writeHead(code, { ...headers, "Content-Type": "text/plain; charset=utf-8" });
    response.end(words);
  };
  if (request.method !== "GET" && request.method !== "HEAD")
    return answer(405, "Only GET and HEAD are served.\n");
  const found = await fileOf(request.url ?? "/");
  if (!found) return answer(404, "There is no such file.\n");
  response.writeHead(200, {
    ...headers,
    "Content-Type": types[extname(found.file)] ?? "application/octet-stream",
    "Content-Length": found.size,
  });
  if (request.method === "HEAD") return response.end();
  pipeline(createReadStream(found.file), response, () => {});
});

let port = Number(values.port);
server.on("error", (error) => {
  if (error.code !== "EADDRINUSE" || port >= 65535) throw error;
  server.listen(++port, "localhost");
});
server.on("listening", () => console.log(`Playground: http://localhost:${server.address().port}/`));
server.listen(port, "localhost");
