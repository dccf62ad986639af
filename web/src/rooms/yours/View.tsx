/** The room "Your model": connects the link, the model and the active cell to the parts of the page. */
import { useCallback, useMemo, useRef, useState } from "preact/hooks";
import type { Cell } from "../../picture/layout";
import { Announced } from "../../shared/Announced";
import { explanationText } from "../../shared/explanation";
import { Panel } from "../../shared/Panel";
import type { RoomProps } from "../../shared/room";
import { useFootnote } from "../../shared/shell";
import { TryNext } from "../../shared/TryNext";
import { useEscape } from "../../shared/useEscape";
import { ComparePanel } from "./ComparePanel";
import { Controls } from "./Controls";
import { explainWeight } from "./explain";
import { HeadPanel } from "./HeadPanel";
import { HeadsPanel } from "./HeadsPanel";
import { ModelPanel } from "./ModelPanel";
import type { Card } from "./messages";
import { NextPanel } from "./NextPanel";
import { linkOf } from "./source";
import { type State, withModel } from "./state";
import { suggestions } from "./suggestions";
import { TextPanel } from "./TextPanel";
import { useModel } from "./useModel";
import { useReading } from "./useReading";
import { type YoursWorkspace, YoursWorkspaceContext } from "./workspace";

const isSame = (a: Cell | null, b: Cell | null) => a?.row === b?.row && a?.col === b?.col;

export function View({ state, set, notices: linkNotices }: RoomProps<State>) {
  const hasOpened = useRef(false);
  const onOpen = useCallback(
    ({ address }: Card, before: Card | null) => {
      const model = address === null ? null : linkOf(address);
      // What a link selects is for the model that it names, or for the first one that is opened.
      const isFirst = !before && !hasOpened.current;
      hasOpened.current = true;
      set((now) =>
        isFirst && (now.model === null || now.model === model) ? { model } : withModel(model),
      );
    },
    [set],
  );
  const { card, isKnown, loading, why, setWhy, actions } = useModel(onOpen);
  const reading = useReading(state, card);
  const { text, answer, place, head, shown, next, other, whyNotOther, isBusy } = reading;
  const [hover, setHover] = useState<Cell | null>(null);
  const [byKeyboard, setByKeyboard] = useState(false);
  const read = answer && `${answer.ids.length} tokens read in ${answer.milliseconds.toFixed(0)} ms`;
  useFootnote(read ?? (isKnown && !card ? "no model is open" : null));

  // The head of the text before may still be shown.
  const count = Math.min(answer?.ids.length ?? 0, shown?.attention.rows.length ?? 0);
  const locked = state.cell && Math.max(state.cell.row, state.cell.col) < count ? state.cell : null;
  const active = locked ?? (hover && Math.max(hover.row, hover.col) < count ? hover : null);
  const explanation = useMemo(
    () => (active && shown ? explainWeight(active, shown) : null),
    [active, shown],
  );
  const point = useCallback<YoursWorkspace["point"]>(
    (cell, by) => {
      setByKeyboard(by === "keyboard");
      setHover((now) => (isSame(now, cell) ? now : cell));
      // Moving the cursor by keyboard moves the locked cell.
      if (by === "keyboard" && cell) set((now) => (now.cell ? { cell } : {}));
    },
    [set],
  );
  const press = useCallback<YoursWorkspace["press"]>(
    (cell) => set((now) => (isSame(now.cell, cell) ? { cell: null } : { cell, place: cell.row })),
    [set],
  );
  useEscape(() => {
    set({ cell: null });
    setHover(null);
  });

  const take = (id: number, place: number) => {
    if (!answer) return;
    const kept = [...answer.ids.slice(answer.given, place + 1), id];
    set({ kept, length: kept.length, place: null, cell: null });
  };
  const workspace: YoursWorkspace | null =
    card && answer && head
      ? {
          ...{ state, card, answer, next, place, head, shown, other, whyNotOther },
          ...{ active, isBusy, set, point, press, take },
        }
      : null;
  return (
    <YoursWorkspaceContext.Provider value={workspace}>
      <ModelPanel
        {...{ state, card, loading, setWhy, actions }}
        setDtype={(dtype) => set({ dtype })}
        notices={[...(why ? [why] : []), ...linkNotices]}
      />
      {card && <Controls {...{ state, set, card }} />}
      {card && (
        <div class={`work ${card.predicts}${workspace ? "" : " waiting"}`}>
          <Panel name="text">
            <TextPanel
              {...{ text: text ?? "", card, set, isRead: workspace !== null }}
              notices={reading.failures}
            />
          </Panel>
          {workspace && (
            <>
              <Panel name="next">
                <NextPanel />
              </Panel>
              <Panel name="heads">
                <HeadsPanel />
              </Panel>
              <Panel name="head">
                <HeadPanel explanation={explanation} />
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
