/** Divides a document into chapters: a page for each section, and a first page with the text before the sections. */
import { escaped } from "./markdown.mjs";

/**
 * The page of each heading of a document in chapters, by its anchor.
 *
 * @param {string} file the first page, such as "package.html"
 * @param {{ id: string, level: number }[]} headings
 */
export function placesOf(file, headings) {
  let place = file;
  return new Map(
    headings.map(({ id, level }) => {
      if (level === 2) place = file.replace(".html", `-${id}.html`);
      return [id, place];
    }),
  );
}

const linkTo = (chapter, rel, words) =>
  chapter ? `<a rel="${rel}" href="${chapter.file}">${words(escaped(chapter.title))}</a>` : "";

/**
 * @param {{ file: string, title: string, html: string, headings: { id: string, words: string, level: number }[] }} page
 * @returns {(typeof page)[]} the first page and the chapters, with links to the page before and the page after
 */
export function chaptersOf({ file, title, html, headings }) {
  const places = placesOf(file, headings);
  const parts = html.split(/(?=<h2 )/).map((part, i) => {
    const own = headings.filter(({ id }) => part.includes(` id="${id}"`));
    const linked = part.replace(/ href="#([^"]+)"/g, (whole, id) =>
      own.some((one) => one.id === id) ? whole : ` href="${places.get(id)}#${id}"`,
    );
    if (i === 0) return { file, title, html: linked, headings: own };
    const [{ id, words }] = own;
    return {
      ...{ file: places.get(id), title: words },
      html: linked.replace(/(<\/?h)(\d)/g, (_, tag, level) => tag + (level - 1)),
      headings: own.map((one) => ({ ...one, level: one.level - 1 })),
    };
  });
  return parts.map((part, i) => {
    const before = linkTo(parts[i - 1], "prev", (words) => `← ${words}`);
    const after = linkTo(parts[i + 1], "next", (words) => `${words} →`);
    const turn = `<nav class="turn" aria-label="Chapters">${before}${after}</nav>`;
    return { ...part, html: `${part.html}\n${turn}` };
  });
}
