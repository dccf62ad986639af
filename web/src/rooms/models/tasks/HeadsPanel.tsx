/** Every head of the model as a small picture with one measure below it, ordered by layer or by that measure. */

import type { ComponentChildren } from "preact";
import { useCallback, useMemo, useRef } from "preact/hooks";
import { format } from "#parts";
import { Legend } from "../../../picture/Legend";
import { useWeightPalette } from "../../../picture/useWeightPalette";
import { attendsWords } from "../../../shared/attended";
import { hides } from "../../../shared/restrictions";
import { useShell } from "../../../shared/shell";
import { Term } from "../../../shared/Term";
import { type GridHead, HeadRow, useHeadKeys } from "../parts/HeadRow";
import { measures } from "./measures";
import { SaveHeads } from "./SaveHeads";
import {
  attentionTitles,
  kindsOf,
  type NamedHead,
  sortedHeads,
  sortedLabel,
  sortedNote,
} from "./selection";
import { useHeadsWorkspace } from "./workspace";

/** The side of a small picture, in pixels. */
const side = 68;

function Row({
  title = null,
  heads,
  labelOf,
}: {
  title?: string | null;
  heads: readonly NamedHead[];
  labelOf(head: NamedHead): string;
}) {
  const { state, selection, set } = useHeadsWorkspace();
  const { measure, ablated } = state;
  const { key: selected } = selection.shown.head;
  const shown = useMemo(
    () =>
      heads.map((view): GridHead => {
        const { key, small, measures: own } = view.head;
        const value = own[measure];
        const isAblated = ablated.includes(key);
        return {
          ...{ key, small, isAblated, label: labelOf(view), about: measures[measure].name },
          name: isAblated ? `${view.name}, ablated` : view.name,
          causalSize: view.attention.isCausal ? view.attention.rows.length : null,
          value: value === null ? "–" : format(value),
        };
      }),
    [selection.answer, measure, ablated],
  );
  const select = useCallback((head: string) => set({ head, cell: null }), [set]);
  return (
    <HeadRow
      {...{ title, heads: shown, side, select }}
      palette={useWeightPalette(state)}
      selected={shown.some(({ key }) => key === selected) ? selected : null}
    />
  );
}

function Group({
  title,
  note,
  children,
}: {
  /** Null for the only group. */
  title: string | null;
  note?: string;
  children: ComponentChildren;
}) {
  return (
    <div class="head-group">
      {title && (
        <h3>
          {title} {note && <span class="faint">{note}</span>}
        </h3>
      )}
      <div class="layers">{children}</div>
    </div>
  );
}

/** Groups items by key, in the order of first occurrence. */
function grouped<T, K>(all: readonly T[], keyOf: (each: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const each of all) {
    const key = keyOf(each);
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return groups;
}

function ByLayer({ all }: { all: readonly NamedHead[] }) {
  const groups = grouped(all, ({ attention }) => attention.name);
  return [...groups].map(([name, views]) => {
    const layers = grouped(views, ({ attention }) => attention.layer);
    const isOnly = groups.size === 1;
    return (
      <Group key={name} title={isOnly ? null : attentionTitles[name]} note={attendsWords[name]}>
        {[...layers].map(([layer, heads]) => (
          <Row
            key={layer}
            title={`Layer ${layer + 1}`}
            heads={heads}
            labelOf={({ index }) => `${index + 1}`}
          />
        ))}
      </Group>
    );
  });
}

function ByMeasure({ all }: { all: readonly NamedHead[] }) {
  const { state } = useHeadsWorkspace();
  const { measure } = state;
  const kinds = kindsOf(all);
  const largest = "the largest first";
  const note = kinds.length > 1 ? `${largest}; ${sortedNote}` : largest;
  return (
    <Group title={`By ${measures[measure].name}`} note={note}>
      <Row heads={sortedHeads(all, measure)} labelOf={(view) => sortedLabel(view, kinds)} />
    </Group>
  );
}

/** The measure that is shown first, with its term explained. */
function AnswerPositions() {
  return (
    <>
      attention on the <Term name="answer positions" />
    </>
  );
}

export function HeadsPanel() {
  const { state, selection } = useHeadsWorkspace();
  const { restrictions } = useShell();
  const { measure, order } = state;
  const palette = useWeightPalette(state);
  const grid = useRef<HTMLDivElement>(null);
  const move = useHeadKeys(grid);
  return (
    <section class="all-heads" aria-labelledby="all-heads-title">
      <h2 id="all-heads-title">All heads</h2>
      {!hides(restrictions, "text") && (
        <p class="faint measured">
          below: {measure === "places" ? <AnswerPositions /> : measures[measure].name}
        </p>
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys move among the buttons in it */}
      <div ref={grid} onKeyDown={move}>
        {order === "layer" ? <ByLayer all={selection.all} /> : <ByMeasure all={selection.all} />}
      </div>
      <Legend
        palette={palette}
        hasHidden={selection.all.some(({ attention }) => attention.isCausal)}
      >
        <SaveHeads />
      </Legend>
    </section>
  );
}
