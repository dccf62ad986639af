// The links of the documentation: every page of the site, each link within it and to others, each anchor, and that
// pages need nothing that the site's policy forbids. Links to other sites are checked for their form only.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { tasks } from "heed/models";
import { describe, expect, test } from "vitest";
import { engines, exports as entries } from "../../../package.json";
import { render } from "../../../web/docs/markdown.mjs";
import { placeOf } from "../../../web/docs/moved.js";
import { documents, fileOf, pages, pictures } from "../../../web/docs/site.mjs";

const root = join(import.meta.dirname, "../../..");
const all = await pages();
const site = new Map(all.map(({ file, html }) => [file, html]));

/** Files in the folders of the pages, and the Playground's files above them. */
const others = new Set([
  ...["base.css", "docs.css", "docs.js", "./", "../", "../icon.svg", "../theme.js"],
  ...readdirSync(join(root, "web/public/models/write")).map((name) => `../models/write/${name}`),
  ...pictures.map((path) => path.split("/").at(-1) as string),
]);

const attributes = (html: string) =>
  [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, address]) =>
    (address as string).replaceAll("&amp;", "&"),
  );
const idsIn = (html: string) => [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id as string);

/** The pages of the chapters of the package's guide. */
const chapters = render(readFileSync(join(root, "bindings/js/README.md"), "utf8"))
  .headings.filter(({ level }) => level === 2)
  .map(({ id }) => `package-${id}.html`);

/** The links of a page whose targets do not exist. */
function broken(file: string, html: string, all: ReadonlyMap<string, string>): string[] {
  return attributes(html).filter((address) => {
    if (/^https?:/.test(address)) return !URL.canParse(address);
    const [path, anchor] = address.split("#") as [string, string | undefined];
    const target = path === "" ? file : path;
    if (others.has(target)) return false;
    const found = all.get(target);
    return found === undefined || (anchor !== undefined && !idsIn(found).includes(anchor));
  });
}

describe("The documentation", () => {
  test("has a page for each document, each entry of the package and the headers", () => {
    const names = Object.keys(entries).filter((name) => !/\.\w+$/.test(name));
    const wanted = [
      "index.html",
      ...documents.flatMap(({ pages }) => pages.map(({ file }) => file)),
      ...chapters,
      ...names.map((name) => fileOf(name.replace(/^\./, "heed").replace(/^heed$/, "heed"))),
      "reference-cpp.html",
    ];
    expect([...site.keys()].sort()).toEqual(wanted.sort());
  });

  test.for([...site])("%s has no link that leads nowhere", ([file, html]) => {
    expect(broken(file, html, site)).toEqual([]);
    const ids = idsIn(html);
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
  });

  test("links that lead nowhere are found", () => {
    const links = ["#here", "#gone", "b.html", "b.html#there", "b.html#gone", "c.html", "https://"];
    const html = `<p id="here">${links.map((to) => `<a href="${to}">x</a>`).join("")}</p>`;
    const all = new Map([
      ["a.html", html],
      ["b.html", '<p id="there"></p>'],
    ]);
    expect(broken("a.html", html, all)).toEqual(["#gone", "b.html#gone", "c.html", "https://"]);
  });

  test.for([...site])("%s needs nothing that the policy forbids, nor another site", ([, html]) => {
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style|<[^>]* (?:style|on\w+)=/);
    const loaded = [...html.matchAll(/<(?:script|link|img|iframe)[^>]* (?:src|href)="([^"]*)"/g)];
    expect(loaded.filter(([, address]) => /^(https?:)?\/\//.test(address as string))).toEqual([]);
    // Below any path: no address begins at the root.
    expect(attributes(html).filter((address) => address.startsWith("/"))).toEqual([]);
  });
});

/** The relative links of a Markdown file, with the file that each leads to. */
function linksOf(path: string): { href: string; file: string; anchor: string | undefined }[] {
  const found: string[] = [];
  render(readFileSync(join(root, path), "utf8"), {
    link: (href) => {
      found.push(href);
      return href;
    },
  });
  return found
    .filter((href) => !/^https?:/.test(href))
    .map((href) => {
      const [target = "", anchor] = href.split("#");
      return { href, file: target === "" ? path : normalize(join(dirname(path), target)), anchor };
    });
}

describe("The package's guide", () => {
  const text = readFileSync(join(root, "bindings/js/README.md"), "utf8");
  const { headings } = render(text);

  test("has its text in its chapters, each once", () => {
    const shown = (html: string) => html.replace(/<nav.*?<\/nav>|<[^>]*>|\s/gs, "");
    const mains = ["package.html", ...chapters].map(
      (file) => /<main>(.*)<\/main>/s.exec(site.get(file) as string)?.[1] as string,
    );
    expect(mains.map(shown).join("")).toBe(shown(render(text).html));
  });

  test("has each heading in the chapter that its links lead to", () => {
    expect(chapters.length).toBeGreaterThan(8);
    expect(headings.length).toBeGreaterThan(20);
    let file = "package.html";
    for (const { id, level } of headings) {
      if (level === 2) file = `package-${id}.html`;
      expect(idsIn(site.get(file) as string)).toContain(id);
      const first = site.get("package.html") as string;
      if (level > 1) expect(attributes(first)).toContain(`${file}#${id}`);
    }
  });

  test("has chapters that lead to the one before and the one after", () => {
    const files = ["package.html", ...chapters];
    for (const [i, file] of files.entries()) {
      const turn = /<nav class="turn".*?<\/nav>/s.exec(site.get(file) as string)?.[0] as string;
      expect(attributes(turn)).toEqual(
        files.slice(Math.max(0, i - 1), i + 2).filter((f) => f !== file),
      );
    }
  });
});

describe("Old addresses", () => {
  const addresses = all.flatMap(({ sections }) => sections.map(({ href }) => href));

  test.each([
    ["index.html", "README.md", () => "overview.html"],
    ["package.html", "bindings/js/README.md", (chapter: string) => `package-${chapter}.html`],
  ])("of %s lead to the headings of %s", (page, path, fileOf) => {
    const { headings } = render(readFileSync(join(root, path), "utf8"));
    let chapter = "";
    for (const { id, level } of headings.slice(1)) {
      if (level === 2) chapter = id;
      expect(placeOf(page, `#${id}`, addresses)).toBe(`${fileOf(chapter)}#${id}`);
      if (page === "index.html")
        expect(placeOf("", `#${id}`, addresses)).toBe(`overview.html#${id}`);
    }
    expect(placeOf(page, "#no-such-heading", addresses)).toBeUndefined();
  });

  test("of a section that became a part of another guide lead to that guide", () => {
    expect(placeOf("package.html", "#memory", addresses)).toBe("memory.html#memory");
  });
});

describe("The Markdown files", () => {
  const paths = documents.flatMap(({ pages }) => pages.map(({ path }) => path));

  test.for([...paths, "web/public/README.md"])(
    "%s links to files and headings that exist",
    (path) => {
      const lost = linksOf(path).filter(({ file, anchor }) => {
        if (!existsSync(join(root, file))) return true;
        if (anchor === undefined || !file.endsWith(".md")) return false;
        const { headings } = render(readFileSync(join(root, file), "utf8"));
        return !headings.some(({ id }) => id === anchor);
      });
      expect(lost.map(({ href }) => href)).toEqual([]);
    },
  );
});

describe("CONTRIBUTING.md", () => {
  const text = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
  const dev = readFileSync(join(root, "dev"), "utf8");
  const usage = /usage\(\) \{[\s\S]*?\n\}/.exec(dev)?.[0] as string;
  const commands = [...text.matchAll(/\.\/dev ([a-z]+)([^`\n]*)/g)].map(
    ([, name, rest]) => [name, rest] as [string, string],
  );

  test("names commands and options of ./dev that exist", () => {
    expect(commands.length).toBeGreaterThan(8);
    for (const [name, rest] of commands) {
      expect(`${usage}\n  help`).toMatch(RegExp(`^  ${name}\\b`, "m"));
      for (const [option] of rest.matchAll(/--[a-z-]+/g)) expect(usage).toContain(option);
    }
  });

  test("names scripts of npm that exist", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const names = [...text.matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(2);
    for (const name of names) expect(Object.keys(scripts)).toContain(name);
  });

  test("names files and folders that exist, but for what is built", () => {
    const paths = [...text.matchAll(/`([\w./-]+\/[\w.-]+)`/g)]
      .map(([, path]) => path as string)
      .filter((path) => !/^(\.\/|build\/|heed\/)/.test(path));
    expect(paths.length).toBeGreaterThan(10);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test("lists the eight files that contain logsumexp, the example of an operation", () => {
    const steps = text.slice(text.indexOf("## Adding"), text.indexOf("## Documentation"));
    const sources = [...steps.matchAll(/`((?:include|src|bindings|tests)\/[\w./]+\.\w+)`/g)]
      .map(([, path]) => path as string)
      .filter((path) => !/table\.|index\./.test(path));
    expect(sources).toHaveLength(8);
    for (const path of sources)
      expect(readFileSync(join(root, path), "utf8"), path).toContain("logsumexp");
  });
});

describe("Facts that several documents state", () => {
  const paths = ["README.md", "CHANGELOG.md", "bindings/js/README.md"];
  const texts = paths.map((path) => [path, readFileSync(join(root, path), "utf8")] as const);
  const stated = (pattern: RegExp) =>
    texts.flatMap(([path, text]) =>
      [...text.matchAll(pattern)].map(([, fact]) => ({ path, fact })),
    );

  test.each([
    ["rooms of the Playground", /\b(\w+) rooms\b/g, readdirSync(join(root, "web/src/rooms"))],
    ["tasks that models learn", /\b(\w+) tasks generated\b/g, Object.keys(tasks)],
  ])("the number of %s is that of the code", (_, pattern, names) => {
    const words = ["six", "seven", "eight", "nine", "ten"];
    const found = stated(pattern);
    expect(found).not.toEqual([]);
    for (const { path, fact } of found)
      expect([path, fact]).toEqual([path, words[names.length - 6]]);
  });

  test("the oldest Node is that of package.json", () => {
    const [, oldest] = />=(.*)/.exec(engines.node) as RegExpExecArray;
    const found = stated(/Node (?:must be )?(\d+\.\d+) or later/g);
    expect(found.length).toBeGreaterThan(1);
    for (const { path, fact } of found) expect([path, fact]).toEqual([path, oldest]);
  });

  test("the guide names the families of the hub's models that are read", () => {
    const code = readFileSync(join(root, "bindings/js/models/language/config.ts"), "utf8");
    const [, list] = /const readers\b[^{]*\{(.*?)\n\}/s.exec(code) as RegExpExecArray;
    const families = [...(list as string).matchAll(/([\w-]+)"?: read/g)].map(([, name]) =>
      (name as string).replaceAll("-", ""),
    );
    expect(families.length).toBeGreaterThan(8);
    const guide = texts.at(-1)?.[1].toLowerCase().replaceAll("-", "") as string;
    expect(families.filter((family) => !guide.includes(family))).toEqual([]);
  });
});

describe("The guide to errors", () => {
  const words = readFileSync(join(root, "bindings/js/core/error.ts"), "utf8");
  const codes = /export type HeedErrorCode =([^;]*(?:;[^\n]*\n)?[^;]*?);/.exec(
    words.replace(/\/\/.*$/gm, ""),
  )?.[1];

  test("has a section for each code, in their order", () => {
    const { headings } = render(readFileSync(join(root, "web/guides/errors.md"), "utf8"));
    const wanted = [...(codes as string).matchAll(/"(\w+)"/g)].map(([, code]) => code);
    expect(wanted.length).toBeGreaterThan(8);
    expect(headings.filter(({ level }) => level === 2).map(({ words }) => words)).toEqual(wanted);
  });
});
