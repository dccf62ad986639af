/**
 * What <heed-steps> shows, as a pure function of time: the stages of attention, the moment of the stage, its words, the
 * numbers that are computed so far, and what is highlighted. It knows nothing of canvases.
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
import { indexIn, paceOf, placeAt, type Story, storyOf } from "../parts/story.js";
import type { Target, Timeline } from "../parts/timeline.js";
import { format } from "../picture/format.js";
import { at } from "../picture/view.js";
import type { Attended } from "./attend.js";

/** The stages of attention, in the order in which they compute; without a mask there is no stage "masked". */
export const stepsStages = ["inputs", "scores", "scaled", "masked", "weights", "output"] as const;

/** A stage of attention: what is given, then what is computed from it. */
export type StepsStage = (typeof stepsStages)[number];

/** The step that is shown: what the event `heed-step` tells. */
export interface StepDetail {
  /** Its place among all steps, from 0. */
  readonly step: number;
  /** How many steps there are. */
  readonly steps: number;
  /** What it belongs to. */
  readonly stage: StepsStage;
}

/** The matrix that a stage computes; Q, K and V are given. */
export const targets: Readonly<Record<Exclude<StepsStage, "inputs">, AttentionMatrix>> = {
  scores: "scores",
  scaled: "scaled",
  masked: "masked",
  weights: "weights",
  output: "output",
};

/** What a scene is made from. */
export interface Scenery {
  readonly attended: Attended;
  /** The query whose row is computed first. */
  readonly row: number;
  readonly isMasked: boolean;
  /** The words of queries and keys; undefined for a side that has none. */
  readonly queries: readonly string[] | undefined;
  readonly keys: readonly string[] | undefined;
  /** What scores are divided or multiplied by, such as ÷ √4; empty for 1. */
  readonly scaling: string;
}

/** Everything that does not change with time. */
export interface Play extends Scenery {
  readonly story: Story<StepsStage, AttentionMatrix>;
  pace(index: number): number;
}

export interface Scene {
  /** The index of the moment among all of them. */
  readonly index: number;
  readonly stage: StepsStage;
  /** Null where the stage is complete. */
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
  // What the mask hides follows without a sum: whole rows appear.
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
  // A sum of paces may be less than it should be, by the last bits of its numbers.
  return indexAt(1000 * Math.max(0, time) + 1e-6, 0, story.count, pace);
}

/** When a moment begins, in seconds; that after the last one is when all ends. */
export function timeOf({ pace }: Play, index: number): number {
  let milliseconds = 0;
  for (let i = 0; i < index; ++i) milliseconds += pace(i);
  return milliseconds / 1000;
}

/** How long all of it takes, in seconds. */
export function durationOf(play: Play): number {
  return timeOf(play, play.story.count);
}

/** The index of the moment at which a stage is complete. */
export function endOf({ story }: Play, stage: StepsStage): number {
  return indexIn(story, { stage, time: null });
}

const wordOf = (words: readonly string[] | undefined, index: number, side: string) =>
  words === undefined ? `${side} ${index + 1}` : `“${words[index]}”`;

/** The sum of the exponentials of the row that is shown. */
export function totalOf({ attended }: Pick<Scenery, "attended">): number {
  return attended.running.exponentials?.at(-1) ?? 0;
}

/** What a cell is, and the formula of its number; `unfolding` if it is being computed. */
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

/** A whole row that is computed at once. */
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

/** What is shown at the moment with an index. */
export function sceneAt(play: Play, index: number): Scene {
  const { story, attended, row, queries } = play;
  const { stage, time } = placeAt(story, index);
  const timeline = story.chapters.find((chapter) => chapter.stage === stage)?.timeline ?? null;
  const unfolding = unfoldingAt(timeline, time, ({ matrix, terms }) =>
    terms === null ? null : (attended.running[matrix]?.[terms - 1] ?? null),
  );
  if (!unfolding)
    return {
      index,
      stage,
      unfolding,
      highlights: [],
      name: stage === "inputs" ? "given" : "complete",
      explanation: null,
    };
  const { cell, moment } = unfolding;
  return {
    ...{ index, stage, unfolding },
    highlights: highlightsAt(unfolding, (cell) => attentionSources(cell, row)),
    name: momentName(unfolding, wordOf(queries, row, "query")),
    explanation: cell ? explainCell(play, cell, unfolding) : explainRow(play, stage, moment),
  };
}
