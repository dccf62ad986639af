/** The picture of one stage: its matrices, the signs between them, and their legends. */

import { type AttentionMatrix, attentionMatrices } from "../parts/attention.js";
import {
  type FigureMatrix,
  type FigureWords,
  productGap,
  productLayout,
  rowLayout,
} from "../parts/figures.js";
import { html, spanOf } from "../parts/html.js";
import { decimalsOf, mostDecimals } from "../picture/decimals.js";
import { format, shorten, withPoint } from "../picture/format.js";
import { leftOf, px } from "../picture/layout.js";
import { type NamedActions, NamedMatrix, type Shown, type StepsLook } from "./named.js";
import { type Play, type StepsStage, totalOf } from "./scene.js";

const longestLabel = 12;
const legendHeight = 56;
/** The most height that is reserved for all stages, in pixels. A higher picture takes more only while it is shown. */
const mostKept = 480;

interface Row {
  readonly names: readonly AttentionMatrix[];
  readonly signs: readonly string[];
}

const rowsOf = (stage: Exclude<StepsStage, "scores">, scaling: string): Row =>
  ({
    inputs: { names: ["q", "k", "v"], signs: ["", ""] },
    scaled: { names: ["scores", "scaled"], signs: [scaling || "as it is"] },
    masked: { names: ["scaled", "masked"], signs: ["mask"] },
    weights: { names: ["masked", "weights"], signs: ["softmax"] },
    output: { names: ["weights", "v", "output"], signs: ["×", "="] },
  })[stage] as Row;

function wordsOf({ queries, keys, attended }: Play, family: string): FigureWords {
  const short = (words: readonly string[] | undefined, count: number) =>
    words?.map((word) => shorten(word, longestLabel)) ??
    Array.from({ length: count }, (_, i) => String(i + 1));
  const { q, k } = attended.views;
  return { queries: short(queries, q.rows), keys: short(keys, k.rows), family };
}

const matrixOf = (play: Play, name: AttentionMatrix): FigureMatrix<AttentionMatrix> => {
  const { rows, cols } = play.attended.views[name];
  const kind = attentionMatrices[name];
  return { name, rows, cols, rowsAre: kind.rows, colsAre: kind.cols };
};

const scoresLayout = (play: Play, width: number, words: FigureWords) =>
  productLayout(
    {
      left: matrixOf(play, "q"),
      columns: [{ top: matrixOf(play, "k"), flip: true, corner: matrixOf(play, "scores") }],
    },
    width,
    words,
  );

/** The height that the pictures of all stages need, so that nothing below them moves while they play. */
export function figureHeight(play: Play, width: number, family: string): number {
  const { height } = scoresLayout(play, width, wordsOf(play, family));
  return Math.min(mostKept, height + legendHeight);
}

export class StageFigure {
  readonly element: HTMLElement = html("div");
  readonly #matrices = new Map<AttentionMatrix, NamedMatrix>();
  readonly #total = html("b");
  readonly #totalOf = spanOf("");

  constructor(stage: StepsStage, play: Play, width: number, family: string) {
    const words = wordsOf(play, family);
    const figure =
      stage === "scores"
        ? this.#product(play, width, words)
        : this.#row(rowsOf(stage, play.scaling), stage === "weights", play, width, words);
    const legends = html(
      "div",
      "legends",
      ...[...this.#matrices.values()].map(({ legend }) => legend),
    );
    this.element.append(figure, legends);
  }

  #add(name: AttentionMatrix, stand: ConstructorParameters<typeof NamedMatrix>[1]): HTMLElement {
    const matrix = new NamedMatrix(name, stand);
    this.#matrices.set(name, matrix);
    return matrix.element;
  }

  #product(play: Play, width: number, words: FigureWords): HTMLElement {
    const { leftLabels, parts, cell, topCell } = scoresLayout(play, width, words);
    const [{ topLabels }] = parts as [(typeof parts)[0]];
    const grid = html("div", "figure-grid");
    grid.style.gap = `${px(productGap / 2)} ${px(productGap)}`;
    const bare = { family: words.family as string };
    const queries = this.#add("q", { cell, labels: leftLabels, flip: false });
    const scores = this.#add("scores", { cell, labels: bare, flip: false });
    const keys = this.#add("k", { cell: topCell, labels: topLabels, flip: true });
    grid.append(html("div"), keys, queries, scores);
    return grid;
  }

  #row({ names, signs }: Row, hasPowers: boolean, play: Play, width: number, words: FigureWords) {
    const matrices = names.map((name) => matrixOf(play, name));
    const { gap, signWidths, stacked, cell, lone, parts } = rowLayout(
      matrices,
      signs,
      width,
      words,
    );
    const fitting = names.map((name) => decimalsOf(play.attended.views[name], cell));
    const decimals = Math.min(mostDecimals, ...fitting.map((each) => each ?? mostDecimals));
    const row = html("div");
    row.className = stacked ? "figure-row stacked" : "figure-row";
    for (const [i, { name, labels, above }] of parts.entries()) {
      if (i > 0) {
        const sign = spanOf("sign", signs[i - 1]);
        sign.style.margin = `0 ${px(gap)}`;
        sign.style.width = px(signWidths[i - 1] ?? 0);
        row.append(sign);
      }
      const place = html("div");
      place.style.paddingTop = px(above);
      place.append(this.#add(name, { cell, labels, flip: false, decimals }));
      if (i === 0 && hasPowers) {
        const below = html("div", "figure-below");
        below.style.paddingLeft = px(leftOf(labels));
        const bare = { family: words.family as string };
        below.append(this.#add("exponentials", { cell: lone, labels: bare, flip: false }));
        place.append(below);
      }
      row.append(place);
    }
    return row;
  }

  show(play: Play, look: StepsLook, shown: Shown, actions: NamedActions): void {
    for (const [name, matrix] of this.#matrices) {
      const note = name === "exponentials" ? this.#sumOf(play, look, shown) : undefined;
      matrix.show(play, look, shown, actions, note);
    }
  }

  /** The words after the symbol of the exponentials: their complete or partial sum. */
  #sumOf(play: Play, { point }: StepsLook, { unfolding }: Shown): readonly (Node | string)[] {
    const isGrowing = unfolding?.moment.matrix === "exponentials";
    const query = play.queries?.[play.row];
    const word =
      query === undefined ? `query ${play.row + 1}` : `“${shorten(query, longestLabel)}”`;
    const sum = isGrowing ? (unfolding.sum ?? 0) : totalOf(play);
    this.#totalOf.textContent = `of ${word}, ${isGrowing ? "sum so far" : "sum"} `;
    this.#total.textContent = withPoint(format(sum), point);
    const taken = play.attended.taken === 0 ? [] : [", after subtracting the largest score"];
    return [this.#totalOf, this.#total, ...taken];
  }

  disconnect(): void {
    for (const matrix of this.#matrices.values()) matrix.disconnect();
  }
}
