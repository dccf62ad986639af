// A server of files whose connections break off and whose answers are wrong, for tests. A test in a page sets the
// answer of an address by PUT, because the page cannot answer requests.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";

export interface Behaviour {
  /** Whether it supports range requests. */
  ranges?: boolean;
  /** The number of bytes after which a connection breaks off. */
  most?: number;
  tag?: string | null;
  /** Gets the function that breaks off the connection. Without `onCut`, the server calls it itself. */
  onCut?: (cut: () => void) => void;
}

/** Sends a file, or the range of it that is asked for. */
export function send(
  { headers }: IncomingMessage,
  response: ServerResponse,
  bytes: Uint8Array,
  {
    ranges = true,
    most = Number.POSITIVE_INFINITY,
    tag = '"1"',
    onCut = (cut) => cut(),
  }: Behaviour = {},
): void {
  const [, begin] = /^bytes=(\d+)-$/.exec(headers.range ?? "") ?? [];
  const start = ranges ? Number(begin ?? 0) : 0;
  if (start >= bytes.length && start > 0) {
    response.writeHead(416).end();
    return;
  }
  const isPart = ranges && begin !== undefined;
  const range = `bytes ${start}-${bytes.length - 1}/${bytes.length}`;
  response.writeHead(isPart ? 206 : 200, {
    "Content-Length": bytes.length - start,
    ...(tag !== null && { ETag: tag }),
    ...(isPart && { "Content-Range": range }),
  });
  const part = bytes.subarray(start, Math.min(bytes.length, start + most));
  response.write(part, () =>
    part.length < bytes.length - start ? onCut(() => response.destroy()) : response.end(),
  );
}

export interface Answer extends Omit<Behaviour, "most" | "onCut"> {
  /** After how many bytes each request breaks off, one after the other; then none does. */
  cuts?: readonly number[];
  /** Whether requests wait where they break off, until somebody requests /cut. */
  isHeld?: boolean;
  /** The part of an answer that pages of other origins may read: all, the body with the usual headers, or nothing. */
  shown?: "all" | "body" | "nothing";
  /** Whether the server ends each connection without an answer. */
  isGone?: boolean;
  /** The path of another file. The server sends the bytes of that file, and the PUT needs none. */
  bytesOf?: string;
}

/** The name of the header of a PUT that has an Answer in JSON. */
export const answerHeader = "x-answer";

interface Place {
  bytes: Uint8Array;
  answer: Answer;
  cuts: number[];
}

const server = createServer();
const places = new Map<string, Place>();
const requests: string[] = [];
const held: (() => void)[] = [];

async function bodyOf(request: IncomingMessage): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of request) parts.push(part as Uint8Array);
  return Buffer.concat(parts);
}

server.on("request", async (request: IncomingMessage, response: ServerResponse) => {
  const { method, url = "", headers } = request;
  const place = places.get(url);
  const shown = place?.answer.shown ?? "all";
  if (shown !== "nothing") response.setHeader("Access-Control-Allow-Origin", "*");
  if (shown === "all") response.setHeader("Access-Control-Expose-Headers", "ETag, Content-Range");
  if (method === "PUT") {
    const answer: Answer = JSON.parse(String(headers[answerHeader]));
    const sent = await bodyOf(request);
    const bytes = places.get(answer.bytesOf ?? "")?.bytes ?? sent;
    places.set(url, { bytes, answer, cuts: [...(answer.cuts ?? [])] });
    response.end();
  } else if (method === "OPTIONS") {
    // Like the hub's servers, it lets no page ask for more than a range.
    const isPut = headers["access-control-request-method"] === "PUT";
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Access-Control-Allow-Methods", "PUT");
    response.setHeader("Access-Control-Allow-Headers", answerHeader);
    response.writeHead(isPut ? 204 : 403).end();
  } else if (url === "/requests") {
    response.end(JSON.stringify(requests));
  } else if (url === "/cut") {
    for (const cut of held.splice(0)) cut();
    response.end();
  } else {
    requests.push(`${url} ${headers.range ?? "all"}`);
    if (place === undefined) response.writeHead(404).end();
    else if (place.answer.isGone) request.destroy();
    else {
      const most = place.cuts.shift() ?? Number.POSITIVE_INFINITY;
      const onCut = (cut: () => void) => (place.answer.isHeld ? held.push(cut) : cut());
      send(request, response, place.bytes, { ...place.answer, most, onCut });
    }
  }
});

/** Starts the server before the tests of a project of Vitest, which `inject` its address. */
export async function setup(project: TestProject): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  project.provide("files", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

export async function teardown(): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

declare module "vitest" {
  export interface ProvidedContext {
    /** The origin of the server of files. */
    files: string;
  }
}
