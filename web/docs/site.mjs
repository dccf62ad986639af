/** The pages of the documentation, and the sources of each. */
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { readApi } from "./api.mjs";
import { entries, rootOf } from "./entries.mjs";
import { headersPage } from "./headers.mjs";
import { escaped, render } from "./markdown.mjs";
import { frame } from "./page.mjs";
import { referencePages } from "./reference.mjs";
import { sectionsOf } from "./sections.mjs";

/** Markdown files that are pages, by the groups of the contents. */
export const documents = [
  {
    title: "Guides",
    pages: [
      { file: "index.html", path: "README.md", title: "Heed" },
      { file: "package.html", path: "bindings/js/README.md", title: "The package" },
      { file: "which.html", path: "web/guides/which.md", title: "Which of the three" },
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

/**
 * Converts the links of a Markdown file to links of the site: to a page or a picture of the site, or none for a file
 * that is only in the repository.
 */
function linkFrom(path) {
  const pages = documents.flatMap(({ pages }) => pages);
  return (href) => {
    if (/^(https?:|#)/.test(href)) return href;
    const [target, anchor] = href.split("#");
    const file = normalize(join(dirname(path), target));
    if (pictures.includes(file)) return file.split("/").at(-1);
    const page = pages.find((one) => one.path === file);
    if (!page) return null;
    return anchor === undefined ? page.file : `${page.file}#${anchor}`;
  };
}

function documentPage({ path, title, file }) {
  const { html, headings } = render(readFileSync(rootOf(path), "utf8"), { link: linkFrom(path) });
  return { file, title, html, headings };
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
  const groups = [documents[0], { title: "Reference", pages: [...reference, cpp] }, documents[1]];
  const written = documents.flatMap(({ pages }) => pages).map(documentPage);
  return [...written, ...reference, cpp].map((page) => ({
    file: page.file,
    html: frame(page, groups),
    sections: sectionsOf(page),
  }));
}
