/** Every head of the model as a small picture with one measure below it, ordered by layer or by that measure. */

import { format } from "heed/view/parts";
import type { ComponentChildren } from "preact";
import { HeadThumbnail } from "../../../picture/HeadThumbnail";
import { Legend } from "../../../picture/Legend";
import { useWeightPalette } from "../../../picture/useWeightPalette";
import { attendsWords } from "../../../shared/attended";
import { hides } from "../../../shared/restrictions";
import { useShell } from "../../../shared/shell";
import { Term } from "../../../shared/Term";
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

function Thumbnail({ view: shown, label }: { view: NamedHead; label: string }) {
  const { state, selection, set, drop } = useHeadsWorkspace();
  const { restrictions } = useShell();
  const { attention, head, name } = shown;
  const { key, small } = head;
  const measured = head.measures[state.measure];
  return (
    <HeadThumbnail
      {...{ id: key, small, side, name, label }}
      palette={useWeightPalette(state)}
      causalSize={attention.isCausal ? attention.rows.length : null}
      about={measures[state.measure].name}
      value={measured === null ? "–" : format(measured)}
      isSelected={selection.shown.head.key === key}
      isDropped={state.dropped.includes(key)}
      isLocked={restrictions.lock}
      onSelect={() => set({ head: key, cell: null })}
      onDrop={(isDropped) => drop([key], isDropped)}
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
          <div key={layer} class="layer">
            <h4>Layer {layer + 1}</h4>
            <ul>
              {heads.map((view, i) => (
                <Thumbnail key={view.head.key} view={view} label={`${i + 1}`} />
              ))}
            </ul>
          </div>
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
      <ul>
        {sortedHeads(all, measure).map((view) => (
          <Thumbnail key={view.head.key} view={view} label={sortedLabel(view, kinds)} />
        ))}
      </ul>
    </Group>
  );
}

/** The measure that the room opens with, with its term explained. */
function RightPlaces() {
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
  return (
    <section class="all-heads" aria-labelledby="all-heads-title">
      <h2 id="all-heads-title">All heads</h2>
      {!hides(restrictions, "text") && (
        <p class="faint measured">
          below: {measure === "places" ? <RightPlaces /> : measures[measure].name}; tick to drop
        </p>
      )}
      {order === "layer" ? <ByLayer all={selection.all} /> : <ByMeasure all={selection.all} />}
      <Legend
        palette={palette}
        hasHidden={selection.all.some(({ attention }) => attention.isCausal)}
      >
        <SaveHeads />
      </Legend>
    </section>
  );
}
