/**
 * Tells the built page its own address, if HEED_SITE gives one: those who show the preview of a link take no relative
 * address of its picture.
 */
import type { Plugin } from "vite";

/** A page with the address of the folder that it will be served from. Throws for anything that is no such address. */
export function withAddress(html: string, folder: string): string {
  const site = URL.canParse(folder) ? new URL(folder) : null;
  if (!site || !/^https?:$/.test(site.protocol)) {
    const expected = "the address of the page's folder, such as https://school.example/heed/";
    throw new Error(`HEED_SITE is “${folder}”, but it should be ${expected}`);
  }
  if (!site.pathname.endsWith("/")) site.pathname += "/";
  const picture = new URL("preview.png", site).href;
  return html.replace(
    '<meta property="og:image" content="./preview.png" />',
    () =>
      `<meta property="og:url" content="${site.href}" />\n    <meta property="og:image" content="${picture}" />`,
  );
}

export function ownAddress(folder: string | undefined): Plugin {
  return {
    name: "heed:own-address",
    apply: "build",
    transformIndexHtml: (html) => (folder ? withAddress(html, folder) : html),
  };
}
