// The model card: the model's architecture, its training data, and how well it predicts.

import { sources } from "./sources.mjs";

const rowsOf = (heldOut) =>
  Object.entries(heldOut).map(([name, { bytes, tokens, model, kneserNey }]) => {
    const values = [model, kneserNey].flatMap(({ perplexity, bitsPerByte }) => [
      perplexity.toFixed(2),
      bitsPerByte.toFixed(3),
    ]);
    return `| ${[name, bytes, tokens, ...values].join(" | ")} |`;
  });

const textsOf = () =>
  sources.map(
    ({ name, title, licence, npm, debian }) =>
      `- ${name}: ${title}, from ${npm ? `npm's \`${npm}\`` : `Debian's \`${debian}\``}; ${licence}.`,
  );

/** The README.md next to the model, made from its report. */
export function cardOf(report, hasSources) {
  const { name, parameters, bytes, text, steps, bestStep, tokens, recipe, seed } = report;
  const { versions, heldOut, samples, processorSeconds } = report;
  const command = hasSources ? "./dev train write" : "./dev train write --text FILE";
  const lines = [
    `# ${name}`,
    "",
    `A decoder of ${parameters} parameters in Llama's layout, which continues English texts of earlier centuries. Its tokens are bytes and merges of bytes (${text.vocabulary}), so it takes any text. ${bytes} bytes in float16.`,
    "",
    `Made by \`${command}\` (Heed ${versions.heed}, binary "${versions.variant}", seed ${seed}) in ${Math.round(processorSeconds / 60)} minutes of one core: ${steps} steps of ${recipe.batch} x ${recipe.length} tokens, ${tokens} in total, ${(tokens / text.tokens).toFixed(1)} times the text. AdamW, learning rate ${recipe.learningRate} with warm-up and cosine, weight decay ${recipe.weightDecay}. The parameters are those of step ${bestStep}, the best on the validation split.`,
    "",
    "## Texts",
    "",
    ...(hasSources ? [...textsOf(), ""] : []),
    `${text.documents.train} documents to learn from (${text.bytes} bytes, ${text.tokens} tokens), ${text.documents.validation} for validation, ${text.documents.test} for the test. A document is an address, a chapter of a novel or a book of the Bible. Whole documents are held out; other chapters of the same novels are not.`,
    "",
    "## Held out",
    "",
    "Perplexity per token, and bits per byte, of the documents of the test split, with half of the context or more before each token. 5-grams: interpolated modified Kneser-Ney over the same tokens and text.",
    "",
    "| documents | bytes | tokens | perplexity | bits per byte | 5-grams: perplexity | bits per byte |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...rowsOf(heldOut),
    "",
    "## Samples, as they came",
    "",
    "Temperature 0.8, top-p 0.95.",
    "",
    ...samples.flatMap((sample) => [
      `> **${sample.prompt}**${sample.text.replace(/\s*\n+\s*/g, " / ")}`,
      "",
    ]),
    "## Limits",
    "",
    "It is small and knows only these texts: it writes sentences, not facts, and repeats the opinions of their times.",
  ];
  return `${lines.join("\n")}\n`;
}
