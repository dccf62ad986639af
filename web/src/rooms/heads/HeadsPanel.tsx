/** Every head of the model as a small picture with one measure below it, ordered by layer or by that measure. */
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { Legend } from "../../picture/Legend";
import { Matrix, usePicture } from "../../picture/Matrix";
import { useWeightPalette } from "../../picture/useWeightPalette";
import { viewOn } from "../../picture/view";
import { attendsWords } from "../../shared/attended";
import { format } from "../../shared/format";
import { hides } from "../../shared/restrictions";
import { useShell } from "../../shared/shell";
import { measures } from "./measures";
import { attentionTitles, type NamedHead } from "./selection";
import { useHeadsWorkspace } from "./workspace";

/** The side of a small picture, in pixels. */
const side = 68;

function HeadThumbnail({ view: shown, label }: { view: NamedHead; label: string }) {
  const { state, selection, set, drop } = useHeadsWorkspace();
  const { restrictions } = useShell();
  const { attention, head, name } = shown;
  const { measure } = state;
  const { small } = head;
  const { rows, cols } = small;
  const view = useMemo(() => viewOn(small.data, rows, cols), [small]);
  const palette = useWeightPalette(state);
  // A pooled cell is hidden if all of its cells are.
  const isHidden = useMemo(
    () => (attention.isCausal ? (row: number, col: number) => col > row : undefined),
    [attention.isCausal],
  );
  const cell = { width: side / cols, height: side / rows };
  const picture = usePicture({ view, rows, cols, palette, cell, isHidden });
  const measured = head.measures[measure];
  const value = measured === null ? "–" : format(measured);
  const isDropped = state.dropped.includes(head.key);
  return (
    <li class={isDropped ? "thumbnail dropped" : "thumbnail"} data-head={head.key}>
      <button
        type="button"
        aria-pressed={selection.shown.head.key === head.key}
        onClick={() => set({ head: head.key, cell: null })}
      >
        <Matrix picture={picture} summary={`${name}; ${measures[measure].name}:`} />
        <span class="thumbnail-words number">
          <span>{label}</span> <span data-measure>{value}</span>
        </span>
      </button>
      <label class="thumbnail-drop">
        <input
          type="checkbox"
          checked={isDropped}
          disabled={restrictions.lock}
          aria-label={`Drop ${name}`}
          onChange={({ currentTarget }) => drop([head.key], currentTarget.checked)}
        />{" "}
        drop
      </label>
    </li>
  );
}

function Group({
  title,
  note,
  children,
}: {
  title: string;
  note?: string;
  children: ComponentChildren;
}) {
  return (
    <div class="head-group">
      <h3>
        {title} {note && <span class="faint">{note}</span>}
      </h3>
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
      <Group
        key={name}
        title={isOnly ? "Self-attention" : attentionTitles[name]}
        note={isOnly ? "" : attendsWords[name]}
      >
        {[...layers].map(([layer, heads]) => (
          <div key={layer} class="layer">
            <h4>Layer {layer + 1}</h4>
            <ul>
              {heads.map((view, i) => (
                <HeadThumbnail key={view.head.key} view={view} label={`${i + 1}`} />
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
  const score = ({ head }: NamedHead) => head.measures[measure] ?? Number.NEGATIVE_INFINITY;
  const sorted = [...all].sort((a, b) => score(b) - score(a));
  const kinds = new Set(all.map(({ attention }) => attention.name));
  const largest = "the largest first";
  const note =
    kinds.size > 1 ? `${largest}; enc: encoder, dec: decoder, e-d: encoder-decoder` : largest;
  const letters = { encoder: "enc ", decoder: "dec ", cross: "e-d " };
  const labelOf = ({ attention, short }: NamedHead) =>
    kinds.size > 1 ? `${letters[attention.name]}${short}` : short;
  return (
    <Group title={`By ${measures[measure].name}`} note={note}>
      <ul>
        {sorted.map((view) => (
          <HeadThumbnail key={view.head.key} view={view} label={labelOf(view)} />
        ))}
      </ul>
    </Group>
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
        <p class="faint">
          Rows are queries and attend to the columns, the keys. Under each head: its number, and{" "}
          {measures[measure].name}. Dropping a head removes its contribution; the bias that the
          heads of a layer share stays.
        </p>
      )}
      {order === "layer" ? <ByLayer all={selection.all} /> : <ByMeasure all={selection.all} />}
      <Legend
        palette={palette}
        hasHidden={selection.all.some(({ attention }) => attention.isCausal)}
      />
    </section>
  );
}
