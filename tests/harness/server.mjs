// A static server for pages that run the built package: named folders, with the headers that make a
// page cross-origin isolated.

import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";

const types = {
  ".css": "text/css",
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

/** The file at an address, or undefined. */
function fileOf(folders, address) {
  const [, name, ...rest] = decodeURIComponent(new URL(address, "http://localhost").pathname).split(
    "/",
  );
  if (!Object.hasOwn(folders, name)) return undefined;
  const file = normalize(join(folders[name], ...rest));
  if (!file.startsWith(folders[name] + sep)) return undefined;
  return statSync(file, { throwIfNoEntry: false })?.isFile() ? file : undefined;
}

function answer(folders, request, response) {
  let file;
  try {
    file = fileOf(folders, request.url);
  } catch {
    // An invalid address is answered like one without a file.
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

/**
 * Serves on a free port of this machine only.
 *
 * @param {Record<string, string>} folders by the name that their files' addresses begin with
 */
export async function serve(folders) {
  for (const folder of Object.values(folders))
    if (!existsSync(folder)) throw new Error(`${folder}: expected it to be there; run ./dev build`);
  const server = createServer((request, response) => answer(folders, request, response));
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
