/** The pages of the documentation, and the sources of each. */
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { readApi } from "./api.mjs";
import { chaptersOf, placesOf } from "./chapters.mjs";
import { entries, rootOf } from "./entries.mjs";
import { headersPage } from "./headers.mjs";
import { escaped, render } from "./markdown.mjs";
import { frame } from "./page.mjs";
import { referencePages } from "./reference.mjs";
import { sectionsOf } from "./sections.mjs";
import { start } from "./start.mjs";

/** Markdown files that are pages, by the groups of the contents. One `inChapters` has a page for each section. */
export const documents = [
  {
    title: "First steps",
    pages: [
      { file: "tutorial.html", path: "web/guides/tutorial.md", title: "Attention in five minutes" },
      { file: "gpt2.html", path: "web/guides/gpt2.md", title: "All heads of GPT-2" },
      { file: "overview.html", path: "README.md", title: "Overview" },
      { file: "which.html", path: "web/guides/which.md", title: "Which of the three" },
    ],
  },
  {
    title: "Guides",
    pages: [
      {
        ...{ file: "package.html", path: "bindings/js/README.md", title: "The package" },
        inChapters: true,
      },
      { file: "pytorch.html", path: "web/guides/pytorch.md", title: "From PyTorch" },
      {
        file: "onnxruntime.html",
        path: "web/guides/onnxruntime.md",
        title: "From onnxruntime-web",
      },
      {
        file: "texts.html",
        path: "web/guides/texts.md",
        title: "Search, classify, translate and chat",
      },
      { file: "view.html", path: "web/guides/view.md", title: "Pictures in your own pages" },
      { file: "hosting.html", path: "web/guides/hosting.md", title: "Isolation and hosting" },
      { file: "memory.html", path: "web/guides/memory.md", title: "Memory" },
      { file: "numerics.html", path: "web/guides/numerics.md", title: "Numerics" },
      { file: "errors.html", path: "web/guides/errors.md", title: "Errors by code" },
    ],
  },
  {
    title: "About the code",
    pages: [
      { file: "contributing.html", path: "CONTRIBUTING.md", title: "Contributing" },
      { file: "decisions.html", path: "src/README.md", title: "The C++ library" },
      { file: "results.html", path: "tests/bench/RESULTS.md", title: "Measurements" },
      { file: "models-trained.html", path: "web/train/README.md", title: "Trained models" },
      { file: "changes.html", path: "CHANGELOG.md", title: "Changes" },
    ],
  },
];

export const fileOf = (entry) => `reference-${entry.replaceAll("/", "-")}.html`;

const headersFile = "reference-cpp.html";

/** Pictures that pages show, copied next to them. */
export const pictures = ["web/playground.png"];

const written = documents.flatMap(({ pages }) => pages);
const textOf = ({ path }) => readFileSync(rootOf(path), "utf8");

/** The headings of each document in chapters, with their pages. */
const places = new Map(
  written
    .filter(({ inChapters }) => inChapters)
    .map((page) => [page, placesOf(page.file, render(textOf(page)).headings)]),
);

/**
 * Converts the links of a Markdown file to links to pages, pictures and public files of the site. A file that is only in
 * the repository gets no link.
 */
function linkFrom(path) {
  return (href) => {
    if (/^(https?:|#)/.test(href)) return href;
    const [target, anchor] = href.split("#");
    const file = normalize(join(dirname(path), target));
    if (pictures.includes(file)) return file.split("/").at(-1);
    if (file.startsWith("web/public/")) return file.replace("web/public", "..");
    const page = written.find((one) => one.path === file);
    if (!page) return null;
    if (anchor === undefined) return page.file;
    return `${places.get(page)?.get(anchor) ?? page.file}#${anchor}`;
  };
}

function documentPages(document) {
  const { html, headings } = render(textOf(document), { link: linkFrom(document.path) });
  const page = { file: document.file, title: document.title, html, headings };
  return document.inChapters ? chaptersOf(page) : [page];
}

/** @returns {Promise<{ file: string, html: string, sections: import("./sections.mjs").Section[] }[]>} */
export async function pages() {
  const { symbols } = await readApi();
  const pageOf = referencePages(symbols, fileOf);
  const intro = (name) =>
    `<h1><code>${escaped(name)}</code></h1>
<p>Tests run all examples of this page. They begin with <code>const heed = await load()</code> and imports of the names they use. What a line prints follows it.</p>`;
  const reference = entries().map(({ name }) => {
    const { html, headings } = pageOf(name);
    return { file: fileOf(name), title: name, html: `${intro(name)}\n${html}`, headings };
  });
  const { html, headings } = headersPage();
  const cpp = {
    file: headersFile,
    title: "C++ headers",
    html: `<h1>C++ headers</h1>
<p>Tests run the examples: <code>context</code> is a <code>Context</code>, <code>numbers(x)</code> the elements of a tensor as a <code>std::vector</code>, <code>Numbers</code>, and the expectations are those of GoogleTest.</p>
${html}`,
    headings,
  };
  const [first, guides, code] = documents.map(({ title, pages }) => ({
    title,
    pages: pages.map(documentPages),
  }));
  const alone = (page) => [page];
  const groups = [
    { ...first, pages: [[start], ...first.pages] },
    guides,
    { title: "Reference", pages: [...reference, cpp].map(alone) },
    code,
  ];
  return groups
    .flatMap(({ pages }) => pages.flat())
    .map((page) => ({
      file: page.file,
      html: frame(page, groups),
      sections: sectionsOf(page),
    }));
}
