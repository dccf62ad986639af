/** All stages from left to right as small pictures. The current one is shown in detail below. */

import { formatShort, px, rangeOf, shorten } from "heed/view/parts";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { Matrix } from "../../picture/Matrix";
import { useWidth } from "../../shared/useWidth";
import { kindOf, type MatrixName } from "./matrices";
import { useMatrixPicture, useSolution } from "./solution";
import { type StageName, stageNames } from "./stageNames";
import { allStages, picturesOf } from "./stages";
import { sizesOf, toStage } from "./state";
import { viewOf } from "./viewOf";
import { useStepsWorkspace } from "./workspace";

/** The maximum height of a small picture, in general and if the stages are in one row that scrolls. */
const height = 75;
const lowHeight = 40;
const tokenRowHeight = 15;
const thinnest = 2;
const gap = 12;
const inset = 6;

/** Below this width the stages are in one row that scrolls. */
const narrow = 860;
const narrowTab = 100;

function SmallTokens({ rowHeight: own }: { rowHeight: number }) {
  const { attention } = useStepsWorkspace();
  // If rows are thinner than a line, one line represents several rows.
  const step = Math.ceil(2 / own);
  const rowHeight = own * step;
  const isShown = (_: string, i: number) => i % step === 0;
  return (
    <span class="small-tokens">
      {attention.queries.tokens
        .filter(isShown)
        .map((token, n) => [token, n * step] as const)
        .map(([token, i]) => (
          <span
            key={i}
            class={i === attention.row ? "selected" : undefined}
            style={{
              height: px(rowHeight),
              lineHeight: px(rowHeight),
              fontSize: px(Math.max(1, Math.min(12, rowHeight - 1))),
            }}
          >
            {rowHeight >= 8 ? (
              <bdi>{shorten(token, 12)}</bdi>
            ) : (
              <span class="bar" style={{ height: px(Math.max(1, rowHeight - 1)) }} />
            )}
          </span>
        ))}
    </span>
  );
}

function SmallMatrix({
  name,
  width,
  rowHeight,
}: {
  name: MatrixName;
  width: number;
  rowHeight: number;
}) {
  const { attention } = useStepsWorkspace();
  const cols = sizesOf(attention)[kindOf(name).cols];
  const isThin = rowHeight < thinnest;
  const picture = useMatrixPicture(name, {
    cell: { width: Math.min(rowHeight, width / Math.max(1, cols)), height: rowHeight },
    // Outlines of very thin rows are invisible, and would redraw every picture.
    quiet: isThin,
    small: isThin,
  });
  return <Matrix picture={picture} summary={kindOf(name).title} />;
}

/** The range of a stage's numbers, a legend that fits below a small picture. */
function Ends({ names }: { names: readonly MatrixName[] }) {
  const { attention } = useStepsWorkspace();
  const solution = useSolution();
  const range = useMemo(() => {
    const views = solution ? names.map((name) => viewOf(solution, name, attention.head)) : [];
    const ends = views.flatMap((view) => (view && rangeOf(view)) ?? []);
    return ends.length > 0 && ([Math.min(...ends), Math.max(...ends)] as const);
  }, [solution, names, attention.head]);
  if (!solution || names.length === 0) return null;
  return range ? `${formatShort(range[0])} to ${formatShort(range[1])}` : "all hidden";
}

/** @param look a class that tells whether the pictures belong to an earlier input */
export function Pipeline({ look }: { look: string }) {
  const { state, attention, set } = useStepsWorkspace();
  const [ref, width] = useWidth<HTMLDivElement>();
  const tabs = useRef<HTMLDivElement>(null);
  const isNarrow = width < narrow;
  const columns = stageNames.length;
  const tab = isNarrow ? narrowTab : (width - (columns - 1) * gap) / columns;
  const columnWidth = Math.max(40, tab - 2 * inset);
  const rows = Math.max(1, attention.queries.tokens.length, attention.keys.tokens.length);
  const most = isNarrow ? lowHeight : height;
  const rowHeight = Math.min(tokenRowHeight, most / rows);
  const now = stageNames.indexOf(state.stage);

  // Scrolls the current stage into view without scrolling the page.
  useLayoutEffect(() => {
    const list = tabs.current;
    const current = list?.querySelector<HTMLElement>("[aria-selected=true]");
    if (!list || !current) return;
    const [left, right] = [current.offsetLeft - list.offsetLeft, list.clientWidth];
    list.scrollLeft = left - (right - current.offsetWidth) / 2;
  }, [now, isNarrow]);

  const select = (stage: StageName) => {
    set(toStage(stage));
    tabs.current?.querySelector<HTMLElement>(`[data-stage=${stage}]`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const next = stageNames[stageNames.indexOf(state.stage) + step];
    if (next) select(next);
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div ref={ref} class={`pipeline ${look}`}>
      <div
        ref={tabs}
        role="tablist"
        aria-label="Stages of attention"
        style={{
          gridTemplateColumns: `repeat(${columns}, ${isNarrow ? px(narrowTab) : "minmax(0, 1fr)"})`,
          columnGap: px(isNarrow ? 0 : gap),
          ...(isNarrow && { overflowX: "auto" }),
        }}
        onKeyDown={onKeyDown}
      >
        {stageNames.map((stage, i) => {
          const names = picturesOf(stage, state.example);
          const current = stage === state.stage;
          return (
            <button
              key={stage}
              type="button"
              role="tab"
              id={`tab-${stage}`}
              data-stage={stage}
              aria-selected={current}
              aria-controls="stage"
              tabIndex={current ? 0 : -1}
              class={state.time !== null && i > now ? "ahead" : undefined}
              onClick={() => set(toStage(stage))}
            >
              <span class="stage-name">
                <span class="number faint">{i + 1}</span> {allStages[stage].title}
              </span>
              <span class="stage-picture" style={{ height: px(Math.min(most, rows * rowHeight)) }}>
                {width > 0 &&
                  (stage === "tokens" ? (
                    <SmallTokens rowHeight={rowHeight} />
                  ) : (
                    names.map((name) => (
                      <SmallMatrix
                        key={name}
                        name={name}
                        width={(columnWidth - (names.length - 1) * 6) / names.length}
                        rowHeight={rowHeight}
                      />
                    ))
                  ))}
              </span>
              {!isNarrow && (
                <span class="stage-ends number faint">
                  <Ends names={names} />
                </span>
              )}
            </button>
          );
        })}
      </div>
    </div>
  );
}
