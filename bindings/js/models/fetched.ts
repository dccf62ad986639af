// Files of the network, read in ranges of bytes. One request streams the file; if it breaks off,
// another request continues (RFC 9110, section 14).

import { HeedError } from "../core/error.js";
import type { Bytes } from "../core/module.js";

/** A file whose bytes can be read in ranges. */
export interface ByteSource {
  /** The size in bytes. */
  readonly size: number;
  /** Returns the bytes from `start` to before `end`. */
  read(start: number, end: number, signal?: AbortSignal): Promise<Uint8Array>;
}

/** A file of a model while it is open. */
export interface OpenSource extends ByteSource {
  /** Whether the browser keeps the bytes that are read. */
  readonly kept?: boolean;
  /** Reads the remaining bytes of a file that the browser keeps. */
  keepRest?(signal?: AbortSignal): Promise<void>;
  /** Ends requests. A later `read` starts another. */
  close?(): void;
}

/** The most consecutive attempts without a byte, and the wait after the first attempt, in milliseconds. */
const mostAttempts = 5;
const firstWait = 200;
/** The most bytes that are read and discarded to reach the requested byte: this takes less time than a new request. */
const mostDropped = 2 ** 20;

const failed = (message: string, cause?: unknown) =>
  new HeedError("load", message, cause === undefined ? undefined : { cause });

/** Resolves after a time; rejects when the signal aborts. */
function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/**
 * The size of the whole file and the position of the response's first byte, from the headers; NaN
 * if they are missing.
 */
function placeOf(response: Response, asked: number): { start: number; size: number } {
  const length = Number(response.headers.get("Content-Length") ?? Number.NaN);
  if (response.status !== 206) return { start: 0, size: length };
  const said = response.headers.get("Content-Range");
  // A server of another origin may hide this header from the page, but not the length.
  if (said === null) return { start: asked, size: asked + length };
  const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(said);
  return { start: Number(range?.[1] ?? Number.NaN), size: Number(range?.[2] ?? Number.NaN) };
}

/** Ends a response that is not read. */
const drop = (response: Response) => void response.body?.cancel().catch(() => {});

/** How a file is requested. */
interface FileRequest {
  /** The position of the first byte. */
  readonly start: number;
  /** Whether the caller stores the bytes, so that the browser's own cache need not store them. */
  readonly isKept: boolean;
}

interface Body {
  reader: ReadableStreamDefaultReader<Uint8Array>;
  /** Bytes that have arrived and are not yet read. */
  rest: Uint8Array;
  /** The position of the next byte. */
  at: number;
}

/**
 * The address of the folder of a model's files. For the page of a model on the hub,
 * https://huggingface.co/OWNER/NAME or NAME alone, it is the address of the files, resolve/main.
 */
export function folderAddress(address: string): string {
  const base = address.replace(/[?#].*$/, "").replace(/\/+$/, "");
  const page = /^(https:\/\/huggingface\.co(?:\/[^/]+){1,2}?)(?:\/(?:tree|blob)\/([^/]+))?$/.exec(
    base,
  );
  return page ? `${page[1]}/resolve/${page[2] ?? "main"}` : base;
}

/** A file at an address. */
export class FetchedFile implements OpenSource {
  readonly url: string;
  readonly size: number;
  /** The ETag, by which the server identifies this version of the file (RFC 9110, section 8.8.3); null without one. */
  readonly tag: string | null;
  readonly #isKept: boolean;
  #body: Body | undefined;

  private constructor(url: string, response: Response, { start: asked, isKept }: FileRequest) {
    this.url = url;
    this.#isKept = isKept;
    const { start, size } = placeOf(response, asked);
    if (!Number.isSafeInteger(size) || (start !== asked && start !== 0)) {
      drop(response);
      throw failed(`${url}: expected a response that says its size, got none`);
    }
    this.size = size;
    this.tag = response.headers.get("ETag");
    this.#body = bodyOf(response, start);
  }

  /**
   * Requests a file.
   *
   * @returns undefined if the server has no such file
   * @throws HeedError "load", or the signal's reason
   */
  static async open(
    url: string,
    signal?: AbortSignal,
    { start = 0, isKept = false }: Partial<FileRequest> = {},
  ): Promise<FetchedFile | undefined> {
    const response = await request(url, { start, isKept }, signal);
    // The server of a single-page application answers with its page if it does not have a file.
    const isPage = response.headers.get("Content-Type")?.startsWith("text/html");
    if (!isPage && (response.status === 200 || response.status === 206))
      return new FetchedFile(url, response, { start, isKept });
    drop(response);
    // With status 416 the file is shorter than before, so it is another version.
    return response.status === 416 ? FetchedFile.open(url, signal, { isKept }) : undefined;
  }

  /** Returns the bytes from `start` to before `end`. Consecutive reads share one request. */
  async read(start: number, end: number, signal?: AbortSignal): Promise<Bytes> {
    const found = new Uint8Array(end - start);
    let filled = 0;
    for (let attempt = 1; filled < found.length; ) {
      signal?.throwIfAborted();
      try {
        const body = await this.#bodyAt(start + filled, signal);
        const part = await take(body, found.length - filled, signal);
        found.set(part, filled);
        filled += part.length;
        attempt = 1;
      } catch (error) {
        this.close();
        signal?.throwIfAborted();
        // A failed request has been repeated already.
        if (error instanceof HeedError) throw error;
        const at = `byte ${start + filled} of ${this.size}`;
        if (attempt === mostAttempts)
          throw failed(`${this.url}: the connection broke off at ${at}`, error);
        await wait(firstWait * 2 ** (attempt - 1), signal);
        ++attempt;
      }
    }
    return found;
  }

  /** Ends the current request. A later `read` starts another. */
  close(): void {
    void this.#body?.reader.cancel().catch(() => {});
    this.#body = undefined;
  }

  /** Returns a body whose next byte is the one at `start`. */
  async #bodyAt(start: number, signal: AbortSignal | undefined): Promise<Body> {
    const gap = this.#body ? start - this.#body.at : -1;
    if (gap < 0 || gap > mostDropped) {
      this.close();
      const response = await request(this.url, { start, isKept: this.#isKept }, signal);
      if (response.status === 404) throw failed(`${this.url}: expected the file, got status 404`);
      const place = placeOf(response, start);
      const tag = response.headers.get("ETag");
      const isOther = this.tag !== null && tag !== null && tag !== this.tag;
      const isSame = place.size === this.size || Number.isNaN(place.size);
      const isBeyond = response.status === 416;
      if (isBeyond || isOther || !isSame || (place.start !== start && place.start !== 0)) {
        drop(response);
        throw new HeedError("format", `${this.url}: the file changed while it was read`);
      }
      this.#body = bodyOf(response, place.start);
    }
    const body = this.#body as Body;
    // A server without support for ranges sends the file from its start.
    while (body.at < start) await take(body, start - body.at, signal);
    return body;
  }
}

function bodyOf(response: Response, at: number): Body {
  const body = response.body ?? new Response(new Uint8Array(0)).body;
  const stream = body as ReadableStream<Uint8Array>;
  return { reader: stream.getReader(), rest: new Uint8Array(0), at };
}

/**
 * Takes at least one byte and at most `most` bytes. If the body ends too early, it throws an error
 * that is not a HeedError.
 */
async function take(body: Body, most: number, signal?: AbortSignal): Promise<Uint8Array> {
  while (body.rest.length === 0) {
    signal?.throwIfAborted();
    const { done, value } = await body.reader.read();
    if (done) throw new Error("the body has ended");
    body.rest = value;
  }
  const part = body.rest.subarray(0, most);
  body.rest = body.rest.subarray(part.length);
  body.at += part.length;
  return part;
}

/**
 * Requests a file from a byte on. The status of the returned response is a success, 404, or 416 for
 * a position after the end. Callers compare the ETag: a page may send If-Range to another origin
 * only after a preflight request (Fetch Standard, "CORS-safelisted request-header"), which the
 * hub's servers refuse.
 */
async function request(
  url: string,
  { start, isKept }: FileRequest,
  signal?: AbortSignal,
): Promise<Response> {
  for (let attempt = 1; ; ++attempt) {
    signal?.throwIfAborted();
    let problem: HeedError;
    try {
      const headers = { Range: `bytes=${start}-` };
      const cache = isKept ? "no-store" : "default";
      const response = await fetch(url, { headers, cache, ...(signal && { signal }) });
      const { status } = response;
      if (status === 200 || status === 206 || status === 404) return response;
      if (status === 416 && start > 0) return response;
      drop(response);
      // An empty file has no range.
      if (status === 416) return new Response(null, { headers: { "Content-Length": "0" } });
      problem = failed(`${url}: expected the file, got status ${status}`);
      if (status < 500 && status !== 408 && status !== 429) throw problem;
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof HeedError) throw error;
      const reason = "it is not reachable, or its server does not permit this page to read it";
      problem = failed(`${url}: expected the file, but ${reason}`, error);
    }
    if (attempt === mostAttempts) throw problem;
    await wait(firstWait * 2 ** (attempt - 1), signal);
  }
}
