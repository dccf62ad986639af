/** All heads of a model as small pictures, one row for each attention. The selected one is also drawn large. */
import { useId, useMemo, useRef } from "preact/hooks";
import type { Palette } from "#parts";
import { useInView } from "../../network/useInView";
import { Legend } from "../../picture/Legend";
import { Matrix, usePicture } from "../../picture/Matrix";
import { type Shares, weightsOf } from "../../shared/attended";
import { percent } from "../../shared/format";
import type { CourseProps } from "./course";
import type { CourseAttention } from "./messages";
import type { CourseHead } from "./state";
import { attentionNameOf, findersOf, findingShare } from "./words";

/** The length of the longer side of a small picture. */
const side = 56;

interface SmallHeadProps {
  shares: Shares;
  attention: CourseAttention;
  head: number;
  palette: Palette;
  summary: string;
}

/** A picture that is off the screen is not drawn again: it keeps its last numbers until it is visible. */
function SmallHead({ shares, attention, head, palette, summary }: SmallHeadProps) {
  const [ref, isInView] = useInView<HTMLSpanElement>();
  const last = useRef(shares);
  if (isInView) last.current = shares;
  const shown = last.current;
  const view = useMemo(() => weightsOf(attention, shown, head), [shown, attention, head]);
  const { rows, cols } = view;
  const size = side / Math.max(rows, cols);
  const picture = usePicture({
    ...{ view, rows, cols, palette },
    cell: { width: size, height: size },
  });
  return (
    <span ref={ref}>
      <Matrix picture={picture} summary={summary} />
    </span>
  );
}

/** How many heads find the answer positions, at the shown step. */
function Finders({ snapshot }: Pick<CourseProps, "snapshot">) {
  const { finders, heads } = findersOf(snapshot);
  return (
    <p class="learn-finders small faint number">
      Heads that find the answer positions:{" "}
      <b>
        {finders} of {heads}
      </b>
      , with at least {percent(findingShare)} of their attention
    </p>
  );
}

export function HeadGrid(props: CourseProps & { shown: CourseHead; palette: Palette }) {
  const { attentions, snapshot, layers, set, shown, palette } = props;
  const name = useId();
  return (
    <div class="head-grid">
      {attentions.map((attention, i) => (
        <fieldset key={attention.path} class="line">
          <legend class="small faint">{attentionNameOf(attention, layers)}</legend>
          {Array.from({ length: attention.heads }, (_, head) => {
            const mass = snapshot.masses[i]?.[head] ?? Number.NaN;
            return (
              <label key={head} class="picture-choice">
                <input
                  type="radio"
                  name={name}
                  checked={shown.attention === i && shown.head === head}
                  onChange={() => set({ head: { attention: i, head }, cell: null })}
                />
                <SmallHead
                  {...{ attention, head, palette }}
                  shares={snapshot.shares[i] as Shares}
                  summary={`Head ${head + 1}, ${attentionNameOf(attention, layers)}`}
                />
                <span class="number">
                  {head + 1}
                  {Number.isFinite(mass) && <span class="faint"> {percent(mass)}</span>}
                </span>
              </label>
            );
          })}
        </fieldset>
      ))}
      <Legend palette={palette} hasHidden={attentions.some(({ isCausal }) => isCausal)} />
      <Finders snapshot={snapshot} />
    </div>
  );
}
