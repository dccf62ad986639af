// Writes one HTML file that shows attention weights. The file contains its script, its style, its
// weights and its tokens, and its content security policy forbids all other sources. So it opens
// from a disk, from an e-mail and without a network.

import type { Attention } from "../files/attention.js";
import { attentionSizes } from "../files/words.js";

interface DocumentContent {
  readonly title: string;
  readonly attentions: readonly Attention[];
  /** How the weights were rounded; null if they were not. */
  readonly rounded: string | null;
  /** "causal" if a query cannot see later keys. */
  readonly mask: "causal" | null;
  /** The module that shows the weights; it has no imports. */
  readonly script: string;
  /** The weights as .npz in base64, in blocks of a length that is a multiple of 4. */
  readonly blocks: readonly string[];
  /** The version of the package. */
  readonly version: string;
}

/** The data that the script of the page reads: see ../../viewPage.ts. */
export interface PageData {
  readonly title: string;
  readonly mask: "causal" | null;
  /** The tokens of each attention, in the order of the arrays. */
  readonly tokens: readonly {
    readonly queries: readonly string[] | null;
    readonly keys: readonly string[] | null;
  }[];
}

const style = `
:root { color-scheme: light dark; }
body {
  max-width: 80rem;
  margin: 0 auto;
  padding: 1rem;
  color: #1f2124;
  background: #ffffff;
  font: 1rem / 1.5 system-ui, -apple-system, "Segoe UI", sans-serif;
}
h1 { margin: 0; font-size: 1.375rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 1.5rem 0 0.5rem; font-size: 1.125rem; }
p { margin: 0.5rem 0; }
.facts, footer { font-size: 0.875rem; color: #5f6268; }
footer { margin-top: 1.5rem; }
a { color: #0072b2; }
[role=alert] { padding: 0.5rem 0.75rem; border-left: 3px solid; }
@media (prefers-color-scheme: dark) {
  body { color: #e8e6e1; background: #1b1c1f; }
  .facts, footer { color: #a5a8ae; }
  a { color: #5cb4e8; }
}
@media print {
  body { max-width: none; padding: 0; color: #1f2124; background: #ffffff; }
  .facts { color: #5f6268; }
  footer { display: none; }
}
`;

const escaped = (text: string) => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);

/** JSON that cannot end the script element that contains it. */
const jsonIn = (value: unknown) => JSON.stringify(value).replace(/</g, "\\u003c");

async function hashOf(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `'sha256-${btoa(String.fromCharCode(...new Uint8Array(bytes)))}'`;
}

/** The file, in parts: all together may exceed the largest length of a string. */
export async function* documentOf(content: DocumentContent): AsyncGenerator<string> {
  const { title, attentions, rounded, mask, script, blocks, version } = content;
  const [scriptHash, styleHash] = await Promise.all([hashOf(script), hashOf(style)]);
  const policy = [
    ...["default-src 'none'", `script-src ${scriptHash}`, `style-src ${styleHash}`],
    ...["img-src blob: data:", "base-uri 'none'", "form-action 'none'"],
  ].join("; ");
  const data: PageData = {
    ...{ title, mask },
    tokens: attentions.map(({ queries, keys }) => ({ queries, keys })),
  };
  const facts = attentions.map(attentionSizes).filter((fact, i, all) => all.indexOf(fact) === i);
  const note = rounded === null ? "" : ` ${rounded}`;
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="heed ${version}">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p class="facts">${escaped(`${facts.join("; ")}.${note}`)}</p>
<noscript><p role="alert">The pictures need JavaScript. The weights are in this file.</p></noscript>
</main>
<footer><p>Made with heed ${version}. <a id="save" hidden>Save the weights (.npz)</a></p></footer>
<script type="application/json" id="data">${jsonIn(data)}</script>
`;
  for (const block of blocks) yield `<script type="text/plain" class="weights">${block}</script>\n`;
  yield `<script type="module">${script}</script>
</body>
</html>
`;
}
