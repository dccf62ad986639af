// The training of a language model, from the plan to the files.

import { relative } from "node:path";
import { CausalLanguageModel, TextTrainer, textLoss } from "heed/models";
import { safetensors } from "heed/nn";
import { writeFiles } from "../folder.mjs";
import { asMisuse, Interrupted, runTraining } from "../session.mjs";
import { cardOf } from "./card.mjs";
import { corpusOf, documentsOf } from "./corpus.mjs";
import { KneserNey } from "./kneserNey.mjs";
import { obtain } from "./obtain.mjs";
import { configOf } from "./plan.mjs";
import { reportOfText } from "./report.mjs";
import { samplesOf } from "./samples.mjs";

/** Trains a language model on the sources, or on the user's own file: see runTraining. */
export async function trainText(heed, plan, session) {
  const { signal, progress } = session;
  const say = (text) => progress.say(text);
  const documents = plan.text
    ? await documentsOf(plan.text)
    : await obtain(plan.texts, { signal, say }).catch((error) => {
        throw signal.aborted ? new Interrupted("fetching was interrupted") : error;
      });
  const corpus = corpusOf(documents, plan.vocabulary);
  const { tokenizer, train, held } = corpus;
  say(`${train.length} tokens to learn, of ${tokenizer.size} different ones`);
  const config = configOf(plan, tokenizer.size);
  const { recipe, seed } = plan;
  const { length } = recipe;
  const model = await asMisuse(() => new CausalLanguageModel(heed, config, { seed }));
  let trainer;
  try {
    trainer = await asMisuse(() => new TextTrainer(model, train, { recipe, seed }));
    await runTraining(trainer, plan, session, {
      look: async (signal) => {
        model.eval();
        return { loss: (await textLoss(model, held, { length, stride: length, signal })).loss };
      },
      scoreOf: ({ loss }) => -loss,
      describe: (look) => `held out ${look === undefined ? "-" : look.loss.toFixed(4)}`,
      isGood: () => false,
      finish: (log, signal) => finish(trainer, plan, { corpus, config, log, signal, progress }),
    });
  } finally {
    trainer?.dispose();
    model.dispose();
  }
}

/** Writes the best model, and the scores of the rounded parameters in its file. */
async function finish(trainer, plan, { corpus, config, log, signal, progress }) {
  const { heed } = trainer.model;
  const { tokenizer } = corpus;
  const weights = rounded(heed, trainer.best.parameters);
  const loaded = new CausalLanguageModel(heed, config, { seed: plan.seed });
  try {
    loaded.loadStateDict(safetensors.read(weights).tensors);
    loaded.eval();
    const scores = await scoresOf(loaded, corpus, plan.recipe.length, signal);
    const samples = await samplesOf(loaded, tokenizer, signal);
    const report = reportOfText({ trainer, plan, corpus, log, scores, samples, weights });
    await writeFiles(plan.out, {
      "model.safetensors": weights,
      "config.json": `${JSON.stringify(config, undefined, 2)}\n`,
      "tokenizer.json": tokenizer.toFile(),
      "report.json": report,
      "README.md": cardOf(JSON.parse(report), plan.text === undefined),
    });
    const { model, kneserNey } = scores.all;
    const perplexities = [model, kneserNey].map(({ perplexity }) => perplexity.toFixed(2));
    progress.say(
      `best at step ${trainer.best.step}: perplexity ${perplexities[0]} held out, ${perplexities[1]} of 5-grams`,
    );
    progress.say(
      `${Math.round(log.seconds)} s, files in ${relative(process.cwd(), plan.out) || "."}`,
    );
  } finally {
    loaded.dispose();
  }
}

/** The bytes of a file that stores the parameters in float16. */
function rounded(heed, parameters) {
  return heed.scope(() => {
    const tensors = Object.entries(parameters).map(([name, { shape, data }]) => [
      name,
      heed.cast(heed.tensor(data, shape), "float16"),
    ]);
    return safetensors.write(Object.fromEntries(tensors), { format: "pt" });
  });
}

/** The losses on the documents of each source and on all documents, compared with 5-grams. */
async function scoresOf(model, { tokenizer, train, tests }, length, signal) {
  const grams = new KneserNey(train, tokenizer.size);
  const rows = [];
  for (const { source, bytes, tokens } of tests) {
    const { loss, count } = await textLoss(model, tokens, { length, signal });
    rows.push({ source, bytes, tokens: count, model: loss * count, kneserNey: grams.loss(tokens) });
  }
  const sum = (name) => rows.reduce((all, row) => all + row[name], 0);
  const all = Object.fromEntries(
    ["bytes", "tokens", "model", "kneserNey"].map((name) => [name, sum(name)]),
  );
  const measures = ({ bytes, tokens, model, kneserNey }) => {
    const of = (loss) => ({
      perplexity: Math.exp(loss / tokens),
      bitsPerByte: loss / Math.LN2 / bytes,
    });
    return { bytes, tokens, model: of(model), kneserNey: of(kneserNey) };
  };
  return {
    all: measures(all),
    ...Object.fromEntries(rows.map((row) => [row.source, measures(row)])),
  };
}
