/** One head as a large picture, with the explanation of a weight and the row of a token as a table. */
import { useCallback, useMemo } from "preact/hooks";
import { type Area, type Cell, explanationText, filmOf, type Palette } from "#parts";
import { TokenMap } from "../../picture/TokenMap";
import { Announced } from "../../shared/Announced";
import { type Shares, weightsOf } from "../../shared/attended";
import { percent } from "../../shared/format";
import { Readout } from "../../shared/Readout";
import { type OneHead, RowDetails } from "../../shared/RowDetails";
import { queriesAndKeys, SaveVectors } from "../../shared/SaveVectors";
import { useCells } from "../../shared/useCells";
import { useWidth } from "../../shared/useWidth";
import type { CourseProps } from "./course";
import { type CourseAttention, weighed } from "./messages";
import type { CourseHead } from "./state";
import { explainCourseWeight } from "./weights";
import { attentionNameOf } from "./words";

const cellLimit = 32;

type LargeHeadProps = CourseProps & { shown: CourseHead; palette: Palette };

const lock = (cell: Cell) => ({ cell, row: cell.row });

/** The menu that saves the picture, also as a film of what was learned. */
function savedAs({ state, step, past, shown }: LargeHeadProps, { name, attention, head }: OneHead) {
  const frames = () =>
    past().map(([step, { shares }]) => ({
      name: `step ${step}`,
      view: weightsOf(attention, shares[shown.attention] as Shares, head),
    }));
  return {
    file: `learn-${state.task}-step-${step}-head-${head + 1}`,
    caption: `${name}, after step ${step}`,
    plays: { caption: `${name}, as it was learned`, film: () => filmOf(frames()) },
  };
}

function Mass({ snapshot, shown, state }: LargeHeadProps) {
  const mass = snapshot.masses[shown.attention]?.[shown.head] ?? Number.NaN;
  const best = state.head === null ? ": best\u00a0head" : "";
  return (
    <p class="learn-mass small faint number">
      {Number.isFinite(mass)
        ? `${percent(mass)} on answer positions of ${weighed} examples${best}`
        : "There are no answer positions here"}
    </p>
  );
}

export function LargeHead(props: LargeHeadProps) {
  const { course, attentions, snapshot, step, layers, state, set, shown, palette } = props;
  const { head } = shown;
  const [ref, width] = useWidth<HTMLDivElement>();
  const attention = attentions[shown.attention] as CourseAttention;
  const shares = snapshot.shares[shown.attention] as Shares;
  const { aligned, rows, columns } = attention;
  const size = { rows: rows.length, columns: columns.length };
  const { active, byKeyboard, point, press } = useCells(state, set, size, lock);
  const view = useMemo(() => weightsOf(attention, shares, head), [shares, attention, head]);
  const outlined = useMemo<Area[]>(() => {
    const asked = state.outlined ? aligned : null;
    return asked?.flatMap((places, row) => places.map((col) => ({ row, col }))) ?? [];
  }, [aligned, state.outlined]);
  const firstAsked = Math.max(0, aligned?.findIndex((places) => places.length > 0) ?? 0);
  const row = Math.min(state.row ?? firstAsked, rows.length - 1);
  const selectRow = useCallback((row: number) => set({ row }), [set]);
  const name = `Head ${head + 1}, ${attentionNameOf(attention, layers)}`;
  const detail = { name, attention, shares, head };
  const explanation = active && explainCourseWeight(attention, shares, head, active);
  return (
    <>
      <div ref={ref} class="learn-large">
        {width > 0 && (
          <TokenMap
            {...{ view, tokens: rows, columns, outlined, palette, active, row, width }}
            {...{ title: name, symbol: <b>{name}</b>, note: "", most: cellLimit }}
            {...savedAs(props, detail)}
            name={`head-${course.heads}`}
            actions={{ point, press, selectRow }}
          />
        )}
        <Mass {...props} />
      </div>
      <div class="learn-row">
        <Readout explanation={explanation} locked={state.cell !== null} />
        <RowDetails of={detail} row={row} />
        <SaveVectors
          name={name}
          file={`learn-step-${step}-head-${head + 1}`}
          vectors={queriesAndKeys(detail)}
        />
        <Announced>{byKeyboard && explanation ? explanationText(explanation) : ""}</Announced>
      </div>
    </>
  );
}
