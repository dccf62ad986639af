/** The room "Your model": connects the link, the model and the active cell to the parts of the page. */

import { type Cell, explanationText } from "heed/view/parts";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Announced } from "../../../shared/Announced";
import type { HeadKey } from "../../../shared/layerHeads";
import { Panel } from "../../../shared/Panel";
import type { RoomProps } from "../../../shared/room";
import { useFootnote } from "../../../shared/shell";
import { TryNext } from "../../../shared/TryNext";
import { useCells } from "../../../shared/useCells";
import { AttentionPanel } from "./AttentionPanel";
import { ComparePanel } from "./ComparePanel";
import { Controls } from "./Controls";
import { explainWeight } from "./explain";
import { HeadPanel } from "./HeadPanel";
import { HeadsPanel } from "./HeadsPanel";
import { ModelPanel } from "./ModelPanel";
import type { Card } from "./messages";
import { NetworkPanel } from "./NetworkPanel";
import { NextPanel } from "./NextPanel";
import { linkOf, ownSource, savesData } from "./source";
import { ownModel, type State, withModel } from "./state";
import { suggestions } from "./suggestions";
import { TextPanel } from "./TextPanel";
import { useAttention } from "./useAttention";
import { useModel } from "./useModel";
import { useReading } from "./useReading";
import { type YoursWorkspace, YoursWorkspaceContext } from "./workspace";

const lock = (cell: Cell) => ({ cell, place: cell.row });

/** Whether the room opens the page's own model automatically, as an example. It never replaces another model. */
const showsOwn = ({ model }: State) => (model === null || model === ownModel) && !savesData();

/** Whether two states select the same of a model. */
const isAlike = (a: State, b: State) =>
  (Object.keys(withModel(null)) as (keyof State)[]).every(
    (key) => key === "model" || a[key] === b[key],
  );

export function View({ state, set, notices: linkNotices }: RoomProps<State>) {
  const hasOpened = useRef(false);
  const first = useRef(state);
  const onOpen = useCallback(
    ({ address }: Card) => {
      const model = address === null ? null : linkOf(address);
      // The selection of a link is for the model that it names. Without a name, it is for the first model that the
      // person opens, unless the person has changed the selection in the page's own model.
      const isFirst = !hasOpened.current;
      hasOpened.current = true;
      set((now) => {
        const isLinked = model !== null && now.model === model;
        const keeps = isFirst && (isLinked || (now.model === null && isAlike(now, first.current)));
        return keeps ? { model } : withModel(model);
      });
    },
    [set],
  );
  const { card, isKnown, loading, why, setWhy, actions } = useModel(onOpen);
  /** Whether the room is about to open the page's own model automatically. */
  const [isStarting, setStarting] = useState(() => showsOwn(state));
  useEffect(() => {
    if (!isKnown || !isStarting) return;
    setStarting(false);
    if (!card && !loading && showsOwn(state)) actions.load(ownSource(), state.dtype, true);
  }, [isKnown]);
  const isComing =
    (isStarting && !loading && why === null && showsOwn(state)) || loading?.byItself === true;
  const attention = useAttention(setWhy);
  const reading = useReading(state, card);
  const { text, answer, place, heads, dropped, head, shown } = reading;
  const { next, other, whyNotOther, isBusy, isStale, isUnread } = reading;
  const read = answer && `${answer.ids.length} tokens read in ${answer.milliseconds.toFixed(0)} ms`;
  useFootnote(read ?? (isKnown && !card && !isComing ? "no model is open" : null));

  // The head of the text before may still be shown.
  const count = Math.min(answer?.ids.length ?? 0, shown?.attention.rows.length ?? 0);
  const size = { rows: count, columns: count };
  const { active, byKeyboard, point, press } = useCells(state, set, size, lock);
  const explanation = useMemo(
    () => (active && shown ? explainWeight(active, shown) : null),
    [active, shown],
  );

  const drop = (key: HeadKey, isDropped: boolean) =>
    set(({ dropped }) => {
      const others = dropped.filter((other) => other !== key);
      return { dropped: isDropped ? [...others, key] : others };
    });
  const take = (id: number, place: number) => {
    if (!answer) return;
    const kept = [...answer.ids.slice(answer.given, place + 1), id];
    set({ kept, length: kept.length, place: null, cell: null });
  };
  const workspace: YoursWorkspace | null =
    card && answer && head
      ? {
          ...{ state, card, answer, heads, dropped, next, place, head, shown, other, whyNotOther },
          ...{ active, isBusy, set, point, press, drop, take },
        }
      : null;
  return (
    <YoursWorkspaceContext.Provider value={workspace}>
      <ModelPanel
        {...{ state, card, loading, isComing, setWhy, actions }}
        takeAttention={attention.actions.take}
        reading={attention.reading}
        setDtype={(dtype) => set({ dtype })}
        notices={[...(why ? [why] : []), ...linkNotices]}
      />
      {attention.open && (
        <Panel name="input">
          <AttentionPanel open={attention.open} close={attention.actions.close} />
        </Panel>
      )}
      {card && <Controls {...{ state, set, card }} />}
      {!card && isComing && <div class="work waiting" />}
      {card && (
        <div
          class={[
            "work",
            card.predicts,
            !workspace && "waiting",
            isUnread ? "refused-text" : isStale && "stale-text",
          ]
            .filter(Boolean)
            .join(" ")}
        >
          <Panel name="text">
            <TextPanel
              {...{ text: text ?? "", card, set, isRead: workspace !== null }}
              notices={reading.failures}
            />
          </Panel>
          {workspace && (
            <>
              <Panel name="heads">
                <HeadsPanel />
              </Panel>
              <Panel name="next">
                <NextPanel />
              </Panel>
              <Panel name="head">
                <HeadPanel explanation={explanation} />
              </Panel>
              <Panel name="network">
                <NetworkPanel />
              </Panel>
              <Panel name="compare">
                <ComparePanel text={text ?? ""} />
              </Panel>
            </>
          )}
        </div>
      )}
      <TryNext suggestions={suggestions} />
      <Announced>{byKeyboard && explanation ? explanationText(explanation) : ""}</Announced>
    </YoursWorkspaceContext.Provider>
  );
}
