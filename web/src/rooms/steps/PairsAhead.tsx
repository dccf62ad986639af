/** An empty cell for every pair that will get a number, below the tokens. Rows appear with the tokens. */
import { px, textWidth } from "#parts";
import type { State } from "./settings";
import { isVisible, type SentenceAttention } from "./state";

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
export function pairsBelow(
  width: number,
  tokens: readonly string[],
  height: number,
): PairsPlace | null {
  const left = Math.ceil(Math.max(0, ...tokens.map((text) => textWidth(text)))) + labelGap;
  const cellWidth = Math.min(2 * height, Math.floor((width - left - 1) / tokens.length));
  if (height < leastHeight || cellWidth < height / 2) return null;
  return { left, cell: { width: cellWidth, height }, inColumns: false };
}

interface PairsProps {
  place: PairsPlace;
  /** The tokens that have appeared. */
  tokens: readonly string[];
  state: State;
  attention: SentenceAttention;
}

export function PairsAhead({ place, tokens, state, attention }: PairsProps) {
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
