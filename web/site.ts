/**
 * Writes the page's address into the built page, if HEED_SITE contains one. Services that show a preview of a link
 * accept no relative address of the picture.
 */
import type { Plugin } from "vite";

/** A page with the address of the folder that it will be served from. Throws if `folder` is not such an address. */
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
