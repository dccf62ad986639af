/**
 * Converts Markdown to HTML with the site's classes: headings with addresses, code with faint comments, links between
 * pages.
 */
import MarkdownIt from "markdown-it";

export const escaped = (text) =>
  text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

/** The anchor of a heading, in the form that GitHub uses. */
export const slug = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");

const patterns = {
  ts: /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)|(?<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)/g,
  cpp: /(?<comment>\/\/[^\n]*)|(?<string>"(?:\\.|[^"\\\n])*")/g,
  python: /(?<comment>#[^\n]*)|(?<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')/g,
};

/**
 * Code with its comments and strings marked; `plain` may turn other text into links.
 *
 * @param {string} code
 * @param {string} language
 * @param {(text: string) => string} [plain] converts the other parts to HTML
 */
export function coloured(code, language, plain = escaped) {
  const pattern = patterns[{ js: "ts", html: "" }[language] ?? language];
  if (!pattern) return plain(code);
  let [html, end] = ["", 0];
  for (const match of code.matchAll(pattern)) {
    const name = match.groups.comment === undefined ? "string" : "comment";
    html += `${plain(code.slice(end, match.index))}<span class="${name}">${escaped(match[0])}</span>`;
    end = match.index + match[0].length;
  }
  return html + plain(code.slice(end));
}

/** The matrix that the page of an example shows, with the numbers that a test compares with it; "" without one. */
function drawn(code) {
  const [, element] = /(<heed-matrix[^>]*)><\/heed-matrix>/.exec(code) ?? [];
  const [, line] = /\/\/ draws: (.*)$/m.exec(code) ?? [];
  if (element === undefined || line === undefined) return "";
  const numbers = line.split(" ").map(Number);
  const size = Math.sqrt(numbers.length);
  const rows = Array.from({ length: size }, (_, i) => numbers.slice(i * size, (i + 1) * size));
  return `<p>The page shows:</p>\n${element} data="${JSON.stringify(rows)}"></heed-matrix>\n`;
}

/**
 * @param {string} text
 * @param {{ link?: (href: string) => string | null, words?: boolean }} [options] `link` returns the address of a link, or
 *   null to keep only its text; `words` is for comments, where asterisks and underscores belong to formulas
 */
export function render(text, { link = (href) => href, words = false } = {}) {
  const md = new MarkdownIt({ html: false, linkify: false });
  if (words) md.disable(["emphasis", "heading", "lheading", "hr"]);
  const { rules } = md.renderer;
  const headings = [];
  const seen = new Map();
  rules.heading_open = (tokens, i) => {
    const words = tokens[i + 1].children.map(({ content }) => content).join("");
    const base = slug(words);
    const count = seen.get(base) ?? 0;
    seen.set(base, count + 1);
    const id = count === 0 ? base : `${base}-${count}`;
    headings.push({ level: Number(tokens[i].tag[1]), id, words });
    return `<${tokens[i].tag} id="${escaped(id)}">`;
  };
  rules.fence = (tokens, i) =>
    `<pre class="code scroll" tabindex="0"><code>${coloured(tokens[i].content, tokens[i].info.trim())}</code></pre>\n${drawn(tokens[i].content)}`;
  rules.code_block = (tokens, i) =>
    `<pre class="code scroll" tabindex="0"><code>${escaped(tokens[i].content)}</code></pre>\n`;
  rules.table_open = () => '<div class="scroll" tabindex="0"><table>';
  rules.table_close = () => "</table></div>";
  const opened = [];
  rules.link_open = (tokens, i, options, _env, self) => {
    const href = link(tokens[i].attrGet("href"));
    opened.push(href !== null);
    if (href === null) return "";
    tokens[i].attrSet("href", href);
    return self.renderToken(tokens, i, options);
  };
  rules.link_close = () => (opened.pop() ? "</a>" : "");
  rules.image = (tokens, i) => {
    const src = link(tokens[i].attrGet("src"));
    return `<img src="${escaped(src)}" alt="${escaped(tokens[i].content)}">`;
  };
  // Removes the alignment of columns: it would be an inline style, which the policy forbids.
  for (const tag of ["th_open", "td_open"])
    rules[tag] = (tokens, i) => {
      const isNumber = tokens[i].attrGet("style")?.includes("right");
      return `<${tokens[i].tag}${isNumber ? ' class="number"' : ""}>`;
    };
  // Removes comments of Markdown, which are for the tests and programs that read the file.
  const html = md.render(text.replace(/^<!--.*?-->\n?/gms, ""));
  return { html, headings };
}
