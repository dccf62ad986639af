/** All stages from left to right as small pictures. The current one is shown in detail below. */

import type { RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { formatShort, px, rangeOf, shorten } from "#parts";
import { Matrix } from "../../picture/Matrix";
import { alongStep } from "../../shared/arrowStep";
import { useWidth } from "../../shared/useWidth";
import { kindOf, type MatrixName } from "./matrices";
import { useMatrixPicture } from "./solution";
import { type StageName, stagesOf, titles } from "./stageNames";
import { targetsOf } from "./stages";
import { sizesOf } from "./state";
import { viewOf } from "./viewOf";
import { useStepsWorkspace } from "./workspace";

/** The maximum height of a small picture, in a wide pipeline and in a narrow one. */
const highest = 75;
const lowHeight = 40;
const tokenRowHeight = 15;
const thinnest = 2;
const pictureGap = 6;
const inset = 6;

/** In a narrower pipeline the pictures are low, and below their least width the tabs scroll. */
const narrow = 860;
const wideGap = 12;
const shortGap = 4;
const leastTab = 72;
/** The longest name of a stage after attention needs more. */
const leastOfLater = 84;
/** In a narrower tab the number is above the name. */
const besideName = 96;

function SmallTokens({ rowHeight: own }: { rowHeight: number }) {
  const { attention } = useStepsWorkspace();
  // If rows are thinner than a line, one line represents several rows.
  const step = Math.ceil(2 / own);
  const rowHeight = own * step;
  return (
    <span class="small-tokens">
      {attention.queries.tokens.map(
        (token, i) =>
          i % step === 0 && (
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
          ),
      )}
    </span>
  );
}

interface SmallMatrixProps {
  name: MatrixName;
  width: number;
  rowHeight: number;
}

function SmallMatrix({ name, width, rowHeight }: SmallMatrixProps) {
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
  const { attention, solution } = useStepsWorkspace();
  const range = useMemo(() => {
    const views = solution ? names.map((name) => viewOf(solution, name, attention.head)) : [];
    const ends = views.flatMap((view) => (view && rangeOf(view)) ?? []);
    return ends.length > 0 && ([Math.min(...ends), Math.max(...ends)] as const);
  }, [solution, names.join(), attention.head]);
  if (!solution || names.length === 0) return null;
  return range ? `${formatShort(range[0])} to ${formatShort(range[1])}` : "all hidden";
}

interface TabProps {
  stage: StageName;
  number: number;
  /** Whether the playing computation has not reached it yet. */
  isAhead: boolean;
  size: TabSize;
}

/** The sizes of a tab: the width of its picture (0 before the first layout), and its heights. */
interface TabSize {
  readonly width: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly hasEnds: boolean;
}

function Tab({ stage, number, isAhead, size }: TabProps) {
  const { state, showStage } = useStepsWorkspace();
  const { width, height, rowHeight, hasEnds } = size;
  // The stage of the tokens shows words instead of matrices.
  const names = stage === "tokens" ? [] : targetsOf(stage, state);
  const isCurrent = stage === state.stage;
  const each = (width - (names.length - 1) * pictureGap) / names.length;
  return (
    <button
      type="button"
      role="tab"
      id={`tab-${stage}`}
      data-stage={stage}
      aria-selected={isCurrent}
      aria-controls="stage"
      tabIndex={isCurrent ? 0 : -1}
      class={isAhead ? "ahead" : undefined}
      onClick={() => showStage(stage)}
    >
      <span class="stage-name small">
        <span class="number faint">{number}</span> {titles[stage]}
      </span>
      <span class="stage-picture" style={{ height: px(height), gap: px(pictureGap) }}>
        {width > 0 && stage === "tokens" && <SmallTokens rowHeight={rowHeight} />}
        {width > 0 &&
          names.map((name) => (
            <SmallMatrix key={name} name={name} width={each} rowHeight={rowHeight} />
          ))}
      </span>
      {hasEnds && (
        <span class="stage-ends number faint">
          <Ends names={names} />
        </span>
      )}
    </button>
  );
}

/** Scrolls the current stage into view without scrolling the page. */
function useCurrentInView(list: RefObject<HTMLElement | null>, ...changes: readonly unknown[]) {
  useLayoutEffect(() => {
    const current = list.current?.querySelector<HTMLElement>("[aria-selected=true]");
    if (!list.current || !current) return;
    const left = current.offsetLeft - list.current.offsetLeft;
    list.current.scrollLeft = left - (list.current.clientWidth - current.offsetWidth) / 2;
  }, changes);
}

/** @param look a class that tells whether the pictures belong to an earlier input */
export function Pipeline({ look }: { look: string }) {
  const { state, attention, showStage } = useStepsWorkspace();
  const [ref, width] = useWidth<HTMLDivElement>();
  const tabs = useRef<HTMLDivElement>(null);
  const stageNames = stagesOf(state);
  const columns = stageNames.length;
  const isLong = state.vectors === "learned";
  const least = isLong ? leastOfLater : leastTab;
  const isNarrow = width < Math.max(narrow, columns * (least + shortGap));
  const gap = isNarrow ? 0 : isLong ? shortGap : wideGap;
  const tab = Math.max(least, (width - (columns - 1) * gap) / columns);
  const rows = Math.max(1, attention.queries.tokens.length, attention.keys.tokens.length);
  const most = isNarrow ? lowHeight : highest;
  const rowHeight = Math.min(tokenRowHeight, most / rows);
  const size: TabSize = {
    width: width === 0 ? 0 : tab - 2 * inset,
    height: Math.min(most, rows * rowHeight),
    ...{ rowHeight, hasEnds: !isNarrow },
  };
  const now = stageNames.indexOf(state.stage);
  useCurrentInView(tabs, now, isNarrow);

  const onKeyDown = (event: KeyboardEvent) => {
    const step = alongStep(event);
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const next = stageNames[now + step];
    if (!next) return;
    showStage(next);
    tabs.current?.querySelector<HTMLElement>(`[data-stage=${next}]`)?.focus();
  };
  return (
    <div
      ref={ref}
      class={`pipeline ${look} ${isNarrow ? "narrow" : ""} ${tab < besideName ? "compact" : ""}`}
    >
      <div
        ref={tabs}
        role="tablist"
        aria-label="Stages of attention"
        style={{
          gridTemplateColumns: `repeat(${columns}, minmax(${px(least)}, 1fr))`,
          columnGap: px(gap),
        }}
        onKeyDown={onKeyDown}
      >
        {stageNames.map((stage, i) => (
          <Tab
            key={stage}
            stage={stage}
            number={i + 1}
            isAhead={state.time !== null && i > now}
            size={size}
          />
        ))}
      </div>
    </div>
  );
}
