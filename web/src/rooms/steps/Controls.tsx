/** The settings of the room, except the sentence. */

import { shorten } from "#parts";
import { Choice, NumberField, Switch } from "../../shared/Fields";
import { LogSlider } from "../../shared/LogSlider";
import type { Setter } from "../../shared/room";
import { SettingsPanel } from "../../shared/SettingsPanel";
import { fieldsOf } from "../../shared/settings";
import { maskKinds, type State, settings } from "./settings";
import { maskWords } from "./stages";
import {
  type AttentionKind,
  attentionKindOf,
  isVisible,
  leaveExample,
  otherCells,
  type SentenceAttention,
  toStage,
  withKind,
  withModel,
  withSizes,
  withVectors,
} from "./state";
import type { TokenSplit } from "./tokens";
import type { Walk } from "./useWalk";

/** Choices whose words are their values. */
const asWords = <T extends string>(...values: readonly T[]) =>
  values.map((value) => [value, value] as const);

const kinds = [
  ...asWords<AttentionKind>("encoder", "decoder"),
  ["cross", "encoder-decoder"] as const,
];

interface ControlsProps {
  state: State;
  attention: SentenceAttention;
  set: Setter<State>;
  /** The models other than our language model. */
  others: Walk["others"];
}

function PaddingField({ state, attention, set }: ControlsProps) {
  const { tokens } = attention.keys;
  return (
    <div class="field">
      <label for="pad-from">Padding from</label>
      <select
        id="pad-from"
        value={String(Math.min(state.padFrom, tokens.length))}
        onChange={({ currentTarget }) => set({ padFrom: Number(currentTarget.value) })}
      >
        {tokens.map((token, i) => (
          <option key={i} value={String(i)}>
            {i + 1} {shorten(token, 16)}
          </option>
        ))}
        <option value={String(tokens.length)}>none</option>
      </select>
    </div>
  );
}

/** The pairs of a query and a key that are hidden, as "query,key". */
function hiddenPairs(
  { queries, keys }: SentenceAttention,
  isHidden: (row: number, col: number) => boolean,
): ReadonlySet<string> {
  const inRow = (row: number) =>
    keys.tokens.flatMap((_, col) => (isHidden(row, col) ? `${row},${col}` : []));
  return new Set(queries.tokens.flatMap((_, row) => inRow(row)));
}

/** A painted mask starts as a copy of the previous mask. The person changes it cell by cell. */
function startPainting(state: State, attention: SentenceAttention): Partial<State> {
  const hidden = hiddenPairs(attention, (row, col) => !isVisible(state, attention, row, col));
  return { mask: "painted", hidden, ...toStage("masked") };
}

function PaintButtons({ attention, set }: ControlsProps) {
  return (
    <p class="row-of-buttons">
      <button type="button" onClick={() => set({ hidden: new Set() })}>
        Show all
      </button>
      <button type="button" onClick={() => set({ hidden: hiddenPairs(attention, () => true) })}>
        Hide all
      </button>
    </p>
  );
}

function MaskGroup(props: ControlsProps) {
  const { state, attention, set } = props;
  return (
    <div class="group">
      <Choice
        label="Mask"
        value={state.mask}
        choices={asWords(...maskKinds)}
        onChange={(mask) =>
          set(mask === "painted" ? (now) => startPainting(now, attention) : { mask })
        }
      />
      {state.mask === "padding" && <PaddingField {...props} />}
      {state.mask === "window" && (
        <NumberField label="Tokens to either side" {...fieldsOf(settings, props)("window")} />
      )}
      {state.mask === "painted" && <PaintButtons {...props} />}
      {state.mask !== "none" && <p class="faint">{maskWords(state, attention)}</p>}
    </div>
  );
}

function SentenceGroup(props: ControlsProps) {
  const { state, set } = props;
  return (
    <div class="group">
      <Choice
        label="Attention"
        value={attentionKindOf(state)}
        choices={kinds}
        onChange={(kind) => set((now) => withKind(now, kind))}
      />
      {state.vectors !== "learned" && <OrderFields {...props} />}
    </div>
  );
}

/** How the sentence is cut, and the order of its words. */
function OrderFields({ state, attention, set }: ControlsProps) {
  return (
    <>
      <Choice
        label="Cut into"
        value={state.split}
        choices={asWords<TokenSplit>("words", "characters")}
        onChange={(split) => set((now) => ({ ...otherCells, ...leaveExample(now), split }))}
      />
      <span class="row-of-buttons">
        <button
          type="button"
          disabled={attention.queries.tokens.length < 2}
          onClick={() => set((now) => ({ ...otherCells, shuffle: ((now.shuffle ?? 0) % 999) + 1 }))}
        >
          Shuffle the words
        </button>
        {state.shuffle !== null && (
          <button type="button" onClick={() => set({ ...otherCells, shuffle: null })}>
            Back in order
          </button>
        )}
      </span>
    </>
  );
}

function ScoresGroup({ state, attention, set }: ControlsProps) {
  const field = fieldsOf(settings, { state, set });
  return (
    <div class="group">
      <Switch
        label={
          <>
            Divide scores by √d <span class="faint">= √{attention.headSize}</span>
          </>
        }
        {...field("scaled")}
      />
      {attention.model?.rotates !== false && (
        <Switch
          label={attention.model ? "Rotate by position (RoPE)" : "Add positions"}
          {...field("position")}
        />
      )}
      <LogSlider label="Softmax temperature" perDecade={10} {...field("temperature")} />
    </div>
  );
}

function SizeFields({ state, attention, set }: ControlsProps) {
  const resize = (size: Partial<State>) => set((now) => withSizes(now, size));
  // The worked example has its own sizes.
  const { heads, headSize } = attention;
  const field = fieldsOf(settings, { state: { ...state, heads, headSize }, set: resize });
  return (
    <>
      <NumberField label="Heads" {...field("heads")} />
      <NumberField label="Head size d" {...field("headSize")} />
      {state.vectors === "random" && (
        <>
          <div class="field">
            <label for="seed">Seed</label>
            <input
              id="seed"
              type="text"
              value={state.seed}
              maxLength={40}
              autocomplete="off"
              spellcheck={false}
              onInput={({ currentTarget }) => set({ seed: currentTarget.value })}
            />
          </div>
          <p class="faint">It gives each word its vector.</p>
        </>
      )}
    </>
  );
}

/** The model, and its layer. */
function LayerFields({ state, attention, set, others }: ControlsProps) {
  const { layers = 1, isCausal = true, windows = [] } = attention.model ?? {};
  const isKnown = state.model === null || attention.walked !== null;
  const isOwnMask = state.mask === (isCausal ? "causal" : "none");
  const hidden = windows[state.layer] ? "later and far" : "later";
  return (
    <>
      {others.length > 0 && (
        <Choice
          label="Model"
          value={state.model ?? ""}
          choices={[
            ["", "our language model"],
            ...others.map(({ link, name }) => [link, shorten(name, 24)] as const),
          ]}
          onChange={(model) => set(withModel(others.find(({ link }) => link === model)))}
        />
      )}
      <NumberField
        label="Layer"
        value={state.layer + 1}
        limits={{ min: 1, max: layers }}
        onChange={(layer) => set({ ...otherCells, layer: layer - 1 })}
      />
      <p class="faint">
        The settings change this layer only.
        {isKnown && !isOwnMask && ` The model itself hides ${isCausal ? hidden : "no"} tokens.`}
      </p>
    </>
  );
}

function VectorsGroup(props: ControlsProps) {
  const { state, set } = props;
  const own = state.vectors === "example" ? [state.vectors] : [];
  return (
    <div class="group">
      <Choice
        label="Vectors"
        value={state.vectors}
        choices={asWords<State["vectors"]>(...own, "learned", "random")}
        onChange={(vectors) => set(vectors === "example" ? {} : withVectors(vectors))}
      />
      {state.vectors === "learned" ? <LayerFields {...props} /> : <SizeFields {...props} />}
    </div>
  );
}

export function Controls(props: ControlsProps) {
  return (
    <SettingsPanel>
      <SentenceGroup {...props} />
      <MaskGroup {...props} />
      <ScoresGroup {...props} />
      <VectorsGroup {...props} />
    </SettingsPanel>
  );
}
