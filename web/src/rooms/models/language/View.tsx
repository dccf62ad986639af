/** The view of language models: connects the link, the model and the active cell to the parts of the page. */

import { useCallback, useEffect, useMemo } from "preact/hooks";
import { type Cell, explanationText } from "#parts";
import { Announced } from "../../../shared/Announced";
import { missingHeads } from "../../../shared/layerHeads";
import { Panel } from "../../../shared/Panel";
import type { RoomProps, Setter } from "../../../shared/room";
import { useFootnote } from "../../../shared/shell";
import { TryNext } from "../../../shared/TryNext";
import { useCells } from "../../../shared/useCells";
import { AttentionPanel } from "./AttentionPanel";
import { CachePanel } from "./CachePanel";
import { ComparePanel } from "./ComparePanel";
import { Controls } from "./Controls";
import { explainWeight } from "./explain";
import { HeadPanel } from "./HeadPanel";
import { HeadsPanel } from "./HeadsPanel";
import { missingLanguages } from "./Languages";
import { ModelPanel } from "./ModelPanel";
import type { Card } from "./messages";
import { NetworkPanel } from "./NetworkPanel";
import { NextPanel } from "./NextPanel";
import type { FoundFile } from "./source";
import { ourModel, type State } from "./state";
import { ourSuggestions, yourSuggestions } from "./suggestions";
import { TextPanel } from "./TextPanel";
import { useOpened } from "./useOpened";
import { useBranches, usePlaying } from "./usePlaying";
import { isHeadOf, useReading } from "./useReading";
import { type LanguageWorkspace, LanguageWorkspaceContext } from "./workspace";

type Reading = ReturnType<typeof useReading>;

/** The values that the panels share; null before a text is read. */
function useWorkspace(
  state: State,
  set: Setter<State>,
  card: Card | null,
  reading: Reading,
): LanguageWorkspace | null {
  const { answer, place, rows, head, shown } = reading;
  const text = reading.text ?? "";
  const at = { state, place, rows, text };
  const { clock, go, writeOn } = usePlaying(answer, at, set);
  const { branches, take, takeAgain } = useBranches(answer, at, set);
  // The head of the text before may still be shown.
  const size = {
    rows: Math.min(rows.count, shown?.attention.rows.length ?? 0),
    columns: shown ? Math.min(answer?.ids.length ?? 0, shown.attention.columns.length) : 0,
  };
  const { start } = rows;
  const lock = useCallback((cell: Cell) => ({ cell, place: start + cell.row }), [start]);
  const { active, byKeyboard, point, press } = useCells(state, set, size, lock);
  const explanation = useMemo(
    () => (active && shown ? explainWeight(active, shown) : null),
    [active, shown],
  );
  const pausing =
    <Of,>(act: (of: Of) => void) =>
    (of: Of) => {
      clock.setPlaying(false);
      act(of);
    };
  if (!card || !answer || head === null) return null;
  return {
    ...{ ...reading, state, card, text, answer, head, clock, active, branches },
    ...{ explanation, byKeyboard, set, go, writeOn, point },
    ...{ press: pausing(press), take: pausing(take), takeAgain: pausing(takeAgain) },
  };
}

/** The parts about a text that the model has read. */
const panels = {
  ...{ next: NextPanel, heads: HeadsPanel, head: HeadPanel, cache: CachePanel },
  ...{ network: NetworkPanel, compare: ComparePanel },
};

function Panels() {
  return Object.entries(panels).map(([name, Contents]) => (
    <Panel key={name} name={name}>
      <Contents />
    </Panel>
  ));
}

interface WorkProps {
  card: Card;
  state: State;
  reading: Reading;
  set: Setter<State>;
  workspace: LanguageWorkspace | null;
}

/** The text and the parts about it. */
function Work({ card, state, reading, set, workspace }: WorkProps) {
  const { text, answer, isStale, isUnread, failures } = reading;
  const words = [
    ...["work column", card.writes && "writes", !workspace && "waiting"],
    isUnread ? "refused-text" : isStale && "stale-text",
  ];
  return (
    <div class={words.filter(Boolean).join(" ")}>
      <Panel name="text">
        <TextPanel
          {...{ text: text ?? "", card, state, set, notices: failures }}
          answer={workspace && answer}
        />
      </Panel>
      {workspace && <Panels />}
    </div>
  );
}

interface ViewProps extends RoomProps<State> {
  /** Files that were dropped on the page; null once they are taken. */
  readonly found: readonly FoundFile[] | null;
  readonly isOver: boolean;
  onTaken(): void;
}

export function View({ state, set, notices: linkNotices, found, isOver, onTaken }: ViewProps) {
  const opened = useOpened(state, set);
  const { loading, why, attention, isKnown, isMissing, take } = opened;
  useEffect(() => {
    if (found === null || !isKnown) return;
    take(found);
    onTaken();
  }, [found, isKnown]);
  // Attention weights of a file are shown in place of the model.
  const card = attention.open ? null : opened.card;
  const isOurs = state.model === ourModel;
  // Our model opens by itself: its place is kept before the loading begins, so that nothing moves.
  const isOpening = !card && (loading !== null || (isOurs && !isMissing && !attention.open));
  const reading = useReading(state, card);
  const { answer, place } = reading;
  const workspace = useWorkspace(state, set, card, reading);
  const { explanation, byKeyboard } = workspace ?? {};
  const read = answer && `${answer.ids.length} tokens read in ${answer.milliseconds.toFixed(0)} ms`;
  const isEmpty = isOurs ? isMissing : isKnown && !card && !loading;
  useFootnote(read ?? (isEmpty ? "no model is open" : null));
  return (
    <LanguageWorkspaceContext.Provider value={workspace}>
      <ModelPanel
        {...{ opened, card, state, set, isOver }}
        notices={[
          ...(why ? [why] : []),
          ...linkNotices,
          ...(card
            ? [
                ...missingHeads({ head: state.head, ablate: state.ablated }, (key) =>
                  isHeadOf(card, key),
                ),
                ...missingLanguages(card, state),
              ]
            : []),
        ]}
      />
      {attention.open && (
        <Panel name="input">
          <AttentionPanel open={attention.open} close={attention.close} />
        </Panel>
      )}
      {(card || (isOpening && isOurs)) && (
        <Controls {...{ state, set, answer, place }} writes={card?.writes ?? true} />
      )}
      {card && <Work {...{ card, state, reading, set, workspace }} />}
      {isOpening && <div class="work column waiting" />}
      <TryNext suggestions={isOurs ? ourSuggestions : yourSuggestions} />
      <Announced>{byKeyboard && explanation ? explanationText(explanation) : ""}</Announced>
    </LanguageWorkspaceContext.Provider>
  );
}
