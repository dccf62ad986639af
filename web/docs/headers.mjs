/**
 * The C++ headers as a page. They are the manual of the library and have one form, which clang-format keeps: a comment
 * of three slashes before each declaration of the namespace. So a declaration is a block of lines, and no C++ parser is
 * needed. Doxygen would be a dependency larger than the library.
 */
import { readdirSync, readFileSync } from "node:fs";
import { rootOf } from "./entries.mjs";
import { coloured, escaped, render } from "./markdown.mjs";

/** The headers in the order of the manual: heed.hpp first. */
export function headers() {
  const names = readdirSync(rootOf("include/heed")).filter((name) => name.endsWith(".hpp"));
  return names
    .sort((a, b) => Number(b === "heed.hpp") - Number(a === "heed.hpp") || (a < b ? -1 : 1))
    .map((name) => ({ name, text: readFileSync(rootOf(`include/heed/${name}`), "utf8") }));
}

/** The name that a declaration introduces: a type, a constant or a function. */
function nameOf(code) {
  const type = /^(?:template <.*>\n)?(?:class|struct|enum class|using) (\w+)/.exec(code);
  if (type) return type[1];
  const constant = /\b(k[A-Z]\w*) =|\b(k[A-Z]\w*)<?/.exec(code.split("(")[0]);
  if (constant) return constant[1] ?? constant[2];
  return /([\w]+)\(/.exec(code)?.[1] ?? null;
}

/** A declaration without the lines of its private members and the bodies of its functions. */
function shown(lines) {
  const start = lines.findIndex((line) => /^ private:/.test(line));
  const end = lines.findLastIndex((line) => /^}/.test(line));
  const visible = start < 0 ? lines : [...lines.slice(0, start), ...lines.slice(end)];
  return visible.join("\n").replace(/\n\n};$/, "\n};");
}

/**
 * The declarations of a header, each with the comment before it. A comment between rules of dashes is a heading.
 *
 * @returns {({ heading: string, words: string } | { name: string, comment: string, code: string })[]}
 */
export function declarations(text) {
  const lines = text.split("\n");
  const begin = lines.findIndex((line) => line.startsWith("namespace heed {"));
  const end = lines.findLastIndex((line) => line.startsWith("}  // namespace heed"));
  const found = [];
  let [comment, code, plain, depth] = [[], [], [], 0];
  for (const line of lines.slice(begin + 1, end)) {
    if (depth === 0 && code.length === 0 && line.startsWith("///")) comment.push(line.slice(4));
    else if (depth === 0 && code.length === 0 && line.startsWith("//")) plain.push(line.slice(3));
    else if (line.trim() !== "" || depth > 0) {
      code.push(line);
      const only = line.replace(/\/\/.*|"(\\.|[^"\\])*"/g, "");
      depth += (only.match(/[{(]/g) ?? []).length - (only.match(/[})]/g) ?? []).length;
    }
    const isOver = depth === 0 && code.length > 0 && /[;}]( *\/\/.*)?$/.test(line);
    if (isOver) {
      // Skips forward declarations: a type is described at its definition.
      const isForward = /^(enum )?(class|struct) [^{]*;$/.test(code.join("\n"));
      const name = isForward ? null : nameOf(code.join("\n"));
      // Declarations with one comment, such as add, subtract and multiply, form one entry.
      const last = found.at(-1);
      if (comment.length === 0 && last?.code !== undefined && !last.isOver && !isForward)
        last.code += `\n${shown(code)}`;
      else if (name !== null)
        found.push({ name, comment: comment.join("\n"), code: shown(code), isOver: false });
      [comment, code] = [[], []];
    } else if (depth === 0 && line.trim() === "") {
      if (plain.length > 0) {
        const [, heading = "", words = ""] =
          /^-*\n?([^\n:(]*)[:\n]?([\s\S]*)$/.exec(plain.join("\n")) ?? [];
        found.push({ heading: heading.trim(), words: words.trim() });
        plain = [];
      }
      const last = found.at(-1);
      if (last?.code !== undefined) last.isOver = true;
    }
  }
  return found;
}

/**
 * The examples, which are tests: the body of each, by its name.
 *
 * @returns {Map<string, string>}
 */
export function headerExamples() {
  const files = readdirSync(rootOf("tests/cpp")).filter((name) => name.endsWith("_test.cpp"));
  const texts = files.map((name) => readFileSync(rootOf(`tests/cpp/${name}`), "utf8"));
  const tests = texts.join("\n").matchAll(/^TEST_F\(Example, (\w+)\) \{\n([\s\S]*?)\n\}$/gm);
  return new Map([...tests].map(([, name, body]) => [name, body.replace(/^ {2}/gm, "")]));
}

/** The functions, types and constants that a declaration introduces. One comment may describe several. */
export const namesIn = ({ name, code }) => [
  ...new Set([
    name,
    ...[...code.matchAll(/^(?!\s|\/\/|.*\boperator\b)[^(=\n]*?\b(\w+)\(/gm)].map(
      ([, name]) => name,
    ),
    ...[...code.matchAll(/^(?:class|struct|enum class) (\w+)/gm)].map(([, name]) => name),
  ]),
];

/** The names of the examples that use one of these names. An example with one of the names comes first. */
export function examplesOf(names, examples = headerExamples()) {
  const uses = names.map((name) => RegExp(`\\b${name}\\b`));
  const found = [...examples].filter(([, body]) => {
    const code = body.replace(/\/\/.*/g, "");
    return uses.some((use) => use.test(code));
  });
  const own = (name) => Number(names.includes(name));
  return found.map(([name]) => name).sort((a, b) => own(b) - own(a));
}

/** The comment before the namespace, which describes the header. */
const about = (text) =>
  (/^#pragma once\n\n((?:\/\/.*\n)+)/.exec(text)?.[1] ?? "").replace(/^\/\/ ?/gm, "");

/** The example of the declaration, or a link to another example that uses it. */
function exampleOf(names, anchors) {
  const examples = headerExamples();
  const [first] = examplesOf(names, examples);
  if (first === undefined) return "";
  if (!names.includes(first) && anchors.has(first))
    return `<p>Used in the example of <a href="#${first}">${escaped(first)}</a>.</p>`;
  const code = coloured(examples.get(first), "cpp");
  return `<pre class="code scroll" tabindex="0"><code>${code}</code></pre>`;
}

export function headersPage() {
  const headings = [];
  const anchors = new Set(
    headers().flatMap(({ text }) => declarations(text).flatMap(({ name }) => name ?? [])),
  );
  const used = new Map();
  const parts = headers().map(({ name: file, text }) => {
    const id = file.replace(".", "-");
    headings.push({ id, words: file, level: 2 });
    const shownParts = declarations(text).map((part) => {
      if (part.heading !== undefined)
        return `<h3 class="theme">${escaped(part.heading)}</h3>\n${render(part.words, { words: true }).html}`;
      const count = used.get(part.name) ?? 0;
      used.set(part.name, count + 1);
      const anchor = count === 0 ? part.name : `${part.name}-${count}`;
      if (count === 0) headings.push({ id: anchor, words: part.name, level: 3 });
      return `<section class="symbol" id="${anchor}">
<h3><a href="#${anchor}">${escaped(part.name)}</a></h3>
${render(part.comment, { words: true }).html}
<pre class="signature scroll" tabindex="0"><code>${coloured(part.code, "cpp")}</code></pre>
${count === 0 ? exampleOf(namesIn(part), anchors) : ""}
</section>`;
    });
    const words = `<pre class="about">${escaped(about(text).trim())}</pre>`;
    return `<h2 id="${id}">${file}</h2>\n${about(text) ? words : ""}\n${shownParts.join("\n")}`;
  });
  return { html: parts.join("\n"), headings };
}
