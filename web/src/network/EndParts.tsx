/** The two ends of a trace: the embedding of the token, and the prediction that is read out at the end. */

import { useMemo } from "preact/hooks";
import { useWeightPalette } from "../picture/useWeightPalette";
import { label } from "../shared/pieces";
import type { Facts } from "./facts";
import { rowOf } from "./formulas";
import { Norm, Part } from "./LayerParts";
import type { PredictionNumbers, RowName, StartNumbers } from "./messages";
import { SideBySide, Strips, strip } from "./Strips";

/** The width of a column of logits or probabilities. */
const numberWidth = 80;

interface EndProps {
  facts: Facts;
  /** In pixels. */
  width: number;
}

/** How the model adds the position. */
const positionWords: Readonly<Record<StartNumbers["positions"], string>> = {
  learned: "The row of its position in a second learned table is added.",
  sinusoidal:
    "Its position is added as sines and cosines of different wavelengths (Vaswani et al., 2017, section 3.5).",
  rotary: "Each head later rotates its queries and keys by the position (RoPE; Su et al., 2021).",
  none: "",
};

export function StartPart({ facts, width }: EndProps) {
  const { start, vocabulary } = facts.numbers;
  const { token, position, positions, segment, norm, stream } = start;
  const strips = useMemo(() => {
    if (!position && !norm) return [strip("start", "stream", "stream", stream)];
    return [
      strip("start", "token", "token", token),
      ...(position ? [strip("start", "+ position", "position", position)] : []),
      ...(segment ? [strip("start", "+ segment", "segment", segment)] : []),
      ...(norm ? [] : [strip("start", "= stream", "stream", stream)]),
    ];
  }, [start]);
  const segmentWords = segment ? " So is the row of the first segment of a text." : "";
  return (
    <>
      <Part
        kind="open"
        title="Embedding"
        words={`One row of the learned table of ${vocabulary.toLocaleString("en")} tokens starts the stream. ${positionWords[positions]}${segmentWords}`}
      >
        <Strips
          {...{ part: "start", picture: "start", strips, width }}
          title={`The embedding of “${facts.tokens[facts.place]}”`}
        />
      </Part>
      {norm && <Norm part="start" norm={norm} width={width} />}
    </>
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
      rows: matrix && each("row", (rank) => rowOf(matrix, rank, size)),
      logits: each("logit", (rank) => rowOf(prediction.logits, rank, 1)),
      shares: each("share", (rank) =>
        Float32Array.of(Math.exp((prediction.logits[rank] as number) - prediction.logSum)),
      ),
    };
  }, [facts.numbers]);
  const [what, name] = prediction.isTied
    ? ["embedding", "Embeddings"]
    : ["row of the head", "Rows"];
  const isNumber = true;
  return (
    <Part
      kind="open"
      title="Logits and softmax"
      words={`Its product with the ${what} of each of the ${vocabulary.toLocaleString("en")} tokens${prediction.bias ? ", plus a bias," : ""} is that token's logit; softmax makes probabilities of them.`}
    >
      <SideBySide
        {...{ part: "end", width, numberWidth }}
        of=" of the likeliest tokens"
        pictures={[
          ...(rows ? [{ picture: "rows" as const, name, strips: rows }] : []),
          { picture: "logits", name: "Logit", strips: logits, isNumber },
          { picture: "shares", name: "Probability", strips: shares, isNumber, palette },
        ]}
      />
    </Part>
  );
}

export function EndPart({ facts, width }: EndProps) {
  const { end } = facts.numbers;
  if (!end) return null;
  const { norm, prediction } = end;
  return (
    <>
      <Norm part="end" norm={norm} title="Final norm" kind="open" width={width} />
      {prediction && <Logits {...{ facts, width, prediction }} />}
    </>
  );
}
