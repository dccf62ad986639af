// A static server for the bench: dist/, onnxruntime-web and the bench's own page, with the headers
// that make a page cross-origin isolated.

import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

const folders = {
  bench: join(root, "tests/bench/page"),
  heed: join(root, "dist"),
  "onnxruntime-web": join(root, "node_modules/onnxruntime-web/dist"),
};

const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};

const headers = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cache-Control": "no-store",
};

/** The file that an address names, or undefined. */
function fileOf(address) {
  const [, name, ...rest] = decodeURIComponent(new URL(address, "http://localhost").pathname).split(
    "/",
  );
  if (!Object.hasOwn(folders, name)) return undefined;
  const file = normalize(join(folders[name], ...rest));
  if (!file.startsWith(folders[name] + sep)) return undefined;
  return statSync(file, { throwIfNoEntry: false })?.isFile() ? file : undefined;
}

function answer(request, response) {
  let file;
  try {
    file = fileOf(request.url);
  } catch {
    // Not an address: answered like one that names nothing.
  }
  if (!file) {
    response.writeHead(404, headers).end();
    return;
  }
  response.writeHead(200, {
    ...headers,
    "Content-Type": types[extname(file)] ?? "application/octet-stream",
  });
  createReadStream(file).pipe(response);
}

/** Serves on a free port of this machine only. */
export async function serve() {
  for (const folder of Object.values(folders))
    if (!existsSync(folder))
      throw new Error(`${folder}: expected it to be there; run ./dev bench, which builds it`);
  const server = createServer(answer);
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
