/** The description of the open model. */
import { formatBytes } from "../../../shared/format";
import { Lockable } from "../../../shared/Panel";
import type { Card } from "./messages";

const architectures: Readonly<Record<string, string>> = {
  gpt2: "GPT-2",
  llama: "Llama",
  mistral: "Mistral",
  qwen2: "Qwen2",
  qwen3: "Qwen3",
  phi3: "Phi-3",
  gemma2: "Gemma 2",
  gemma3: "Gemma 3",
  bert: "BERT",
  roberta: "RoBERTa",
  "xlm-roberta": "XLM-RoBERTa",
  distilbert: "DistilBERT",
  mpnet: "MPNet",
  modernbert: "ModernBERT",
  t5: "T5",
  mt5: "mT5",
  bart: "BART",
  mbart: "mBART",
  marian: "Marian",
  m2m_100: "M2M-100",
};

/** A number with its unit, such as 124 million. */
function manyOf(count: number): string {
  if (count < 1e6) return count.toLocaleString("en");
  // From 999.5 million on, three digits would be 1000.
  const [size, unit] = count < 999.5e6 ? [count / 1e6, "million"] : [count / 1e9, "billion"];
  return `${size.toPrecision(3)} ${unit}`;
}

/** Tells a person the limits of our model before its texts are read. */
const aboutOurs =
  "It learned from English texts in the public domain, from the King James Bible to presidents’ addresses, and what it writes rarely makes sense.";

/** The task of a model, in words. */
const does: Readonly<Record<Card["predicts"], string>> = {
  causal: "predicts the next token",
  masked: "sees both sides",
  seq2seq: "reads an input and writes an answer",
};

/** A size of the encoder and of the decoder if there are both and if they differ. */
const sizesIn = ({ attentions }: Card, of: "heads" | "headSize") =>
  [...new Set(attentions.map((each) => each[of]))].join(" + ");

/** The number of layers, of the encoder and of the decoder if there are both. */
const layersIn = ({ attentions }: Card) =>
  attentions
    .slice(0, 2)
    .map(({ layers }) => layers)
    .join(" + ");

/** More positions than a text ever has, in a model that has no limit (T5). */
const anyLength = 2 ** 20;

/** The facts about a model by name. */
function factsOf(card: Card): (readonly [name: string, value: string])[] {
  const { architecture, predicts, attentions, context, perplexity } = card;
  const [{ heads, groups }] = attentions;
  const shared = groups < heads ? `, ${groups} groups share keys` : "";
  const named = architectures[architecture] ?? architecture;
  return [
    ["architecture", `${named}, ${does[predicts]}`],
    ["layers", layersIn(card)],
    [
      "heads",
      `${sizesIn(card, "heads")} in each layer, of ${sizesIn(card, "headSize")} numbers${shared}`,
    ],
    ["parameters", manyOf(card.parameters)],
    ["memory", `${formatBytes(card.bytes)} as ${card.dtype}`],
    ["context", `${context < anyLength ? context.toLocaleString("en") : "any number of"} tokens`],
    ["vocabulary", `${card.vocabulary.toLocaleString("en")} tokens`],
    ...(perplexity === null ? [] : [["perplexity", `${perplexity} on unseen texts`] as const]),
  ];
}

/** @param close closes the model; null if it stays open */
export function CardView({ card, close }: { card: Card; close: (() => void) | null }) {
  return (
    <div class="model-card line" data-model={card.model}>
      <h2>{card.name}</h2>
      <details>
        <summary>
          {layersIn(card)} layers of {sizesIn(card, "heads")} heads
        </summary>
        {card.whose === "ours" && <p>{aboutOurs}</p>}
        <dl class="line">
          {factsOf(card).map(([name, value]) => (
            <div key={name} data-fact={name}>
              <dt class="faint">{name}</dt>
              <dd class="number">{value}</dd>
            </div>
          ))}
        </dl>
        {close && (
          <Lockable>
            <button type="button" class="link" onClick={close}>
              Close this model
            </button>
          </Lockable>
        )}
      </details>
    </div>
  );
}
