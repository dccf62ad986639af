/** The two ends of a trace: the embedding of the token, and the prediction that is read out at the end. */

import { useMemo } from "preact/hooks";
import { useWeightPalette } from "../picture/useWeightPalette";
import { label } from "../shared/pieces";
import type { Facts } from "./facts";
import { wide } from "./HeadParts";
import { Norm, Part, strip } from "./LayerParts";
import type { PredictionNumbers, RowName, StartNumbers } from "./messages";
import { cellIn, labelSpace, Strips } from "./Strips";

const numberWidth = 80;
const rowHeight = 20;
const gaps = 2 * 16;

interface EndProps {
  facts: Facts;
  /** In pixels. */
  width: number;
}

/** How the model adds the position. */
const positionWords: Readonly<Record<StartNumbers["positions"], string>> = {
  learned: "A second learned table has one row for each position, which is added.",
  sinusoidal:
    "Its position is added as sines and cosines of different wavelengths (Vaswani et al., 2017, section 3.5).",
  rotary:
    "The position comes in later: each head rotates its queries and keys by it (RoPE; Su et al., 2021).",
  none: "",
};

export function StartPart({ facts, width }: EndProps) {
  const { start, vocabulary } = facts.numbers;
  const { token, position, positions, stream } = start;
  const strips = useMemo(
    () =>
      position
        ? [
            strip("start", "token", "token", token),
            strip("start", "+ position", "position", position),
            strip("start", "= stream", "stream", stream),
          ]
        : [strip("start", "stream", "stream", stream)],
    [start],
  );
  return (
    <Part
      kind="open"
      title="Embedding"
      words={`One row of the learned table of ${vocabulary.toLocaleString("en")} tokens starts the stream. ${positionWords[positions]}`}
    >
      <Strips
        {...{ part: "start", picture: "start", strips, width }}
        title={`The embedding of “${facts.tokens[facts.place]}”`}
      />
    </Part>
  );
}

function Logits({ facts, width, prediction }: EndProps & { prediction: PredictionNumbers }) {
  const { vocabulary, readings, start } = facts.numbers;
  const size = start.stream.length;
  const palette = useWeightPalette({ range: "absolute", curve: "sqrt" });
  const { rows, logits, shares } = useMemo(() => {
    const words = (readings?.at(-1)?.words ?? []).map(label);
    const each = (of: RowName, dataOf: (rank: number) => Float32Array) =>
      words.map((word, rank) => strip("end", word, of, dataOf(rank), rank));
    const matrix = prediction.rows;
    return {
      rows: matrix && each("row", (rank) => matrix.subarray(rank * size, (rank + 1) * size)),
      logits: each("logit", (rank) => prediction.logits.subarray(rank, rank + 1)),
      shares: each("share", (rank) =>
        Float32Array.of(Math.exp((prediction.logits[rank] as number) - prediction.logSum)),
      ),
    };
  }, [facts.numbers]);
  const isWide = width >= wide;
  const vectors = width - labelSpace - (isWide ? 2 * numberWidth + gaps : 0);
  const number = { width: numberWidth, height: rowHeight };
  const common = { part: "end", width, hasLegend: false, note: "" } as const;
  const what = prediction.isTied ? "embedding" : "row of the head";
  return (
    <Part
      kind="open"
      title="Logits and softmax"
      words={`Its product with the ${what} of each of the ${vocabulary.toLocaleString("en")} tokens${prediction.bias ? ", plus a bias," : ""} is that token's logit; softmax makes probabilities of them.`}
    >
      <div class="head-pictures line">
        {rows && (
          <Strips
            {...{ part: "end", picture: "rows", strips: rows, width }}
            title={`${prediction.isTied ? "Embeddings" : "Rows"} of the likeliest tokens`}
            symbol={prediction.isTied ? "Their embeddings" : "Their rows"}
            cell={cellIn(vectors, size, rowHeight)}
          />
        )}
        <Strips
          {...common}
          picture="logits"
          title="Logits of the likeliest tokens"
          symbol="Logit"
          {...{ strips: logits, cell: number, hasLabels: !isWide || !rows }}
        />
        <Strips
          {...common}
          picture="shares"
          title="Probabilities of the likeliest tokens"
          symbol="Probability"
          {...{ strips: shares, cell: number, palette, hasLabels: false }}
        />
      </div>
    </Part>
  );
}

export function EndPart({ facts, width }: EndProps) {
  const { norm, prediction } = facts.numbers.end;
  return (
    <>
      <Norm part="end" norm={norm} title="Final norm" kind="open" width={width} />
      {prediction && <Logits {...{ facts, width, prediction }} />}
    </>
  );
}
