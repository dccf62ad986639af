/** The first page: one sentence about Heed, a picture, and links for readers with different aims. */
import { escaped } from "./markdown.mjs";

/** Groups of links: the address, the aim of the reader, and the content of the page. */
const ways = [
  [
    "Learn and teach",
    [
      [
        "../",
        "See attention on your sentence",
        "The Playground computes it step by step, trains small models, and writes text.",
      ],
      [
        "view.html",
        "Put a picture into a lesson",
        "Elements for pages, slides and notebooks, such as the one above.",
      ],
      [
        "package-models-that-learn-to-attend.html",
        "Train a small model",
        "Tasks such as sorting letters and reading dates, and models that learn them.",
      ],
    ],
  ],
  [
    "Study a model",
    [
      [
        "gpt2.html",
        "Show all heads of GPT-2",
        "Two ways: a page that computes them, or a file that Python saved.",
      ],
      [
        "package-language-models-of-the-hub.html",
        "Run a model of Hugging Face's hub",
        "Every weight of every head; without some heads; the prediction of each layer.",
      ],
      [
        "package-pictures-of-attention.html",
        "Read weights from files",
        "Formats, saved pictures, speed, and a comparison with BertViz and others.",
      ],
      [
        "numerics.html",
        "Trust the numbers",
        "Errors of each operation, and which results are the same bits everywhere.",
      ],
    ],
  ],
  [
    "Build with it",
    [
      [
        "which.html",
        "Compute attention in JavaScript",
        "In a page, in a worker, in Node; with React, Vue, Svelte or Next.",
      ],
      [
        "package-training.html",
        "Train a transformer",
        "Gradients, modules and optimisers under PyTorch's names.",
      ],
      ["texts.html", "Search, classify, translate, chat", "A complete page for each, in a worker."],
      ["decisions.html", "Use it from C++", "The same library without WebAssembly."],
      [
        "overview.html",
        "Decide if it is for you",
        "Sizes, speed beside other libraries, and what to take instead.",
      ],
    ],
  ],
  [
    "Look up",
    [
      ["package.html", "The package, chapter by chapter", "Every part of it, with examples."],
      [
        "reference-heed.html",
        "The reference",
        "Every function with its shapes, errors and an example.",
      ],
      ["pytorch.html", "The name in PyTorch", "What each part is called there and here."],
      ["errors.html", "An error", "What each code means, and what to do."],
    ],
  ],
];

const way = ([href, want, text]) =>
  `<li><a href="${href}">${escaped(want)}</a><p>${escaped(text)}</p></li>`;

const group = ([title, all]) =>
  `<section><h2>${escaped(title)}</h2>\n<ul>${all.map(way).join("\n")}</ul></section>`;

/** The three words of the tutorial. */
const vectors = "[[1,0,0,1],[0,1,0,0],[1,0,1,0]]";

export const start = {
  file: "index.html",
  title: "Start",
  headings: [],
  html: `<div class="hero">
<div>
<h1>Heed</h1>
<p class="lead">Heed computes, trains and shows attention, the central operation of transformers, in the browser and in Node, with every weight on request.</p>
<p class="first"><a href="tutorial.html">Attention in five minutes</a></p>
</div>
<heed-steps q="${vectors}" k="${vectors}" v="${vectors}" tokens="cat sees dog" step="21" label="Attention of three words"></heed-steps>
</div>
<div class="ways">${ways.map(group).join("\n")}</div>`,
};
