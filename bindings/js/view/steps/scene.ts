/**
 * The content of <heed-steps> as a pure function of time: the stages of attention, the moment of
 * the stage, its words, the numbers computed so far, and the highlights. This file does not depend
 * on canvases.
 */

import {
  type AreaOf,
  type AttentionMatrix,
  type AttentionNumbers,
  attentionMatrices,
  attentionSources,
  type CellOf,
  explainAttention,
} from "../parts/attention.js";
import type { Explanation } from "../parts/explanation.js";
import { explainer } from "../parts/formulas.js";
import { highlightsAt, momentName, type UnfoldingOf, unfoldingAt } from "../parts/moments.js";
import { indexAt } from "../parts/play.js";
import { paceOf, placeAt, type Story, storyOf } from "../parts/story.js";
import type { Target, Timeline } from "../parts/timeline.js";
import { format } from "../picture/format.js";
import { at } from "../picture/view.js";
import type { Attended } from "./attend.js";

/** The stages of attention, in the order of computation. Without a mask there is no stage "masked". */
const stepsStages = ["inputs", "scores", "scaled", "masked", "weights", "output"] as const;

/** A stage of attention: the inputs, or a matrix that is computed from them. */
export type StepsStage = (typeof stepsStages)[number];

/** The step that is shown, as the event `heed-step` reports it. */
export interface StepDetail {
  /** The index of the step among all steps, from 0. */
  readonly step: number;
  /** The number of steps. */
  readonly steps: number;
  /** The stage of the step. */
  readonly stage: StepsStage;
}

/** The matrix that each stage computes; Q, K and V are given. */
export const targets: Readonly<Record<Exclude<StepsStage, "inputs">, AttentionMatrix>> = {
  scores: "scores",
  scaled: "scaled",
  masked: "masked",
  weights: "weights",
  output: "output",
};

/** The data from which a scene is made. */
export interface Scenery {
  readonly attended: Attended;
  /** The query whose row is computed first. */
  readonly row: number;
  readonly isMasked: boolean;
  /** The words of queries and keys; undefined for a side that has none. */
  readonly queries: readonly string[] | undefined;
  readonly keys: readonly string[] | undefined;
  /** The division or multiplication of the scores, such as ÷ √4; empty for a factor of 1. */
  readonly scaling: string;
}

/** All data that does not change with time. */
export interface Play extends Scenery {
  readonly story: Story<StepsStage, AttentionMatrix>;
  pace(index: number): number;
}

export interface Scene {
  /** The index of the moment among all of them. */
  readonly index: number;
  readonly stage: StepsStage;
  /** The partly computed state; null if the stage is complete. */
  readonly unfolding: UnfoldingOf<AttentionMatrix> | null;
  readonly highlights: readonly AreaOf<AttentionMatrix>[];
  /** The moment in a few words, such as "the first number". */
  readonly name: string;
  /** The cell or the row of the moment, with its formula; null for a complete stage. */
  readonly explanation: Explanation | null;
}

export function playOf(scenery: Scenery): Play {
  const { attended, isMasked, row } = scenery;
  const target = (matrix: AttentionMatrix): Target<AttentionMatrix> => {
    const { rows, cols } = attended.views[matrix];
    return { matrix, rows, cols };
  };
  // The stage of the mask has no sum, so whole rows appear.
  const terms = { scores: attended.views.q.cols, scaled: 1, masked: 0, weights: 1 };
  const timelineOf = (stage: StepsStage): Timeline<AttentionMatrix> | null => {
    if (stage === "inputs") return null;
    return {
      lead: stage === "weights" ? target("exponentials") : null,
      targets: [target(targets[stage])],
      terms: { ...terms, output: attended.views.k.rows }[stage],
      first: stage === "masked" ? 0 : row,
    };
  };
  const stages = stepsStages.filter((stage) => isMasked || stage !== "masked");
  const story = storyOf(stages, timelineOf);
  return { ...scenery, story, pace: paceOf(story) };
}

/** The index of the moment that is shown after `time` seconds. */
export function indexAtTime({ story, pace }: Play, time: number): number {
  // The tolerance is for rounding errors in the sum of the paces.
  return indexAt(1000 * Math.max(0, time) + 1e-6, 0, story.count, pace);
}

/** The beginning of a moment, in seconds. The beginning of the moment after the last one is the end of playing. */
export function timeOf({ pace }: Play, index: number): number {
  let milliseconds = 0;
  for (let i = 0; i < index; ++i) milliseconds += pace(i);
  return milliseconds / 1000;
}

/** The total duration, in seconds. */
export function durationOf(play: Play): number {
  return timeOf(play, play.story.count);
}

const wordOf = (words: readonly string[] | undefined, index: number, side: string) =>
  words === undefined ? `${side} ${index + 1}` : `“${words[index]}”`;

/** The sum of the exponentials of the row that is shown in detail. */
export function totalOf({ attended }: Pick<Scenery, "attended">): number {
  return attended.running.exponentials?.at(-1) ?? 0;
}

/** The description of a cell, and the formula of its number; `unfolding` if it is being computed. */
export function explainCell(
  play: Scenery,
  cell: CellOf<AttentionMatrix>,
  unfolding: UnfoldingOf<AttentionMatrix> | null = null,
): Explanation | null {
  const { attended, row: shownRow, queries, keys, scaling } = play;
  const { matrix, row, col } = cell;
  const { title, symbol, rows, cols, ...kind } = attentionMatrices[matrix];
  const view = attended.views[matrix];
  if (row >= view.rows || col >= view.cols) return null;
  const tokenRow = rows === "selected" ? shownRow : row;
  const of = rows === "key" ? wordOf(keys, row, "key") : wordOf(queries, tokenRow, "query");
  const name =
    cols === "key"
      ? `${title}, ${of} attends to ${wordOf(keys, col, "key")}`
      : `${title}, ${of}, entry ${col + 1}`;
  const { sum = null, moment } = unfolding ?? {};
  const terms = moment?.terms ?? null;
  const soFar = terms === null || sum === null ? undefined : { terms, sum: format(sum) };
  const numbers: AttentionNumbers = {
    view: (name) => attended.views[name],
    shown: { row: shownRow, taken: attended.taken, total: totalOf(play) },
    scaling,
  };
  const role = "role" in kind ? kind.role : undefined;
  const value = at(view, row, col);
  const own = explainer({ name, symbol, role, row: tokenRow, col, value, soFar });
  return explainAttention(cell, numbers, own, soFar);
}

const rowWords = (stage: StepsStage, hidden: number, keys: number) => {
  if (stage !== "masked") return "The whole row is computed in the same way.";
  return hidden === 0
    ? "It may see every key."
    : `The mask hides ${hidden} of ${keys} keys from it.`;
};

/** The explanation of a whole row that is computed in one step. */
function explainRow(
  { attended, queries, keys }: Scenery,
  stage: StepsStage,
  { matrix, row }: { readonly matrix: AttentionMatrix; readonly row: number },
): Explanation {
  const { title, rows } = attentionMatrices[matrix];
  const word = rows === "key" ? wordOf(keys, row, "key") : wordOf(queries, row, "query");
  const { masked } = attended.views;
  let hidden = 0;
  for (let j = 0; stage === "masked" && j < masked.cols; ++j)
    if (at(masked, row, j) === Number.NEGATIVE_INFINITY) ++hidden;
  return { name: `${title}, ${word}`, formula: [{ text: rowWords(stage, hidden, masked.cols) }] };
}

/** The scene at the moment with the given index. */
export function sceneAt(play: Play, index: number): Scene {
  const { story, attended, row, queries } = play;
  const { stage, time } = placeAt(story, index);
  const timeline = story.chapters.find((chapter) => chapter.stage === stage)?.timeline ?? null;
  const unfolding = unfoldingAt(timeline, time, ({ matrix, terms }) =>
    terms === null ? null : (attended.running[matrix]?.[terms - 1] ?? null),
  );
  if (!unfolding) {
    const name = stage === "inputs" ? "given" : "complete";
    return { index, stage, unfolding, highlights: [], name, explanation: null };
  }
  const { cell, moment } = unfolding;
  return {
    ...{ index, stage, unfolding },
    highlights: highlightsAt(unfolding, (cell) => attentionSources(cell, row)),
    name: momentName(unfolding, wordOf(queries, row, "query")),
    explanation: cell ? explainCell(play, cell, unfolding) : explainRow(play, stage, moment),
  };
}
