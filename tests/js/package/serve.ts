// A static file server with strict headers.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";

const types: Record<string, string> = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};

export interface Served {
  url: string;
  close(): void;
}

export type Headers = Record<string, string>;

/** @param headers of all responses, or for the path of each */
export function serve(
  folder: string,
  headers: Headers | ((path: string) => Headers),
): Promise<Served> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const path = join(folder, pathname === "/" ? "index.html" : pathname);
    const content = await readFile(path).catch(() => undefined);
    response.writeHead(content === undefined ? 404 : 200, {
      ...(typeof headers === "function" ? headers(path) : headers),
      "Content-Type": types[extname(path)] ?? "application/octet-stream",
    });
    response.end(content);
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      resolve({
        url: `http://127.0.0.1:${port}/`,
        close: () => {
          server.close();
          server.closeAllConnections();
        },
      });
    });
  });
}
