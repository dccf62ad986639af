/** The sections of the pages, for the search. */

const plain = (html) =>
  html
    .replace(/<[^>]*>/g, " ")
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, "&")
    .replace(/\s+/g, " ")
    .trim();

const heading = /<h([1-6])(?: id="([^"]+)")?[^>]*>(.*?)<\/h\1>/gs;

/**
 * A heading with the text up to the next one.
 *
 * @typedef {{ href: string, page: string, title: string, text: string }} Section `href` is its address
 */

/**
 * @param {{ file: string, title: string, html: string }} page
 * @returns {Section[]}
 */
export function sectionsOf({ file, title: page, html }) {
  const found = [...html.matchAll(heading)];
  return found.map(({ 0: whole, 2: id, 3: title, index }, i) => {
    // A symbol of the reference has its anchor around the heading, which links to it.
    const anchor = id ?? /href="#([^"]+)"/.exec(title)?.[1];
    return {
      href: anchor ? `${file}#${anchor}` : file,
      ...{ page, title: plain(title) },
      text: plain(html.slice(index + whole.length, found[i + 1]?.index)),
    };
  });
}
