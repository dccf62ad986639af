/** The picture of a stage of attention. */
import { format, leftOf, narrowFigure, productGap, px, shorten, textWidth } from "#parts";
import { TokenRow } from "../../shared/TokenRow";
import { totalOf } from "./explain";
import { type FigureLabels, useLabels } from "./figureLabels";
import { type MatrixName, sizeOf } from "./matrices";
import { layoutOf, type Product, ProductFigure } from "./ProductFigure";
import { isStacked, RowFigure, type RowParts } from "./RowFigure";
import { addsPositions, divisorsOf, isVisible, type SentenceAttention, sizesOf } from "./state";
import { useStepsWorkspace } from "./workspace";

/** The minimum width of a cell. If cells would be narrower, Q, K and V become separate pictures, if that is enough. */
const narrowestCell = 22;
const legendHeight = 28;
/** The maximum height that is reserved: a higher picture does not reserve its space while lower ones are shown. */
const mostKept = 480;
/** Pictures that stand in a row have cells of one height, so a factor with more rows than this would make all too low. */
const mostRows = 128;
const longestLabel = 12;
/** The width of a chip without its label, and with the gap to the next chip. */
const chipSpace = 28;

const projections = {
  queries: { top: "wq", corner: "q" },
  keys: { top: "wk", corner: "k" },
  values: { top: "wv", corner: "v" },
} as const;

/** The pictures of Q, K and V: one, or several if they come from two sentences or one would be too narrow. */
function projectionsOf(
  { cross }: SentenceAttention,
  width: number,
  labels: FigureLabels,
): readonly Product[] {
  const { queries, keys, values } = projections;
  const of = (...columns: Product["columns"]): Product => ({ left: "input", columns });
  const ofOther = (...columns: Product["columns"]): Product => ({
    ...{ left: cross ? "keyInput" : "input", columns },
  });
  const wide = cross ? [of(queries), ofOther(keys, values)] : [of(queries, keys, values)];
  const single = [of(queries), ofOther(keys), ofOther(values)];
  const isNarrow = (product: Product) =>
    layoutOf(product, width, labels).cell.width < narrowestCell;
  const isSplit = width >= narrowFigure && wide.some(isNarrow) && !single.some(isNarrow);
  return isSplit ? single : wide;
}

const scoring: Product = { left: "q", columns: [{ top: "k", flip: true, corner: "scores" }] };

/** The height that the pictures of all stages need, so that nothing below them moves while they play. */
function useFigureHeight(width: number): number {
  const { attention } = useStepsWorkspace();
  const labels = useLabels();
  if (width === 0) return 0;
  const [first, ...others] = projectionsOf(attention, width, labels);
  const products = others.length === 0 && first ? [first, scoring] : [scoring];
  const heights = products.map((product) => layoutOf(product, width, labels).height);
  return Math.min(mostKept, Math.max(...heights) + legendHeight);
}

/** The step from scores to weights. Between them it shows, for the selected query, the exponentials and their sum. */
function SoftmaxFigure({ width }: { width: number }) {
  const { attention, unfolding, solution } = useStepsWorkspace();
  const { row = attention.row } = solution?.problem ?? {};
  const query = shorten(attention.queries.tokens[row] ?? "", longestLabel);
  const isGrowing = unfolding?.moment.matrix === "exponentials";
  const sum = isGrowing ? unfolding.sum : solution && totalOf(solution);
  const note = (
    <>
      of “{query}”, {isGrowing ? "sum so far" : "sum"} <b>{sum !== null && format(sum)}</b>
      {solution?.taken ? ", after subtracting the largest score" : ""}
    </>
  );
  const below = { name: "exponentials", note } as const;
  return <RowFigure names={["masked", "weights"]} signs={["softmax"]} {...{ width, below }} />;
}

const labelGap = 8;
const headHeight = 20;
/** Lower rows would not fit their labels, and there would be too many cells to see anything. */
const leastHeight = 14;

interface PairsPlace {
  /** The x of the first column. */
  readonly left: number;
  readonly cell: { readonly width: number; readonly height: number };
  /** Whether the tokens are above the columns. If not, each column shows the number of its token. */
  readonly inColumns: boolean;
}

/** The place of the cells if the tokens are too wide to be above the columns of the scores. */
function pairsBelow(width: number, tokens: readonly string[], height: number): PairsPlace | null {
  const left = Math.ceil(Math.max(0, ...tokens.map((text) => textWidth(text)))) + labelGap;
  const cellWidth = Math.min(2 * height, Math.floor((width - left - 1) / tokens.length));
  if (height < leastHeight || cellWidth < height / 2) return null;
  return { left, cell: { width: cellWidth, height }, inColumns: false };
}

/**
 * An empty cell for every pair that will get a number, below the tokens.
 *
 * @param tokens the tokens that have appeared
 */
function PairsAhead({ place, tokens }: { place: PairsPlace; tokens: readonly string[] }) {
  const { state, attention } = useStepsWorkspace();
  const { left, cell, inColumns } = place;
  const top = inColumns ? 0 : headHeight;
  const width = left + tokens.length * cell.width + 1;
  const height = top + tokens.length * cell.height + 1;
  return (
    <svg class="pairs-ahead" aria-hidden="true" style={{ width: px(width), height: px(height) }}>
      {tokens.map((token, row) => (
        <g key={row}>
          {!inColumns && (
            <text x={left + (row + 0.5) * cell.width} y={headHeight / 2} text-anchor="middle">
              {row + 1}
            </text>
          )}
          <text x={left - labelGap} y={top + (row + 0.5) * cell.height} text-anchor="end">
            {token}
          </text>
          {tokens.map(
            (_, col) =>
              isVisible(state, attention, row, col) && (
                <rect
                  key={col}
                  x={left + col * cell.width + 0.5}
                  y={top + row * cell.height + 0.5}
                  width={cell.width}
                  height={cell.height}
                />
              ),
          )}
        </g>
      ))}
    </svg>
  );
}

/** The place of the tokens' chips: above their later columns or, if these are too narrow, in a row. */
function chipsOf(width: number, labels: FigureLabels) {
  const { leftLabels, inner, cell } = layoutOf(scoring, width, labels);
  if (labels.queries.some((token) => textWidth(token) + chipSpace > cell.width))
    return { columns: {}, pairs: pairsBelow(width, labels.queries, cell.height) };
  const left = leftOf(leftLabels) + inner * cell.width + productGap;
  return {
    columns: { class: "in-columns", style: { paddingLeft: px(left), "--column": px(cell.width) } },
    pairs: { left, cell, inColumns: true },
  };
}

function TokensFigure({ width }: { width: number }) {
  const { attention, unfolding, set } = useStepsWorkspace();
  const { tokens } = attention.queries;
  const made = tokens.filter((_, i) => !unfolding || unfolding.isMade("input", i, 0));
  const labels = useLabels();
  const { columns, pairs } = chipsOf(width, labels);
  return (
    <div class="figure-tokens">
      {attention.cross && <p class="faint">Queries</p>}
      <div {...columns}>
        <TokenRow tokens={made} selected={attention.row} onSelect={(row) => set({ row })} />
      </div>
      {!attention.cross && pairs && (
        <PairsAhead place={pairs} tokens={labels.queries.slice(0, made.length)} />
      )}
      {attention.cross && (
        <>
          <p class="faint">Keys and values</p>
          <TokenRow tokens={attention.keys.tokens} />
        </>
      )}
    </div>
  );
}

function Figure({ width }: { width: number }) {
  const { state, attention } = useStepsWorkspace();
  const labels = useLabels();
  const row = (names: RowParts["names"], ...signs: string[]) => (
    <RowFigure names={names} signs={signs} width={width} />
  );
  const sum = (embedding: MatrixName, position: MatrixName, input: MatrixName) => {
    const { isPostNorm, norm } = attention.model ?? {};
    if (norm) return row([embedding, input], isPostNorm ? "as it is" : norm);
    return addsPositions(state) ? row([embedding, position, input], "+", "=") : row([input]);
  };
  /** A product as a row or, if it does not fit or would be too low, with its factors on the left and above it. */
  const times = (left: MatrixName, top: MatrixName, corner: MatrixName) => {
    const parts = { names: [left, top, corner], signs: ["×", "="] };
    const { rows } = sizeOf(top, sizesOf(attention));
    if (rows <= mostRows && !isStacked(parts, width, labels))
      return <RowFigure {...parts} width={width} />;
    return <ProductFigure product={{ left, columns: [{ top, corner }] }} width={width} />;
  };
  switch (state.stage) {
    case "tokens":
      return <TokensFigure width={width} />;
    case "embedding":
      return (
        <div class="figure-pair">
          {sum("embedding", "position", "input")}
          {attention.cross && sum("keyEmbedding", "keyPosition", "keyInput")}
        </div>
      );
    case "qkv":
      return (
        <div class="figure-pair">
          {projectionsOf(attention, width, labels).map((product) => (
            <ProductFigure key={product.columns[0]?.corner} product={product} width={width} />
          ))}
        </div>
      );
    case "scores":
      return <ProductFigure product={scoring} width={width} />;
    case "scaled": {
      const divisors = divisorsOf(state, attention).map((divisor) => `÷ ${divisor}`);
      return row(["scores", "scaled"], divisors.join(" ") || "as it is");
    }
    case "masked":
      return row(["scaled", "masked"], "mask");
    case "weights":
      return <SoftmaxFigure width={width} />;
    case "output":
      return times("weights", "v", "output");
    case "joined":
      if (state.vectors === "example") return row(["output", "joined"], "=");
      return times("joined", "wo", "result");
    default:
      return null;
  }
}

export function StageFigure({ width }: { width: number }) {
  return (
    <div style={{ minHeight: px(useFigureHeight(width)) }}>
      <Figure width={width} />
    </div>
  );
}
