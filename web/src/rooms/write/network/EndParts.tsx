/** The two ends of the way: the token's embedding, and the probabilities of the next token. */
import { useMemo } from "preact/hooks";
import { weightPalette } from "../../../picture/colour";
import { format } from "../../../shared/format";
import { useShell } from "../../../shared/shell";
import { useWriteWorkspace } from "../workspace";
import { type LastFacts, type LayerFacts, rootMeanSquare } from "./explain";
import { wide } from "./HeadParts";
import { Part } from "./LayerParts";
import { cellIn, labelSpace, type Strip, Strips } from "./Strips";

const numberWidth = 80;
const rowHeight = 20;
const gaps = 2 * 16;

export function EmbeddingPart({ facts, width }: { facts: LayerFacts; width: number }) {
  const { opened } = useWriteWorkspace();
  const { numbers, tokens } = facts;
  const strips = useMemo<Strip[]>(
    () => [{ label: "stream", place: { of: "stream" }, data: numbers.input }],
    [numbers],
  );
  return (
    <Part
      kind="open"
      title="Embedding"
      words={`One row of the learned table of ${opened.vocabulary.length.toLocaleString("en")} tokens starts the stream. The position comes in later: each head rotates its queries and keys by it (RoPE; Su et al., 2021).`}
    >
      <Strips
        name="embedding"
        title={`The embedding of “${tokens.at(-1)}”`}
        {...{ strips, width }}
      />
    </Part>
  );
}

export function LastPart({ facts, width }: { facts: LastFacts; width: number }) {
  const { theme } = useShell();
  const { opened } = useWriteWorkspace();
  const { stream, last, tokens, eps } = facts;
  const size = stream.length;
  const palette = useMemo(() => weightPalette("absolute", "sqrt", theme), [theme]);
  const norm = useMemo<Strip[]>(
    () => [
      { label: "stream", place: { of: "stream" }, data: stream },
      { label: "gain", place: { of: "last gain" }, data: last.gain },
      { label: "normed", place: { of: "last norm" }, data: last.normed },
    ],
    [facts],
  );
  const { rows, logits, shares } = useMemo(() => {
    const each = (of: "row" | "logit" | "share", dataOf: (rank: number) => Float32Array) =>
      tokens.map((label, rank): Strip => ({ label, place: { of, rank }, data: dataOf(rank) }));
    return {
      rows: each("row", (rank) => last.rows.subarray(rank * size, (rank + 1) * size)),
      logits: each("logit", (rank) => last.logits.subarray(rank, rank + 1)),
      shares: each("share", (rank) =>
        Float32Array.of(Math.exp((last.logits[rank] as number) - last.logSum)),
      ),
    };
  }, [facts]);
  const isWide = width >= wide;
  const vectors = width - labelSpace - (isWide ? 2 * numberWidth + gaps : 0);
  const cell = cellIn(vectors, size, rowHeight);
  const number = { width: numberWidth, height: rowHeight };
  return (
    <>
      <Part
        kind="open"
        title="Final norm"
        words={`The stream after the last layer, divided by its root mean square ${format(rootMeanSquare(stream, eps))}, times a learned gain.`}
      >
        <Strips name="last-norm" title="Final norm" {...{ strips: norm, width }} />
      </Part>
      <Part
        kind="open"
        title="Logits and softmax"
        words={`Its product with the embedding of each of the ${opened.vocabulary.length.toLocaleString("en")} tokens is that token's logit; softmax makes probabilities of them. Temperature and the other settings come after this.`}
      >
        <div class="head-pictures">
          <Strips
            name="rows"
            title="Embeddings of the likeliest tokens"
            symbol="Their embeddings"
            {...{ strips: rows, cell, width }}
          />
          <Strips
            name="logits"
            title="Logits of the likeliest tokens"
            symbol="Logit"
            note=""
            {...{ strips: logits, cell: number, width, hasLabels: !isWide, hasLegend: false }}
          />
          <Strips
            name="shares"
            title="Probabilities of the likeliest tokens"
            symbol="Probability"
            note=""
            {...{
              strips: shares,
              cell: number,
              width,
              palette,
              hasLabels: false,
              hasLegend: false,
            }}
          />
        </div>
      </Part>
    </>
  );
}
