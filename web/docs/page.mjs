/** The frame of every page of the documentation: the site's header, the list of pages, the contents of the page. */
import { escaped } from "./markdown.mjs";

/**
 * @param {object} page
 * @param {string} page.file such as "attention.html"
 * @param {string} page.title
 * @param {string} page.html
 * @param {{ id: string, words: string, level: number }[]} page.headings
 * @param {{ title: string, pages: { file: string, title: string }[][] }[]} groups each page with its chapters, which the
 *   list of pages shows on the page itself and on each of them
 */
export function frame({ file, title, html, headings }, groups) {
  const link = ({ file: other, title }) =>
    `<a href="${other}"${other === file ? ' aria-current="page"' : ""}>${escaped(title)}</a>`;
  const item = ([first, ...chapters]) => {
    const isOpen = [first, ...chapters].some((page) => page.file === file);
    const inner = isOpen ? chapters.map((page) => item([page])).join("\n") : "";
    return `<li>${link(first)}${inner && `<ul>${inner}</ul>`}</li>`;
  };
  const lists = groups
    .map(({ title, pages }) => `<p>${escaped(title)}</p>\n<ul>${pages.map(item).join("\n")}</ul>`)
    .join("\n");
  const own = headings.filter(({ level }) => level >= 2);
  const onPage = own
    .map(
      ({ id, words, level }) =>
        `<li class="level-${level}"><a href="#${escaped(id)}">${escaped(words)}</a></li>`,
    )
    .join("\n");
  const outline =
    own.length > 1
      ? `<nav class="outline" aria-label="On this page"><details open><summary>On this page</summary><ul>${onPage}</ul></details></nav>`
      : "";
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${escaped(title)} · Heed</title>
    <link rel="icon" href="../icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="base.css">
    <link rel="stylesheet" href="docs.css">
    <script src="../theme.js"></script>
  </head>
  <body>
    <div id="page">
      <header>
        <p class="home"><a href="./">Heed <span class="faint">Documentation</span></a></p>
        <search hidden>
          <label>Search <input type="search" data-search autocomplete="off"></label>
          <ol class="found" aria-label="Found sections" aria-live="polite" hidden></ol>
        </search>
        <p class="playground"><a href="../">Playground</a></p>
      </header>
      <nav class="pages" aria-label="Documentation"><details open><summary>Contents</summary>
${lists}
      </details></nav>
      <main>
${outline}
${html}
      </main>
    </div>
    <script src="docs.js"></script>
  </body>
</html>
`;
}
