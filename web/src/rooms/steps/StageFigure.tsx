/** The picture of the current stage. In every product the left matrix times the matrix above gives the corner. */
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { Labels } from "../../picture/layout";
import { cellsFor, leftOf, px, tokenAxes, topCellsFor } from "../../picture/layout";
import { format, shorten } from "../../shared/format";
import { TokenRow } from "../../shared/TokenRow";
import { totalOf } from "./explain";
import { kindOf, type MatrixName } from "./matrices";
import { NamedLegend, NamedMatrix, type PictureOptions, useSolution } from "./solution";
import { sizesOf } from "./state";
import type { Tokens } from "./tokens";
import { useStepsWorkspace } from "./workspace";

interface ProductColumn {
  readonly top: MatrixName;
  readonly flip?: boolean;
  readonly corner: MatrixName;
}

const gap = 16;
/** The width of the symbol between two matrices; must match stage.css. */
const signWidth = 80;
/** Matrices are stacked rather than made narrower than this. */
const narrowest = 110;
const longestLabel = 12;
const lowestRow = 14;
const noteWidth = 84;
/** With less width than this, Q, K and V are separate pictures. */
const narrowFigure = 480;

function useLabels() {
  const { attention } = useStepsWorkspace();
  const words = useMemo(() => {
    const short = ({ tokens }: Tokens) => tokens.map((token) => shorten(token, longestLabel));
    return { queries: short(attention.queries), keys: short(attention.keys) };
  }, [attention]);
  return { ...words, sizes: sizesOf(attention) };
}

/** One matrix on the left, one or more above, and their products in the corners. */
function ProductFigure({
  left,
  columns,
  width,
}: {
  left: MatrixName;
  columns: readonly ProductColumn[];
  width: number;
}) {
  const { queries, keys, sizes } = useLabels();
  const leftKind = kindOf(left);
  const tokens = leftKind.rows === "query" ? queries : keys;
  const isPairs = leftKind.cols === "key";
  const leftLabels: Labels = {
    rows: tokens,
    ...(isPairs && { cols: keys }),
    ...((isPairs || columns.some(({ flip }) => flip)) && { rowAxis: tokenAxes.rowAxis }),
    ...(isPairs && { colAxis: tokenAxes.colAxis }),
  };
  const parts = columns.map(({ top, flip = false, corner }) => {
    const topLabels: Labels = flip
      ? { cols: keys, colAxis: tokenAxes.colAxis }
      : kindOf(top).rows === "key"
        ? { rows: keys }
        : {};
    return { top, flip, corner, topLabels, size: sizes[kindOf(corner).cols] };
  });

  const inner = sizes[leftKind.cols];
  const rows = sizes[leftKind.rows];
  const gutters =
    leftOf(leftLabels) + parts.reduce((all, { topLabels }) => all + leftOf(topLabels) + gap, 0);
  const total = inner + parts.reduce((all, { size }) => all + size, 0);
  const cell = cellsFor(width - gutters, total, rows);
  const topCell = topCellsFor(cell, inner);
  const leftOptions: PictureOptions = { cell, labels: leftLabels };
  const place = (row: number, column: number) => ({ gridRow: row, gridColumn: column });
  /** A narrow matrix shows its letter without its size. */
  const noteOf = (cols: number) => (cols * cell.width < noteWidth ? { note: "" } : {});

  return (
    <div>
      <div class="figure-grid" style={{ columnGap: px(gap), rowGap: px(gap / 2) }}>
        <div style={place(2, 1)}>
          <NamedMatrix name={left} options={leftOptions} {...noteOf(inner)} />
        </div>
        {parts.map(({ top, flip, corner, topLabels, size }, i) => [
          <div key={top} style={place(1, i + 2)}>
            <NamedMatrix
              name={top}
              options={{ cell: topCell, labels: topLabels, flip }}
              {...noteOf(size)}
            />
          </div>,
          <div key={corner} style={place(2, i + 2)}>
            <NamedMatrix name={corner} options={{ cell }} {...noteOf(size)} />
          </div>,
        ])}
      </div>
      <div class="legends">
        <NamedLegend name={left} options={leftOptions} />
        {parts.map(({ corner }) => (
          <NamedLegend key={corner} name={corner} options={{ cell }} />
        ))}
        {parts.map(({ top, flip, topLabels }) => (
          <NamedLegend key={top} name={top} options={{ cell: topCell, labels: topLabels, flip }} />
        ))}
      </div>
    </div>
  );
}

/** Matrices of the same shape in a row, with symbols between them. */
function RowFigure({
  names,
  signs,
  width,
  below,
}: {
  names: readonly MatrixName[];
  signs: readonly ComponentChildren[];
  width: number;
  /** A matrix below the first one, with aligned columns. */
  below?: { readonly name: MatrixName; readonly note: ComponentChildren };
}) {
  const { queries, keys, sizes } = useLabels();
  const kind = kindOf(names[0] as MatrixName);
  const tokens = kind.rows === "query" ? queries : keys;
  const isPairs = kind.cols === "key";
  const labels: Labels = {
    rows: tokens,
    ...(isPairs && { cols: keys, ...tokenAxes }),
  };
  const between = (names.length - 1) * signWidth;
  const beside = (width - leftOf(labels) - between) / names.length;
  const stacked = beside < narrowest;
  const room = stacked ? width - leftOf(labels) : beside;
  const cell = cellsFor(room, sizes[kind.cols], sizes[kind.rows]);
  /** A single row needs a visible height, however many rows the other matrices have. */
  const lone = { ...cell, height: Math.max(cell.height, lowestRow) };
  // Rows continue from one matrix to the next, so only the first one has labels.
  const { rows: _, rowAxis: __, ...further } = labels;
  const labelsOf = (i: number) => (i === 0 || stacked ? labels : further);
  return (
    <div class={stacked ? "figure-row stacked" : "figure-row"}>
      {names.map((name, i) => [
        i > 0 && (
          <div key={`sign ${name}`} class="sign">
            {signs[i - 1]}
          </div>
        ),
        <div key={name}>
          <NamedMatrix name={name} options={{ cell, labels: labelsOf(i) }} />
          {i === 0 && below && (
            <div class="figure-below" style={{ paddingLeft: px(leftOf(labels)) }}>
              <NamedMatrix name={below.name} options={{ cell: lone }} note={below.note} />
            </div>
          )}
          <div class="legends" style={{ paddingLeft: px(leftOf(labelsOf(i))) }}>
            <NamedLegend name={name} options={{ cell, labels: labelsOf(i) }} />
            {i === 0 && below && <NamedLegend name={below.name} options={{ cell: lone }} />}
          </div>
        </div>,
      ])}
    </div>
  );
}

/** From scores to weights; between them, for the selected query, the exponentials and their sum. */
function SoftmaxFigure({ width }: { width: number }) {
  const { attention, unfolding } = useStepsWorkspace();
  const solution = useSolution();
  const query = shorten(
    attention.queries.tokens[solution?.problem.row ?? attention.row] ?? "",
    longestLabel,
  );
  const isGrowing = unfolding?.moment.matrix === "exponentials";
  const sum = isGrowing ? unfolding.sum : solution && totalOf(solution);
  const note = (
    <>
      of “{query}”, {isGrowing ? "sum so far" : "sum"} <b>{sum !== null && format(sum)}</b>
      {solution?.taken ? `, after subtracting the largest score` : ""}
    </>
  );
  return (
    <RowFigure
      names={["masked", "weights"]}
      signs={["softmax"]}
      width={width}
      below={{ name: "exponentials", note }}
    />
  );
}

function TokensFigure() {
  const { attention, state, set } = useStepsWorkspace();
  return (
    <div class="figure-tokens">
      {attention.cross && <p class="faint">Queries</p>}
      <TokenRow
        tokens={attention.queries.tokens}
        selected={attention.row}
        onSelect={(row) => set({ row })}
      />
      {attention.cross && (
        <>
          <p class="faint">Keys and values</p>
          <TokenRow tokens={attention.keys.tokens} />
        </>
      )}
      {state.example && (
        <p class="faint">
          The five words of the worked example, each with a vector of four numbers.
        </p>
      )}
    </div>
  );
}

export function StageFigure({ width }: { width: number }) {
  const { state, attention } = useStepsWorkspace();
  switch (state.stage) {
    case "tokens":
      return <TokensFigure />;
    case "embedding": {
      const own = state.position
        ? (["embedding", "position", "input"] as const)
        : (["input"] as const);
      const other = state.position
        ? (["keyEmbedding", "keyPosition", "keyInput"] as const)
        : (["keyInput"] as const);
      return (
        <div class="figure-pair">
          <RowFigure names={own} signs={["+", "="]} width={width} />
          {attention.cross && <RowFigure names={other} signs={["+", "="]} width={width} />}
        </div>
      );
    }
    case "qkv": {
      const [queries, keys, values] = [
        { top: "wq", corner: "q" },
        { top: "wk", corner: "k" },
        { top: "wv", corner: "v" },
      ] as const;
      const keySide = attention.cross ? "keyInput" : "input";
      const groups: readonly (readonly [MatrixName, readonly ProductColumn[]])[] =
        width < narrowFigure
          ? [
              ["input", [queries]],
              [keySide, [keys]],
              [keySide, [values]],
            ]
          : attention.cross
            ? [
                ["input", [queries]],
                [keySide, [keys, values]],
              ]
            : [["input", [queries, keys, values]]];
      return (
        <div class="figure-pair">
          {groups.map(([left, columns]) => (
            <ProductFigure key={columns[0]?.corner} left={left} columns={columns} width={width} />
          ))}
        </div>
      );
    }
    case "scores":
      return (
        <ProductFigure
          left="q"
          columns={[{ top: "k", flip: true, corner: "scores" }]}
          width={width}
        />
      );
    case "scaled": {
      const root = state.scaled ? `÷ √${attention.headSize}` : "as it is";
      const sign =
        state.temperature === 1 ? root : `${state.scaled ? root : ""} ÷ ${state.temperature}`;
      return <RowFigure names={["scores", "scaled"]} signs={[sign]} width={width} />;
    }
    case "masked":
      return <RowFigure names={["scaled", "masked"]} signs={["mask"]} width={width} />;
    case "weights":
      return <SoftmaxFigure width={width} />;
    case "output":
      return (
        <ProductFigure left="weights" columns={[{ top: "v", corner: "output" }]} width={width} />
      );
    case "joined":
      if (state.example)
        return <RowFigure names={["output", "joined"]} signs={["="]} width={width} />;
      return (
        <ProductFigure left="joined" columns={[{ top: "wo", corner: "result" }]} width={width} />
      );
  }
}
