// On a narrow page the lists are closed until a person opens them.
if (matchMedia("(max-width: 63.99rem)").matches)
  for (const list of document.querySelectorAll("nav details")) list.open = false;

const made = (tag, properties, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

// A button copies each block of code. Browsers have no clipboard on pages without HTTPS.
for (const code of navigator.clipboard ? document.querySelectorAll("pre.code") : []) {
  const button = made("button", { type: "button", className: "copy", textContent: "Copy" });
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 2000);
  });
  const block = made("div", { className: "code-block" });
  code.replaceWith(block);
  block.append(code, button);
}

/** The sections of all pages, with their addresses. */
const sections = () => fetch("sections.json").then((response) => response.json());

/** The part of the address after "#"; it may have been typed. */
function typedHash() {
  try {
    return decodeURIComponent(location.hash);
  } catch {
    return "";
  }
}

// An old address leads to the page that has its heading now.
const hash = typedHash();
if (hash !== "" && !document.getElementById(hash.slice(1)))
  Promise.all([import("./moved.js"), sections()]).then(([{ placeOf }, all]) => {
    const page = location.pathname.split("/").at(-1);
    const place = placeOf(
      page,
      hash,
      all.map(({ href }) => href),
    );
    if (place) location.replace(place);
  });

// The pictures of pages that have one.
if (document.querySelector("heed-matrix, heed-steps"))
  import("./view.js").then(({ defineElements }) => defineElements());

const most = 12;
const field = document.querySelector("[data-search]");
const list = document.querySelector(".found");
field.closest("search").hidden = false;

/** The text around the first found word. */
function excerpt({ text, terms }) {
  const at = terms.map((term) => text.toLowerCase().indexOf(term)).filter((place) => place >= 0);
  const start = Math.max(0, Math.min(...(at.length > 0 ? at : [0])) - 30);
  const end = start + 110;
  return `${start > 0 ? "…" : ""}${text.slice(start, end)}${end < text.length ? "…" : ""}`;
}

/** The search over the sections of all pages, loaded when a person first needs it. */
let engine;
async function load() {
  const [{ default: MiniSearch }, all] = await Promise.all([import("./minisearch.js"), sections()]);
  const search = new MiniSearch({
    fields: ["title", "text"],
    storeFields: ["href", "page", "title", "text"],
    searchOptions: { boost: { title: 4 }, prefix: true, fuzzy: 0.15, combineWith: "AND" },
  });
  search.addAll(all.map((section, id) => ({ id, ...section })));
  return search;
}

async function show() {
  const words = field.value.trim();
  engine ??= load();
  const search = await engine.catch(() => {
    engine = undefined;
  });
  if (words !== field.value.trim()) return;
  const found = search?.search(words).slice(0, most) ?? [];
  const none = search ? "No section has these words." : "The search could not be loaded.";
  list.replaceChildren(
    ...found.map((section) =>
      made(
        "li",
        {},
        made("a", { href: section.href, textContent: section.title }),
        made("span", { className: "faint", textContent: ` ${section.page}` }),
        made("p", { className: "faint", textContent: excerpt(section) }),
      ),
    ),
    ...(found.length === 0 ? [made("li", { className: "faint", textContent: none })] : []),
  );
  list.hidden = words === "";
}

field.addEventListener("input", show);
field.addEventListener("keydown", ({ key }) => {
  if (key === "Enter") list.querySelector("a")?.click();
  if (key !== "Escape") return;
  field.value = "";
  list.hidden = true;
});
list.addEventListener("click", ({ target }) => {
  if (target.closest("a")) list.hidden = true;
});
