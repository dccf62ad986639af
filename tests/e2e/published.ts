/** Lets code of the page fetch the files of web/public without a page. */
import { readFile } from "node:fs/promises";
import { vi } from "vitest";

/** A made-up address of the page. */
export const published = "http://page.test/";

/** Replaces `fetch`, until vi.unstubAllGlobals. */
export function fetchPublished(): void {
  vi.stubGlobal("fetch", async (address: string) => {
    const path = `../../web/public${new URL(address).pathname}`;
    return new Response(await readFile(new URL(path, import.meta.url)));
  });
}
