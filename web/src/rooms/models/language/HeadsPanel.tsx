/** Every head of every layer as a small picture with one measure below it, ordered by layer or by that measure. */

import { useMemo } from "preact/hooks";
import { format, formatShort, patterns } from "#parts";
import { Legend } from "../../../picture/Legend";
import { useWeightPalette } from "../../../picture/useWeightPalette";
import { attendsWords, attentionNames } from "../../../shared/attended";
import {
  type HeadKey,
  type HeadPlace,
  headKey,
  headName,
  headPlaceOf,
} from "../../../shared/layerHeads";
import { Lockable, Prose } from "../../../shared/Panel";
import { Term } from "../../../shared/Term";
import { useWidth } from "../../../shared/useWidth";
import { AllHeads, type HeadsRow, useHidingLater } from "../parts/AllHeads";
import {
  bestOf,
  isFound,
  type Kinds,
  kinds as kindWords,
  type MeasureName,
  measureNames,
  repeated,
} from "./kinds";
import type { Card } from "./messages";
import { type LanguageWorkspace, useLanguageWorkspace } from "./workspace";

/** The side of a small picture, and the space around it, in pixels. */
const sides = { least: 28, most: 60 };
const around = 10;
/** From this width on two layers are side by side, with a gap between them. */
const wide = { least: 800, gap: 32 };

/** The lines for the heads of a layer: as few as possible, all filled alike, with the largest possible pictures. */
function gridIn(width: number, heads: number): { side: number; lines: number; perLine: number } {
  const room = width < wide.least ? width : (width - wide.gap) / 2;
  const lines = Math.ceil((heads * (sides.least + around)) / room);
  const perLine = Math.ceil(heads / lines);
  const largest = Math.floor(room / perLine) - around;
  return { side: Math.max(sides.least, Math.min(sides.most, largest)), lines, perLine };
}

/** The heads in rows: one for each layer, or as many sorted ones. */
function useRows({ state, card, heads }: LanguageWorkspace): readonly HeadsRow[] {
  const { measure, order } = state;
  return useMemo(() => {
    const isSorted = order === "measure";
    const score = (index: number) => heads[index]?.measures[measure] ?? Number.NEGATIVE_INFINITY;
    const all = heads.map((_, index) => index);
    if (isSorted) {
      all.sort((a, b) => score(b) - score(a));
      const perRow = mostHeads(card);
      return Array.from({ length: Math.ceil(all.length / perRow) }, (_, row) => ({
        heads: all.slice(row * perRow, (row + 1) * perRow),
        title: "",
      }));
    }
    const places = heads.map(({ key }) => headPlaceOf(key));
    return card.attentions.flatMap(({ name, layers }) =>
      Array.from({ length: layers }, (_, layer) => ({
        heads: all.filter((i) => places[i]?.name === name && places[i]?.layer === layer),
        title: `Layer ${layer + 1}`,
        ...(name &&
          layer === 0 && { group: [attentionNames[name].title, attendsWords[name]] as const }),
      })),
    );
  }, [heads, card, order, measure]);
}

/** The largest number of heads in a layer. */
const mostHeads = ({ attentions }: Card) => Math.max(...attentions.map(({ heads }) => heads));

/** The label of a head in a sorted list: "2.3", after the letters of its attention if the model has several. */
function sortedLabel(key: HeadKey): string {
  const { name, ...place } = headPlaceOf(key) as HeadPlace;
  return `${name ? `${attentionNames[name].letters} ` : ""}${headKey(place)}`;
}

function useHeads({ state, card, answer, heads, ablating }: LanguageWorkspace) {
  const { measure, order } = state;
  const { ablated } = ablating;
  const palette = useWeightPalette(state);
  const isMasked = (key: HeadKey) =>
    card.predicts === "causal" || headPlaceOf(key)?.name === "decoder";
  const masked = heads.find(({ key }) => isMasked(key));
  const size = masked ? answer.tokens.length - answer.sources : 0;
  const hides = useHidingLater(size, masked?.small.rows);
  return useMemo(
    () =>
      heads.map(({ key, small, measures }) => {
        const value = measures[measure];
        const isAblated = ablated.includes(key);
        return {
          ...{ id: key, small, isAblated, palette, about: patterns[measure].name },
          hides: isMasked(key) ? hides : undefined,
          name: isAblated ? `${headName(key)}, ablated` : headName(key),
          label: order === "measure" ? sortedLabel(key) : `${(headPlaceOf(key)?.head ?? 0) + 1}`,
          value: value === null ? "–" : formatShort(value),
        };
      }),
    [heads, order, measure, ablated, palette, hides],
  );
}

/** Which heads are ablated. */
function Ablated() {
  const { ablating, set } = useLanguageWorkspace();
  const { ablated } = ablating;
  if (ablated.length === 0) return null;
  return (
    <Lockable>
      <p class="ablated-heads small prose">
        Ablated: {ablated.map(headName).join("; ")}.{" "}
        <button type="button" class="link" onClick={() => set({ ablated: [] })}>
          Restore {ablated.length === 1 ? "it" : "them"}
        </button>
      </p>
    </Lockable>
  );
}

function Grid() {
  const workspace = useLanguageWorkspace();
  const { card, head, set } = workspace;
  const [ref, width] = useWidth<HTMLDivElement>();
  const { side, lines, perLine } = gridIn(width, mostHeads(card));
  const [rows, heads] = [useRows(workspace), useHeads(workspace)];
  return (
    <div ref={ref} style={{ "--per-line": perLine }}>
      {width > 0 && (
        <AllHeads
          key={card.model}
          {...{ rows, heads, side, lines, selected: head }}
          select={(head) => set({ head, cell: null })}
        />
      )}
    </div>
  );
}

function FoundRow({ name, kinds }: { name: MeasureName; kinds: Kinds }) {
  const { head, set } = useLanguageWorkspace();
  const best = bestOf(kinds.measures, name);
  const uniform = kinds.uniform[name];
  return (
    <tr data-kind={name}>
      <th scope="row">{name === "induction" ? <Term name="induction" /> : kindWords[name]}</th>
      <td>
        <button
          type="button"
          class="link"
          aria-pressed={best.key === head}
          onClick={() => set({ head: best.key, cell: null })}
        >
          {headName(best.key)}
        </button>
      </td>
      <td class="number" data-measure={best[name]}>
        {format(best[name])}
      </td>
      <td class="faint number">
        {!isFound(best[name], uniform) && "too low to count; "}even: {format(uniform)}
      </td>
    </tr>
  );
}

/** The heads of some known kinds, found on random tokens that are repeated. */
function Found() {
  const { kinds } = useLanguageWorkspace();
  if (!kinds) return null;
  return (
    <>
      <table class="found">
        <tbody>
          {measureNames.map((name) => (
            <FoundRow key={name} {...{ name, kinds }} />
          ))}
        </tbody>
      </table>
      <Prose class="faint small prose">
        Found on {repeated} random tokens, read twice. Even: equal weights.
      </Prose>
    </>
  );
}

export function HeadsPanel() {
  const { state, card } = useLanguageWorkspace();
  const palette = useWeightPalette(state);
  const { measure, order } = state;
  return (
    <section class="all-heads" aria-labelledby="all-heads-title">
      <h2 id="all-heads-title">All heads</h2>
      <Prose class="faint small prose">
        <span class="wide-only">Rows: queries; columns: keys; </span>
        below: {patterns[measure].name}
        {order === "measure" && ", the largest first"}
      </Prose>
      <Ablated />
      <Grid />
      <Legend palette={palette} hasHidden={card.predicts !== "masked"} />
      <Found />
    </section>
  );
}
