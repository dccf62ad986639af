// The events of the elements, and their details.

import type { HeedError } from "../../core/error.js";
import type { AttentionMatrix } from "../parts/attention.js";
import type { StepDetail } from "../steps/scene.js";

/** The cell of an event: the event's name tells whether it is pointed at, locked or selected. */
export interface CellDetail {
  /** The layer, from 0, if the data has several heads. */
  readonly layer?: number;
  /** The head, from 0, if the data has several. */
  readonly head?: number;
  /** The matrix, in `<heed-steps>`. */
  readonly matrix?: AttentionMatrix;
  /** The index of the query, from 0. */
  readonly row: number;
  /** The index of the key, from 0. */
  readonly col: number;
  /** The number in the cell. */
  readonly value: number;
}

/**
 * The events of the elements. They bubble, and cross the borders of shadow trees.
 *
 * @example
 * ```ts
 * const values: (number | undefined)[] = [];
 * const hear = ({ detail }: HeedEvents["heed-hover"]) => values.push(detail?.value);
 * hear(new CustomEvent("heed-hover", { detail: { row: 0, col: 1, value: 0.75 } }));
 * console.log(values); // prints: [ 0.75 ]
 * ```
 */
export interface HeedEvents {
  /** The cell that is pointed at, by pointer or keyboard; null if there is none. */
  "heed-hover": CustomEvent<CellDetail | null>;
  /** The cell that a click or Enter locks; null when it is released. */
  "heed-lock": CustomEvent<CellDetail | null>;
  /** The selected row, or the selected layer and head. */
  "heed-select": CustomEvent<Partial<CellDetail>>;
  /** The step that `<heed-steps>` shows, each time that it changes. */
  "heed-step": CustomEvent<StepDetail>;
  /** The error that the element shows instead of a picture. */
  "heed-error": CustomEvent<HeedError>;
}

declare global {
  interface HTMLElementEventMap extends HeedEvents {}
}
