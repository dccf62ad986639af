/** A page of the reference: all symbols of one entry. */
import { coloured, escaped, render } from "./markdown.mjs";

/** Whether a symbol has its own section. Properties are in a list of their owner. */
const isCall = ({ kind }) => kind === "method" || kind === "constructor" || kind === "function";

const groups = [
  ["Functions", ({ kind }) => kind === "function"],
  ["Values", ({ kind }) => kind === "variable"],
  ["Classes", ({ kind, members }) => kind === "class" || members.some(isCall)],
  ["Types", () => true],
];

/** @param {import("./api.mjs").ApiSymbol[]} symbols the symbols of all entries, to which declarations link */
function linker(symbols, fileOf) {
  const targets = new Map();
  for (const { name, id, entry } of symbols) {
    targets.set(name, `${fileOf(entry)}#${id}`);
    // A declaration contains Linear where a program writes nn.Linear. Names that several entries have are not linked.
    const short = name.split(".").at(-1);
    if (short !== name) targets.set(short, targets.has(short) ? null : `${fileOf(entry)}#${id}`);
  }
  return (text, own) =>
    escaped(text).replace(/\b[A-Z]\w+\b/g, (word) => {
      const target = targets.get(word);
      return target && !target.endsWith(`#${own}`) ? `<a href="${target}">${word}</a>` : word;
    });
}

/** Returns the page of each entry. */
export function referencePages(symbols, fileOf) {
  const link = linker(symbols, fileOf);
  const words = (text) => render(text, { words: true }).html;
  const declaration = ({ code, id }) =>
    `<pre class="signature scroll" tabindex="0"><code>${coloured(code, "ts", (text) => link(text, id))}</code></pre>`;

  const rest = ({ parameters, returns, throws, examples }) => [
    ...(parameters.length
      ? [
          `<dl>${parameters.map(({ name, text }) => `<dt><code>${escaped(name)}</code></dt><dd>${words(text)}</dd>`).join("\n")}</dl>`,
        ]
      : []),
    ...(returns ? [words(`Returns ${returns}`)] : []),
    ...throws.map((text) => `<div class="throws">${words(`Throws ${text}`)}</div>`),
    ...examples.map(
      (code) => `<pre class="code scroll" tabindex="0"><code>${coloured(code, "ts")}</code></pre>`,
    ),
  ];

  const property = (symbol) =>
    `<dt id="${escaped(symbol.id)}"><code>${coloured(symbol.code, "ts", (text) => link(text, symbol.id))}</code></dt>
<dd>${words(symbol.summary)}${rest(symbol).join("\n")}</dd>`;

  const call = (symbol, level) => `<section class="symbol" id="${escaped(symbol.id)}">
<h${level}><a href="#${escaped(symbol.id)}">${escaped(symbol.name)}</a></h${level}>
${declaration(symbol)}
${words(symbol.summary)}
${rest(symbol).join("\n")}
</section>`;

  function whole(symbol) {
    const properties = symbol.members.filter((one) => !isCall(one));
    const calls = symbol.members.filter(isCall);
    return `<section class="symbol" id="${escaped(symbol.id)}">
<h3><a href="#${escaped(symbol.id)}">${escaped(symbol.name)}</a></h3>
${declaration(symbol)}
${words(symbol.summary)}
${rest(symbol).join("\n")}
${properties.length ? `<dl class="members">${properties.map(property).join("\n")}</dl>` : ""}
</section>
${calls.map((one) => call(one, 4)).join("\n")}`;
  }

  return (entry) => {
    let left = symbols.filter((symbol) => symbol.entry === entry);
    const headings = [];
    const parts = groups.map(([title, belongs]) => {
      const those = left.filter(belongs);
      left = left.filter((symbol) => !those.includes(symbol));
      if (those.length === 0) return "";
      const id = title.toLowerCase();
      headings.push({ id, words: title, level: 2 });
      for (const { id, name, members } of those) {
        headings.push({ id, words: name, level: 3 });
        for (const one of members.filter((one) => one.kind === "method"))
          headings.push({ id: one.id, words: one.name.split(".").at(-1), level: 4 });
      }
      return `<h2 id="${id}">${title}</h2>\n${those.map(whole).join("\n")}`;
    });
    return { html: parts.join("\n"), headings };
  };
}
