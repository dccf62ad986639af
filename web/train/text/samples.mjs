// Unedited samples of a language model.

const prompts = [
  "It is a truth universally acknowledged, that",
  "Call me Ishmael.",
  "And it came to pass in those days,",
  "Fellow citizens of the Senate",
  "The whale",
  '"Oh!" said the president,',
];
const tokensOfASample = 80;

/** Two continuations of each prompt, sampled with seeds that were not selected by hand. */
export async function samplesOf(model, tokenizer, signal) {
  const samples = [];
  for (const prompt of prompts) {
    const ids = [tokenizer.endId, ...tokenizer.encode(prompt).ids];
    const maxLength = Math.min(tokensOfASample, model.config.context + 1 - ids.length);
    if (maxLength < 1) continue;
    for (const seed of [1, 2]) {
      const options = { maxLength, temperature: 0.8, topP: 0.95, seed, signal };
      const [tokens] = await model.generate([ids], options);
      samples.push({ prompt, seed, text: tokenizer.decode(tokens) });
    }
  }
  return samples;
}
