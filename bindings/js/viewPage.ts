// The script of the page that `heed view` writes. The build bundles it into one module, which
// cli.ts puts into the page.

import { heads } from "./view/elements/heads.js";
import { type Attention, readAttention } from "./view/files/attention.js";
import { attentionTitles } from "./view/files/words.js";
import type { PageData } from "./view/page/document.js";
import { maskOf } from "./view/page/mask.js";

/** The bytes of a text in base64. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const chars = atob(base64);
  const bytes = new Uint8Array(chars.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = chars.charCodeAt(i);
  return bytes;
}

/** The weights, which are in the page as base64. */
function weightsIn(page: Document): Blob {
  const blocks = Array.from(page.querySelectorAll(".weights"), (block) => {
    // The text is as long as the bytes, so it is removed.
    block.remove();
    return bytesOf(block.textContent ?? "");
  });
  return new Blob(blocks);
}

function add<Name extends keyof HTMLElementTagNameMap>(parent: Element, name: Name, text: string) {
  const element = document.createElement(name);
  element.textContent = text;
  parent.append(element);
  return element;
}

async function show(main: Element): Promise<void> {
  const data = JSON.parse(document.getElementById("data")?.textContent ?? "") as PageData;
  const weights = weightsIn(document);
  const save = document.getElementById("save") as HTMLAnchorElement;
  save.href = URL.createObjectURL(weights);
  save.download = `${data.title}.npz`;
  save.hidden = false;
  const { attentions } = await readAttention([{ name: "weights", data: weights }]);
  for (const [i, attention] of attentions.entries()) {
    if (attentions.length > 1) add(main, "h2", attentionTitles[attention.name]);
    main.append(pictureOf(attention, data, i));
  }
}

function pictureOf(attention: Attention, page: PageData, index: number): HTMLElement {
  const { data, shape } = attention;
  const { queries = null, keys = null } = page.tokens[index] ?? {};
  return heads({
    ...{ data, shape, queries, keys, label: page.title },
    mask: maskOf(attention, page),
  });
}

const main = document.querySelector("main") as Element;
show(main).catch((error: Error) => {
  add(main, "p", `This file is damaged: ${error.message}`).setAttribute("role", "alert");
});
